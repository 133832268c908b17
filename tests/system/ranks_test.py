# SPDX-License-Identifier: Apache-2.0
"""Machines that are cut at their network and run as several processes."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time
import unittest
from unittest import mock

import command
from command import CommandTest

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
LIBRARY = pathlib.Path(command.FABRICVP).parent.parent / "python/fabricvp/libfabricvp_mpi.so"
SKIP_REASON = (
    "the platform was built without MPI"
    if not LIBRARY.exists()
    else "mpirun is not installed"
    if not shutil.which("mpirun")
    else ""
)


class Rejected(CommandTest):
    """What cannot be is said in one line, before anything runs."""

    def assert_rejected(self, words, *arguments):
        result = self.run_command("run", *arguments, "--out", "out")
        self.assertEqual(result.returncode, 2, result.errors)
        self.assertEqual(len(result.errors.strip().splitlines()), 1, result.errors)
        self.assertIn(words, result.errors)
        self.assertFalse((self.folder / "out/stats.json").exists())

    @unittest.skipIf(LIBRARY.exists(), "the platform was built with MPI")
    def test_without_mpi(self):
        self.assert_rejected(
            "which this build of the platform lacks", CONFIGS / "rdma_pair.yaml", "--ranks", "2", "--transport", "mpi"
        )

    def test_numbers(self):
        self.assert_rejected("must be a number from 1 to 1024", CONFIGS / "rdma_pair.yaml", "--ranks", "0")
        self.assert_rejected("must be a number from 1 to 1024", CONFIGS / "rdma_pair.yaml", "--ranks", "two")

    def test_numbers_of_a_plan(self):
        pair = CONFIGS / "rdma_pair.yaml"
        for bad in ("0", "two", ""):
            self.assert_rejected("--plan-ranks", pair, "--plan-ranks", bad)
        self.assert_rejected("3 ranks: this machine has 2 parts", pair, "--plan-ranks", "3")
        self.assert_rejected("no network between its nodes", CONFIGS / "two_nodes.yaml", "--plan-ranks", "2")
        self.assert_rejected("--plan-ranks does not go with ranks", pair, "--ranks", "2", "--plan-ranks", "2")
        self.assert_rejected(
            "marks can only reach their own node",
            *(pair, "--plan-ranks", "2", "--set", "node1.host.marker.scope=network"),
        )

    def test_transports(self):
        pair = CONFIGS / "rdma_pair.yaml"
        self.assert_rejected(
            "--transport 'pigeon': must be shared_memory or mpi", pair, "--ranks", "2", "--transport", "pigeon"
        )
        self.assert_rejected("--transport: the value is empty", pair, "--ranks", "2", "--transport", "")
        self.assert_rejected("--transport needs --ranks", pair, "--transport", "shared_memory")

    @unittest.skipIf(SKIP_REASON, SKIP_REASON)
    def test_shared_memory_with_ranks_of_mpirun(self):
        result = subprocess.run(
            [
                *("mpirun", "-n", "2", "--oversubscribe", "--allow-run-as-root", command.FABRICVP, "run"),
                *(CONFIGS / "rdma_pair.yaml", "--transport", "shared_memory"),
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=command.TIMEOUT_S,
        )
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("mpirun has started the ranks, which exchange messages by MPI", result.stderr)

    def test_machines_that_cannot_be_cut(self):
        self.assert_rejected("3 ranks: this machine has 2 parts", CONFIGS / "rdma_pair.yaml", "--ranks", "3")
        self.assert_rejected("2 ranks: this machine has 1 part", CONFIGS / "hello.yaml", "--ranks", "2")
        self.assert_rejected("no network between its nodes", CONFIGS / "two_nodes.yaml", "--ranks", "2")
        self.assert_rejected(
            "marks can only reach their own node, not network",
            CONFIGS / "rdma_pair.yaml",
            "--ranks",
            "2",
            "--set",
            "node0.host.marker.scope=network",
        )

    def test_options_that_need_one_process(self):
        for option in (
            ["--gdb", "0"],
            ["--console", "stdio"],
            ["--console", "node1=tcp:0"],
            ["--spans"],
            ["--capture", "x.pcap"],
            ["--capture-limit", "1MiB"],
            ["--record-limit", "1MiB"],
            ["--trace", "--trace-region", "writes"],
        ):
            self.assert_rejected("does not go with ranks", CONFIGS / "rdma_pair.yaml", "--ranks", "2", *option)

    @unittest.skipIf(SKIP_REASON, SKIP_REASON)
    def test_containers_without_sys(self):
        with mock.patch.dict(os.environ, HWLOC_FSROOT=str(self.folder)):
            self.assert_rejected(
                "3 ranks: this machine has 2 parts", CONFIGS / "rdma_pair.yaml", "--ranks", "3", "--transport", "mpi"
            )

    def test_what_one_rank_finds_wrong(self):
        self.assert_rejected(
            "no such file", CONFIGS / "rdma_pair.yaml", "--ranks", "2", "--set", "node1.images.firmware=nowhere.elf"
        )
        self.assert_rejected(
            "no fault can happen to 'node1.nothing'",
            self.write(
                "bad.yaml", f"base: {CONFIGS}/rdma_pair.yaml\nfaults:\n  - {{target: node1.nothing, kind: down}}\n"
            ),
            "--ranks",
            "2",
        )


class SameResults(CommandTest):
    """Statistics, consoles and regions are the same whatever the number of ranks and however they exchange messages."""

    def statistics(self, folder):
        lines = (self.folder / folder / "stats.json").read_text().splitlines()
        return "\n".join(line for line in lines if '"sim.' not in line)

    def compare(self, ranks, *arguments, status=0):
        runs = {"ranks1": [1], **{f"ranks{n}": [n] for n in ranks}}
        if not SKIP_REASON:
            runs[f"mpi{ranks[0]}"] = [ranks[0], "--transport", "mpi"]
        for name, how in runs.items():
            shutil.rmtree(self.folder / name, ignore_errors=True)
            result = self.run_command("run", *arguments, "--ranks", *how, "--out", name, "--quiet")
            self.assertEqual(result.returncode, status, result.errors)
        first = self.folder / "ranks1"
        self.assertGreater(len(self.statistics("ranks1")), 1000)
        for name in list(runs)[1:]:
            other = self.folder / name
            self.assertEqual(sorted(p.name for p in first.iterdir()), sorted(p.name for p in other.iterdir()))
            self.assertEqual(self.statistics("ranks1"), self.statistics(name), name)
            for file in first.iterdir():
                if file.name.startswith("console.") or file.name in ("regions.json", "config.resolved.yaml"):
                    self.assertEqual(file.read_text(), (other / file.name).read_text(), file.name)
            ends = [json.loads((f / "run.json").read_text()) for f in (first, other)]
            for end in ends:
                end.pop("command")
            self.assertEqual(*ends)

    def long_cables(self, base, switch="", propagation="5 us", nodes=2, more=""):
        """A stock machine with cables so long that ranks seldom have to talk."""
        switches = f"  switches:\n    - {{name: {switch}}}\n" if switch else ""
        ends = [f"node{i}.hca0" for i in range(nodes)]
        pairs = [(end, switch) for end in ends] if switch else [tuple(ends)]
        links = "".join(f"    - {{from: {a}, to: {b}, propagation: {propagation}}}\n" for a, b in pairs)
        return self.write("machine.yaml", f"base: {CONFIGS}/{base}.yaml\nnetwork:\n{switches}  links:\n{links}{more}")

    def test_a_pair_of_nodes(self):
        self.compare([2], self.long_cables("rdma_pair"), "--append", "exchange=0 latency=2 max=512 bandwidth=8 rate=64")
        self.assertIn("all ok, powering off", (self.folder / "ranks2/console.node1.log").read_text())
        for name in ["ranks2"] + ([] if SKIP_REASON else ["mpi2"]):
            self.assert_bounded(json.loads((self.folder / name / "stats.json").read_text()))

    def assert_bounded(self, statistics):
        """What two ranks had to do bounds what they gain, and each has waited for the other one only."""
        work, path = statistics["sim.parallel.work_s"], statistics["sim.parallel.critical_path_s"]
        self.assertAlmostEqual(statistics["sim.parallel.bound"], work / path)
        self.assertTrue(work / 2 <= path <= work, (work, path))
        self.assertLess(path, statistics["sim.wall_s"])
        for rank, other in ((0, 1), (1, 0)):
            waited = statistics[f"sim.rank{rank}.waited_s"]
            self.assertTrue(0 < statistics[f"sim.rank{rank}.waited_for.rank{other}_s"] <= waited)

    def test_packets_lost_on_links_that_are_cut(self):
        faults = """faults:
  - {at: 1 ms, target: node1.hca0.network.link, kind: loss, rate: 0.02}
  - {at: 6 ms, target: node0.hca0.network.link, kind: down, lasting: 30 us}
  - {when: nothing, at: 1 us, target: node1.hca0.network.link, kind: drop}
