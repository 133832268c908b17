# SPDX-License-Identifier: Apache-2.0
"""`--log-bus`: what GPUs and RDMA adapters tell, filters, and filters that match nothing."""

import os
import pathlib
import re
import subprocess
import unittest

import command
from command import FABRICVP


def run(*arguments):
    return subprocess.run(
        [FABRICVP, "run", *arguments], capture_output=True, text=True, timeout=command.TIMEOUT_S, errors="replace"
    )


VECTORADD = ("gpu", "--app", "vectoradd", "--size", "4096", "--quiet", "--console", "none")
LINE = re.compile(r"\[(\d+\.\d{12}) s\] bus: (node0\.gpu0\.processor): (.*)")


class BusLog(unittest.TestCase):
    def lines(self, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.splitlines()

    def test_a_kernel_from_doorbell_to_signal(self):
        found = [LINE.fullmatch(line) for line in self.lines(*VECTORADD, "--log-bus", "gpu")]
        self.assertTrue(all(found))
        times = [float(f[1]) for f in found]
        self.assertEqual(times, sorted(times))
        says = [f[3] for f in found]
        self.assertRegex(says[0], r"queue 0 opened: ring of 64 packets at 0x[0-9a-f]+, priority 1")
        # Packet 0 empties TLBs; the kernel is packet 1.
        address = r"0x[0-9a-f]+"
        for pattern in (
            r"queue 0 doorbell: packet 0",
            rf"queue 0 packet 0 fetched: invalidate TLBs, signal {address}, .*",
            r"queue 0 packet 0 retired",
            r"queue 0 doorbell: packet 1",
            rf"queue 0 packet 1 fetched: kernel vectoradd, grid 4096x1x1 by 256x1x1, arguments at {address}, "
            rf"signal {address}, after all before it, acquires system, releases system",
            r"queue 0 packet 1 launched: kernel vectoradd, 0 bytes of LDS, 512 of scratch",
            r"queue 0 packet 1 \(vectoradd\) retired",
            r"queue 0 packet 1 kernel vectoradd ended after \d+\.\d{3} us",
            rf"queue 0 packet 1 \(vectoradd\) signal {address}: 1 to 0",
        ):
            while says and not re.fullmatch(pattern, says[0]):
                says.pop(0)
            self.assertTrue(says, pattern)
        self.assertEqual(len(says), 1)

    def test_the_log_changes_nothing(self):
        quiet, told = (run(*VECTORADD[:-2], *more) for more in ((), ("--log-bus", "gpu")))
        self.assertEqual(quiet.stdout, told.stdout)

    def test_what_a_launch_spends_beside_the_kernel(self):
        """What the host does between kernels, and how long a kernel's end takes to reach it, in us. Packets from 64 on
        reuse slots of the ring."""
        lines = self.lines(
            *("gpu", "--app", "bitonicsort", "--size", "4096", "--quiet", "--console", "none", "--log-bus", "gpu")
        )
        times = {"doorbell": [], "ended": [], "signal": []}
        for line in lines:
            step = re.search(r"packet \d+ \(bitonic\) (signal)|kernel bitonic (ended)|(doorbell): packet", line)
            if step:
                times[step[1] or step[2] or step[3]].append(1e6 * float(LINE.fullmatch(line)[1]))
        begun = times["doorbell"][-len(times["ended"]) :]
        self.assertGreater(len(begun), 70)
        host = [b - a for a, b in zip(times["signal"], begun[1:])]
        end = [b - a for a, b in zip(times["ended"], times["signal"])]
        self.assertLess(max(host[70:]), 0.55)  # no read of an old signal, one store to the new one
        self.assertLess(sum(end) / len(end), 1.1)  # two round trips would be 1.38

    def test_filters(self):
        every = self.lines(*VECTORADD, "--log-bus", "gpu")
        self.assertEqual(self.lines(*VECTORADD, "--log-bus", "gpu:queue=0"), every)
        self.assertEqual(self.lines(*VECTORADD, "--log-bus", "gpu:queue=0x0,block=node0.gpu*"), every)
        self.assertEqual(self.lines(*VECTORADD, "--log-bus", "gpu:error"), [])
        self.assertEqual(
            self.lines(*VECTORADD, "--log-bus", "gpu:queue=5"),
            ["fabricvp: --log-bus gpu: no line was told about queue 0x5; nearest are 0x0"],
        )

    def test_errors(self):
        """Kernels that fail, packets that are refused, queues that stop: the reason, and what the signal says."""
        bad = pathlib.Path(os.environ["FABRICVP_FIRMWARE"], "gpu_bad_input.elf")
        lines = self.lines("gpu", "--firmware", bad, "--quiet", "--console", "none", "--log-bus", "gpu:error")
        text = "\n".join(line.split("processor: ")[1] for line in lines)
        for pattern in (
            r"queue 0 packet 1 kernel illegal failed \(illegal instruction\) after",
            r"queue 0 packet 1 \(illegal\) signal 0x[0-9a-f]+: set to -8 \(illegal instruction\)",
            r"queue 0 packet 1 \(load\) not launched: no compute unit has the resources for a work-group",
            r"queue 0 packet 1 \(load\) failed: malformed packet; the queue has stopped",
            r"queue 0 packet 1 \(kernel\) failed: not a kernel; the queue has stopped",
            r"queue 0 doorbell: packet \d+: beyond the ring",
        ):
            self.assertRegex(text, pattern)
        self.assertNotRegex(text, "fetched|retired|ended")

    def test_queue_pairs(self):
        arguments = ("rdma_pair", "--append", "nodes=2 check=0 bandwidth=0 rate=0 latency=1 max=2", "--quiet")
        arguments += ("--console", "none")
        every = self.lines(*arguments, "--log-bus", "hca")
        numbers = [n for line in every for n in re.findall(r": qp (0x[0-9a-f]+) ", line)]
        number = max(set(numbers), key=numbers.count)
        chosen = self.lines(*arguments, "--log-bus", f"hca:qp={number}")
        self.assertEqual(chosen, [line for line in every if f": qp {number} " in line])
        self.assertLess(len(chosen), len(every))
        one_node = self.lines(*arguments, "--log-bus", "hca:block=node1.*")
        self.assertEqual(one_node, [line for line in every if "bus: node1." in line])
        (nothing,) = self.lines(*arguments, "--log-bus", "hca:qp=0x7777")
        self.assertRegex(nothing, r"fabricvp: --log-bus hca: no line was told about qp 0x7777; nearest are 0x.*")

    def test_bad_filters(self):
        for wanted, says in {
            "gpux": "did you mean 'gpu'?",
            "gpu:qp=1": "no filter 'qp=1'; there are queue=, error, block=",
            "gpu:queu=1": "did you mean 'queue='?",
            "hca:queue=1": "there are qp=, error, block=",
            "gpu:queue=64": "must be a number from 0 to 63",
            "gpu:queue=0x": "not a number from 0 to 63",
            "gpu:block=node0.gpu1*": "did you mean 'node0.gpu0'?",
            "gpu:block=node0.host*": "--log-bus gpu: no block of it has a name such as 'node0.host*'",
            "hca": "--log-bus hca: this machine has no RDMA adapter",
        }.items():
            done = run(*VECTORADD, "--log-bus", wanted)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main()