"""
        self.compare(
            [2],
            self.long_cables("rdma_pair", more=faults),
            "--append",
            "exchange=0 latency=2 max=512 bandwidth=0 rate=0",
            "--time",
            "20ms",
        )
        statistics = json.loads((self.folder / "ranks2/stats.json").read_text())
        self.assertGreater(statistics["node1.hca0.network.link.dropped.injected"], 0)
        self.assertGreater(statistics["node1.hca0.network.link.link_downs"], 1)  # its reset is one

    def test_four_nodes_with_gpus(self):
        self.compare([2, 4], self.long_cables("rdma_cluster_4", "switch0", nodes=4))

    def test_any_node_may_end_it(self):
        self.compare([2, 4], self.long_cables("rdma_cluster_4", "switch0", nodes=4), "--until", "any")
        self.compare([2], self.long_cables("rdma_cluster_4", "switch0", nodes=4), "--until", "node2")

    def test_jacobi_by_command_processors(self):
        jacobi = "work=jacobi scheme=compnet rows=32 columns=32 groups=4 iterations=2 reference=0"
        self.compare([2, 4], self.long_cables("compnet_4", "switch0", nodes=4), "--append", jacobi)
        self.assertIn("jacobi     ok", (self.folder / "ranks4/console.node3.log").read_text())

    def test_generators(self):
        """Links that lose packets and flap, and a switch that dies: forwarding tables are worked out anew in all
        ranks."""
        faults = self.write(
            "faults.yaml",
            f"""base: {CONFIGS}/network_fat_tree.yaml
network: {{sweep: 2 us}}
faults:
  - {{at: 3 us, target: network.leaf0.to_spine0, kind: loss, rate: 0.05, lasting: 8 us}}
  - {{at: 4 us, target: network.leaf1.to_spine1, kind: down, lasting: 2 us}}
  - {{at: 5 us, target: network.generator5, kind: bit_errors, rate: 0.00001}}
  - {{at: 19 us, target: network.spine0, kind: dead}}
""",
        )
        self.compare([2, 4], faults, "--time", "25us", "--set", "network.switches.*.port.retrain_time=2us")
        statistics = json.loads((self.folder / "ranks4/stats.json").read_text())
        self.assertGreater(statistics["network.leaf0.to_spine0.dropped.injected"], 0)
        self.assertGreater(statistics["network.leaf1.to_spine1.dropped.link_down"], 0)
        self.assertEqual(statistics["network.sweeps"], 3)

    def test_random_networks(self):
        """Networks of which most is idle most of the time, cables of different lengths: ranks do not take part in
        windows in which they have nothing to do."""
        for seed in range(6):
            draw = random.Random(seed)
            leaves = draw.randint(1, 3)
            count = draw.randint(4, 9)
            ends = [(f"generator{i}", f"leaf{i * leaves // count}") for i in range(count)]
            ends += [(f"leaf{i}", "spine") for i in range(leaves)]
            links = [f"{{from: {a}, to: {b}, propagation: {draw.choice((20, 35, 400))} ns}}" for a, b in ends]
            generators = [
                f"{{name: generator{i}, pattern: {draw.choice(('uniform', 'neighbour', 'all_to_all'))}, packets:"
                f" {draw.randint(1, 60)}, payload: {draw.choice((64, 2048))} B, load:"
                f" {draw.choice((0.01, 0.2))}, start: {draw.randint(0, 5000)} ns}}"
                for i in range(count)
            ]
            listed = "".join(
                f"  {key}:\n" + "".join(f"    - {item}\n" for item in items)
                for key, items in (
                    ("switches", ["{name: spine}"] + [f"{{name: leaf{i}}}" for i in range(leaves)]),
                    ("links", links),
                    ("generators", generators),
                )
            )
            flap = (
                f"{{at: {draw.randint(1, 9)} us, target: network.{ends[-1][0]}.to_spine, kind: down, lasting: 300 ns}}"
            )
            machine = self.write(
                "random.yaml", f"simulation: {{seed: {seed}}}\nnetwork:\n  sweep: 2 us\n{listed}faults:\n  - {flap}\n"
            )
            ranks = draw.sample(range(2, count + 1), 2)
            self.compare(ranks, machine, "--time", "150us")
            statistics = json.loads((self.folder / f"ranks{ranks[1]}/stats.json").read_text())
            taken_part = sum(statistics[f"sim.rank{r}.windows"] for r in range(ranks[1]))
            self.assertLess(taken_part, 0.95 * ranks[1] * statistics["sim.parallel.windows"], seed)

    def test_a_trace_has_each_rank_as_a_process(self):
        self.succeed(
            "run",
            self.long_cables("rdma_pair"),
            "--append",
            "exchange=0 latency=2 max=512 bandwidth=0 rate=0",
            "--time",
            "3ms",
            "--ranks",
            "2",
            "--trace",
            "--out",
            "out",
        )
        events = json.loads((self.folder / "out/trace.json").read_text())["traceEvents"]
        names = {e["args"]["name"]: e["pid"] for e in events if e["name"] == "process_name"}
        self.assertEqual(names, {"rank 0": 1, "rank 1": 2})
        self.assertEqual({e["pid"] for e in events}, {1, 2})

    def parallel(self, folder):
        statistics = json.loads((self.folder / folder / "stats.json").read_text())
        return {key: value for key, value in statistics.items() if key.startswith(("sim.parallel.", "sim.rank"))}

    def test_a_plan_is_what_ranks_do(self):
        machine = self.long_cables("compnet_4", "switch0", nodes=4, propagation="600 ns")
        # So much work that a window's share of a rank is no matter of a few polls.
        jacobi = "work=jacobi scheme=compnet rows=256 columns=256 groups=32 iterations=2 reference=0"
        self.succeed("run", machine, "--append", jacobi, "--quiet", "--out", "alone")
        for count in (1, 2, 4):
            plan, real = f"plan{count}", f"real{count}"
            self.succeed(*("run", machine, "--append", jacobi, "--quiet", "--plan-ranks", str(count), "--out", plan))
            self.assertEqual(self.statistics("alone"), self.statistics(plan))
            planned = self.parallel(plan)
            self.assertEqual(planned["sim.parallel.planned_ranks"], count)
            self.assertAlmostEqual(
                planned["sim.parallel.bound"], planned["sim.parallel.work_s"] / planned["sim.parallel.critical_path_s"]
            )
            for unit in ("s", "events"):
                self.assertAlmostEqual(
                    planned[f"sim.parallel.work_{unit}"], sum(planned[f"sim.rank{r}.work_{unit}"] for r in range(count))
                )
            if count == 1:
                self.assertEqual(planned["sim.parallel.bound_by_events"], 1)
                continue
            self.assertGreater(planned["sim.rank0.waited_for.rank1_s"], 0)
            self.succeed("run", machine, "--append", jacobi, "--quiet", "--ranks", str(count), "--out", real)
            found = self.parallel(real)
            # Other nodes' events end slices of harts.
            for what in ("bound_by_events", "critical_path_events", "work_events", "windows", "active_ranks"):
                self.assertAlmostEqual(
                    planned[f"sim.parallel.{what}"] / found[f"sim.parallel.{what}"], 1, delta=0.03, msg=what
                )
            for r in range(count):
                self.assertAlmostEqual(
                    planned[f"sim.rank{r}.work_events"] / found[f"sim.rank{r}.work_events"], 1, delta=0.03
                )

    def test_a_plan_of_one_node(self):
        result = self.run_command("run", CONFIGS / "hello.yaml", "--plan-ranks", "1", "--out", "out")
        self.assertEqual(result.returncode, 0, result.errors)
        self.assertIn("1 planned rank can be 1.00 times as fast", result.errors)

    def test_scripts(self):
        """Scripts speak with guests of all ranks, see what they see in one process, and end the run at one time."""
        asking = self.write(
            "asks.elf",
            command.elf(
                command.HART0_ONLY
                + command.print_text("say q> ")
                + command.UNTIL_Q
                + command.print_text("bye")
                + command.finish()
            ),
        )
        machine = [self.long_cables("rdma_pair"), "--set", f"node.images.firmware={asking}"]
        script = self.write("both.script", "timeout 3 ms\nexpect /say [a-z]>/\ntype ab\nexpect ab\n")
        finishing = self.write("finish.script", 'expect "q> "\ntype q\nfinish\n')
        never = self.write("never.script", 'timeout 350 us\nexpect "q> "\nexpect never\n')
        both = ["--script", str(script), "--script", f"node1={script}", "--junit", "junit.xml"]

        self.compare([2], *machine, *both)
        self.assertIn("the script is done", (self.folder / "ranks2/run.json").read_text())
        self.assertTrue((self.folder / "ranks2/console.node1.input").read_text())
        suites = (self.folder / "junit.xml").read_text()
        for node in (0, 1):
            self.assertIn(f'name="node{node}: {script}" tests="', suites)
        self.assertNotIn("<failure", suites)

        self.compare([2], *machine, "--script", str(finishing), "--script", f"node1={finishing}")
        self.assertIn("node0 powered off; node1 powered off", (self.folder / "ranks2/run.json").read_text())

        self.compare([2], *machine, "--script", str(script), "--script", f"node1={never}", status=1)
        result = self.run_command(
            "run", *machine, "--ranks", "2", "--script", f"node1={never}", "--junit", "junit.xml", "--quiet"
        )
        self.assertEqual(result.returncode, 1)
        self.assertIn("never.script:3: 'expect never': not seen within 0.00035 s", result.errors)
        self.assertEqual((self.folder / "junit.xml").read_text().count("<failure"), 1)
        result = self.run_command("run", *machine, "--ranks", "2", "--script", f"node1={never}", "--time", "100us")
        self.assertEqual(result.returncode, 1)
        self.assertIn("'expect never': the script was not done; the time limit was reached", result.errors)

    def test_what_a_guest_says_of_itself(self):
        """A node that fails ends the run with status 1, whatever rank it is in."""
        failing = self.write("fails.elf", command.elf(command.HART0_ONLY + command.finish(3)))
        self.compare(
            [2],
            self.long_cables("rdma_pair"),
            "--set",
            f"node1.images.firmware={failing}",
            "--until",
            "node1",
            status=1,
        )
        refusing = self.write(
            "refuses.elf", command.elf(command.HART0_ONLY + command.print_text("not so") + command.finish(2))
        )
        self.compare([2], self.long_cables("rdma_pair"), "--set", f"node1.images.firmware={refusing}", status=2)


class Ends(CommandTest):
    """Ranks end together, however one of them or the process that has started them ends, and leave nothing."""

    def start(self, *options):
        links = "network:\n  links:\n    - {from: node0.hca0, to: node1.hca0, propagation: 5 us}\n"
        machine = self.write("machine.yaml", f"base: {CONFIGS}/rdma_pair.yaml\n{links}")
        self.mark = f"ranks-test-{os.getpid()}-{time.monotonic_ns()}"
        return subprocess.Popen(
            [command.FABRICVP, "run", str(machine), "--ranks", "2", *options, "--out", "out", "--quiet"],
            cwd=self.folder,
            env={**os.environ, "RANKS_TEST": self.mark},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def begun(self, run, is_rank):
        """Process IDs of both ranks, once the run has begun."""
        ends = time.monotonic() + command.TIMEOUT_S
        while time.monotonic() < ends and run.poll() is None:
            time.sleep(0.2)
            if not (self.folder / "out/run.json").exists():
                continue
            found = [next((pid for pid in self.processes() if is_rank(pid, r)), None) for r in (0, 1)]
            if None not in found:
                return found
        self.fail("the run has not begun")

    def processes(self):
        """Those of the run under test."""
        for folder in pathlib.Path("/proc").iterdir():
            try:
                if f"RANKS_TEST={self.mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)
            except OSError:
                pass

    def is_child(self, pid, rank):
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == f"rank{rank}"

    def is_of_mpirun(self, pid, rank):
        words = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return f"OMPI_COMM_WORLD_RANK={rank}".encode() in words

    def assert_all_gone(self):
        ends = time.monotonic() + command.TIMEOUT_S
        while left := list(self.processes()):
            self.assertLess(time.monotonic(), ends, left)
            time.sleep(0.05)

    def assert_end_is_told(self, run, victim):
        os.kill(victim, signal.SIGKILL)
        _, said = run.communicate(timeout=60)  # it takes some milliseconds
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual(len(said.strip().splitlines()), 1, said)
        self.assertIn("rank 1 has died of signal 9 (Killed)", said)
        self.assertFalse(json.loads((self.folder / "out/run.json").read_text())["complete"])
        self.assert_all_gone()

    def test_a_rank_that_dies(self):
        run = self.start()
        ranks = self.begun(run, self.is_child)
        for pid in ranks:  # what they share has no name that could outlive them
            self.assertNotIn("/dev/shm", pathlib.Path(f"/proc/{pid}/maps").read_text())
        self.assert_end_is_told(run, ranks[1])

    @unittest.skipIf(SKIP_REASON, SKIP_REASON)
    def test_a_rank_that_dies_under_mpirun(self):
        run = self.start("--transport", "mpi")
        self.assert_end_is_told(run, self.begun(run, self.is_of_mpirun)[1])

    def test_the_process_that_has_started_them_dies(self):
        run = self.start()
        self.begun(run, self.is_child)
        run.kill()
        run.communicate(timeout=command.TIMEOUT_S)
        self.assert_all_gone()

    def test_interrupt(self):
        """Ctrl-C reaches all processes of a terminal; SIGTERM only the one that was started. Both end the run in
        order."""
        for send in (lambda run: os.killpg(run.pid, signal.SIGINT), lambda run: run.terminate()):
            run = self.start()
            self.begun(run, self.is_child)
            send(run)
            _, said = run.communicate(timeout=command.TIMEOUT_S)
            self.assertEqual(run.returncode, 130, said)
            self.assertEqual(json.loads((self.folder / "out/run.json").read_text())["outcome"], "interrupted")
            self.assertTrue((self.folder / "out/stats.json").exists())
            self.assert_all_gone()
            shutil.rmtree(self.folder / "out")


if __name__ == "__main__":
    unittest.main()
