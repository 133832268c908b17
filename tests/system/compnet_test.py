# SPDX-License-Identifier: Apache-2.0
"""Networking from inside of kernels, whoever performs it."""

import json
import os
import pathlib
import re

import command
from command import CommandTest

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
BACKENDS = {"processor": 0, "host": 1, "native": 2}


class Compnet(CommandTest):
    def echo(self, folder, *options):
        return self.run_command(
            "run", CONFIGS / "compnet_pair.yaml", "--append", " ".join(("nodes=2", *options)), "--out", folder
        )

    def consoles(self, folder):
        return [(self.folder / folder / f"console.node{i}.log").read_text() for i in range(2)]

    def statistics(self, folder):
        return json.loads((self.folder / folder / "stats.json").read_text())

    def service_instructions(self, values, backend):
        """Instructions of the threads that could serve."""
        hart = "node0.gpu0.processor.hart0" if backend == "processor" else "node0.host.hart1"
        return values[f"{hart}.instructions"]

    def test_every_backend(self):
        """Messages of all sizes there and back, every byte checked, by whoever serves; only the one who should does."""
        for backend, number in BACKENDS.items():
            result = self.echo(backend, f"scheme={number}", "rounds=4", "most=8192")
            self.assertEqual(result.returncode, 0, result.text)
            for text in self.consoles(backend):
                self.assertEqual(
                    [line for line in text.splitlines() if not line.startswith("# ")][1:],
                    ["echo       ok", "all ok, powering off"],
                )
            measured = re.findall(
                rf"^# echo {backend} 1 threads 1 groups (\d+) bytes (\d+) ps", self.consoles(backend)[0], re.MULTILINE
            )
            self.assertEqual([int(size) for size, _ in measured], [8 << i for i in range(11)])
            times = [int(ps) for _, ps in measured]
            self.assertLess(times[0], times[1])  # 8 bytes travel in the request
            self.assertLess(times[1], times[-1])
            values = self.statistics(backend)
            for n in (0, 1):
                self.assertEqual(values[f"node{n}.hca0.retries"], 0)
                self.assertEqual(values[f"node{n}.hca0.bad_doorbells"], 0)
        machines = {
            (self.folder / backend / "config.resolved.yaml").read_text().replace(f"scheme={number}", "backend")
            for backend, number in BACKENDS.items()
        }
        self.assertEqual(len(machines), 1)  # who serves is an option of the program, and nothing else differs
        quiet = self.statistics("native")
        self.assertGreater(
            self.service_instructions(self.statistics("processor"), "processor"),
            10 * self.service_instructions(quiet, "processor"),
        )
        self.assertGreater(self.service_instructions(self.statistics("host"), "host"), 100)
        for backend in "processor", "native":
            self.assertEqual(self.service_instructions(self.statistics(backend), "host"), 0)

    def test_many_work_groups_and_threads(self):
        for backend in "processor", "host":
            result = self.echo(
                backend,
                f"scheme={BACKENDS[backend]}",
                "groups=13",
                "threads=2",
                "rounds=4",
                "least=64",
                "most=64",
                "entries=1",
            )
            self.assertEqual(result.returncode, 0, result.text)
            self.assertRegex(self.consoles(backend)[0], rf"# echo {backend} 2 threads 13 groups 64 bytes \d+ ps")
        self.echo("again", "scheme=0", "groups=13", "threads=2", "rounds=4", "least=64", "most=64", "entries=1")
        self.assertRegex(self.succeed("diff", "processor", "again").text, r"0 of \d+ statistics differ")

    def test_messages_without_responses(self):
        """Each work-group sends many before it waits; all of them come, whoever performs them, more of them than queues
        have entries."""
        for backend, number in BACKENDS.items():
            for size in 8, 512:
                result = self.echo(
                    backend,
                    f"work=3 scheme={number}",
                    "groups=6",
                    "messages=50",
                    "entries=3",
                    f"least={size}",
                    f"most={size}",
                )
                self.assertEqual(result.returncode, 0, result.text)
                self.assertRegex(
                    self.consoles(backend)[0],
                    rf"# rate {backend} 1 threads 6 groups {size} bytes 300 messages, [1-9]\d* ps each\nrate      "
                    r" ok\n",
                )
                values = self.statistics(backend)
                self.assertGreater(values["node0.hca0.messages"], 300)
                self.assertLess(values["node1.hca0.messages"], 100)  # of the programs, which meet
                self.assertEqual(values["node0.hca0.retries"], 0)

    def test_a_request_that_fails(self):
        """The kernel that asked hears why (the responder's refusal); the one that waits gives up; nothing hangs."""
        for _backend, number in BACKENDS.items():
            for size in 8, 64:
                result = self.echo("out", f"scheme={number}", "astray=1", f"least={size}", f"most={size}")
                self.assertEqual(result.returncode, 1, result.text)
                mine, other = self.consoles("out")
                self.assertIn("work-group 0: request failed in round 1, status 0x113", mine)
                self.assertIn("work-group 0: request failed in round 1, status 0x100", other)

    def test_jacobi(self):
        """Every backend solves to the bit what CPUs solve; who performs the network has its time to show for it."""
        time = {}
        for backend, number in {**BACKENDS, "driven": 3, "async": 5}.items():
            result = self.echo(
                backend, "work=1", f"scheme={number}", "rows=48", "columns=64", "groups=6", "iterations=7"
            )
            self.assertEqual(result.returncode, 0, result.text)
            for text in self.consoles(backend):
                self.assertEqual(
                    [line for line in text.splitlines() if not line.startswith("# ")][1:],
                    ["jacobi     ok", "all ok, powering off"],
                )
            found = re.findall(
                r"^# jacobi (\w+) 48 rows 64 columns 7 iterations (\d+) ps", self.consoles(backend)[0], re.MULTILINE
            )
            self.assertEqual([name for name, _ in found], ["cpu", backend])
            time[backend] = int(found[1][1])
        self.echo("launch", "work=1", "scheme=3", "rows=48", "columns=64", "groups=6", "iterations=7", "driver=20")
        slow = int(re.search(r"# jacobi driven .* (\d+) ps", self.consoles("launch")[0])[1])
        self.assertAlmostEqual((slow - time["driven"]) / 7e6, 20, delta=1)  # a launch each iteration

    def test_packets_of_the_queue_on_four_nodes(self):
        """The all-reduce of the residual takes two steps there, with a kernel between them; what is found is the CPUs'
        and the host's between kernels, at every node."""
        digests = {}
        for backend in 5, 3:
            result = self.run_command(
                "run",
                CONFIGS / "compnet_4.yaml",
                "--append",
                f"nodes=4 work=1 scheme={backend} rows=8 columns=64 iterations=9 groups=4 cores=1",
                "--out",
                "out",
            )
            self.assertEqual(result.returncode, 0, result.text + result.errors)
            texts = [(self.folder / "out" / f"console.node{i}.log").read_text() for i in range(4)]
            for text in texts:
                self.assertIn("jacobi     ok", text)
            digests[backend] = [re.search(r"^# digest (\w+)", text, re.MULTILINE)[1] for text in texts]
        self.assertEqual(digests[5], digests[3])
        self.assertEqual(len(set(digests[5])), 4)  # each has rows of its own

    def test_rounds_by_packets_follow_each_other(self):
        """More all-reduces than queue and send ring hold at a time, also with two nodes and with a number that is no
        power of two."""
        for nodes, algorithm, rounds in (2, 0, 40), (2, 1, 40), (3, 0, 9), (3, 1, 9):
            result = self.run_command(
                "run",
                CONFIGS / "compnet_4.yaml",
                "--set",
                f"nodes={nodes}",
                "--set",
                f"node.images.append=nodes={nodes} work=2 scheme=5 way={algorithm} bytes=1000 rounds={rounds}",
                "--out",
                "out",
            )
            self.assertEqual(result.returncode, 0, result.text + result.errors)
            for i in range(nodes):
                self.assertIn("reduce     ok", (self.folder / "out" / f"console.node{i}.log").read_text())

    def reduce(self, folder, nodes, *options):
        return self.run_command(
            "run",
            CONFIGS / f"compnet_{nodes}.yaml",
            "--append",
            " ".join((f"nodes={nodes} work=2", *options)),
            "--out",
            folder,
        )

    def test_all_reduce(self):
        """Every node has every sum to the bit, by a ring and by a tree, whoever performs the network, for vectors that
        fill no part and for those of many."""
        time = {}
        for backend, number in {**BACKENDS, "driven": 3, "cpu": 4, "async": 5}.items():
            for algorithm, name in enumerate(("ring", "tree")):
                for size, groups in (12, 2), (40_000, 3):
                    result = self.reduce(
                        "out",
                        4,
                        f"scheme={number}",
                        f"way={algorithm}",
                        f"bytes={size}",
                        f"groups={groups}",
                        "rounds=2",
                        "cores=3",
                    )
                    self.assertEqual(result.returncode, 0, result.text)
                    texts = [(self.folder / "out" / f"console.node{i}.log").read_text() for i in range(4)]
                    for text in texts:
                        self.assertEqual(
                            [line for line in text.splitlines() if not line.startswith("# ")][1:],
                            ["reduce     ok", "all ok, powering off"],
                        )
                    found = re.search(
                        rf"^# reduce {backend} {name} 4 nodes {size} bytes 2 rounds (\d+) ps", texts[0], re.MULTILINE
                    )
                    time[backend, name, size] = int(found[1])
            self.assertLess(time[backend, "tree", 12], time[backend, "ring", 12], backend)  # four steps instead of six
        for algorithm in 0, 1:  # a number of nodes that is no power of two
            result = self.run_command(
                "run",
                CONFIGS / "compnet_4.yaml",
                "--set",
                "nodes=3",
                "--set",
                f"node.images.append=nodes=3 work=2 scheme=0 way={algorithm} bytes=1000",
                "--out",
                "three",
            )
            self.assertEqual(result.returncode, 0, result.text)
            self.assertEqual(result.text.count("reduce     ok"), 1)
        machines = {re.sub("append: .*", "", (self.folder / "out" / "config.resolved.yaml").read_text())}
        self.reduce("other", 4, "scheme=0")
        machines.add(re.sub("append: .*", "", (self.folder / "other" / "config.resolved.yaml").read_text()))
        self.assertEqual(len(machines), 1)

    def test_machines_of_many_nodes(self):
        """Computers of all sizes of machine are those of the pair; all hang on one switch, though no link is written
        down."""

        def computers(nodes):
            result = self.run_command(
                "run",
                CONFIGS / f"compnet_{'pair' if nodes == 2 else nodes}.yaml",
                "--time",
                "1us",
                "--out",
                f"of{nodes}",
            )
            self.assertEqual(result.returncode, 0, result.text)
            text = (self.folder / f"of{nodes}" / "config.resolved.yaml").read_text()
            return text, text.split("\nnodes:\n")[1].split("\n  - ")

        pair = computers(2)[1]
        alone = re.sub(r"append: .*|scope: .*", "", pair[1]).strip()
        for nodes in 4, 8, 16:
            text, items = computers(nodes)
            self.assertEqual(len(re.findall(r"from: node\d+\.hca0\n\s+to: switch0", text)), nodes, text[:2000])
            self.assertEqual(len(items), nodes)
            self.assertEqual(re.sub(r"append: .*|scope: .*", "", items[1]).strip(), alone)

    def test_configurations_on_each_other(self):
        (self.folder / "own.yaml").write_text("base: compnet_4\nnode:\n  host:\n    harts: 3\n")
        self.assertIn("own.yaml: ok", self.succeed("check", "own.yaml").text)
        for text, words in (
            ("base: own2.yaml\n", "based on itself"),
            ("base: nowhere\n", "own2.yaml:1: base: 'nowhere'"),
            ("nodes: 2\nbase: [a]\n", "own2.yaml:2: base: must be"),
            ("base: own.yaml\nnode: {host: {hards: 2}}\n", "own2.yaml:2: unknown key 'hards'"),
        ):
            (self.folder / "own2.yaml").write_text(text)
            result = self.run_command("check", "own2.yaml")
            self.assertEqual(result.returncode, 2, result.errors)
            self.assertIn(words, result.errors)

    def test_energy(self):
        """Joules are activity times parameters: twice the parameter, twice the joules; nobody works for nothing."""

        def energy(folder, *more):
            result = self.run_command(
                "run",
                CONFIGS / "compnet_pair.yaml",
                "--append",
                "nodes=2 work=2 scheme=0 bytes=65536 groups=2",
                "--out",
                folder,
                *more,
            )
            self.assertEqual(result.returncode, 0, result.text)
            return {
                path.rsplit(".", 1)[1]: value
                for path, value in self.statistics(folder).items()
                if path.startswith("node0.energy.")
            }

        one, two = (
            energy("one"),
            energy(
                "two",
                "--set",
                "node.energy.network_pj_per_bit=500",
                "--set",
                "node.energy.processor_core.active_w=0.54",
            ),
        )
        parts = [name for name in one if name not in ("time", "total")]
        self.assertEqual(len(parts), 9)
        self.assertTrue(all(one[name] > 0 for name in parts), one)
        self.assertAlmostEqual(sum(one[name] for name in parts), one["total"], delta=1e-12)
        self.assertAlmostEqual(two["network"], 2 * one["network"], delta=1e-12)
        self.assertGreater(two["processor_cores"], 1.1 * one["processor_cores"])
        self.assertEqual(
            {n: one[n] for n in parts if n not in ("network", "processor_cores")},
            {n: two[n] for n in parts if n not in ("network", "processor_cores")},
        )
        values = self.statistics("one")
        sent = sum(
            value
            for path, value in values.items()
            if path.startswith("node0.hca0.network.") and path.endswith(".transmitter.bytes")
        )
        self.assertAlmostEqual(one["network"], 250e-12 * 8 * sent, delta=1e-15)

    def test_messages_of_the_queue_between_kernels(self):
        """GPUDirect Async: packets ring for entries that the program has written, and wait; no kernel and no thread
        talks."""
        for options, sizes in ("most=4096", 10), ("groups=32 least=64 most=64", 1):
            result = self.echo("async", "scheme=5", "rounds=12", options)
            self.assertEqual(result.returncode, 0, result.text)
            self.assertEqual(
                len(re.findall(r"^# echo async .* bytes [1-9]\d+ ps", self.consoles("async")[0], re.MULTILINE)), sizes
            )
            values = self.statistics("async")
            for n in (0, 1):
                self.assertEqual(values[f"node{n}.hca0.bad_doorbells"], 0)
                self.assertEqual(self.service_instructions(values, "host"), 0)

    def test_a_message_of_the_queue_that_fails(self):
        """The completion tells an error: the queue stops, and the program learns why; the other side's packet loses its
        timeout."""
        result = self.echo("out", "scheme=5", "astray=1", "least=64", "most=64")
        self.assertEqual(result.returncode, 1, result.text)
        mine, other = self.consoles("out")
        self.assertIn("work-group 0: request failed in round 1, status 0x113", mine)
        self.assertIn("work-group 0: request failed in round 1, status 0x100", other)

    def test_firmware_that_crashes_while_it_serves(self):
        """Work-groups hear that nobody serves them any more, the host reads a record, nothing hangs."""
        for threads, harts in (1, (0,)), (2, (0, 1)):
            result = self.echo(
                "out", "scheme=0", "crash=1", "groups=8", f"threads={threads}", "rounds=100", "least=64", "most=64"
            )
            self.assertEqual(result.returncode, 1, result.text)
            mine, other = self.consoles("out")
            for hart in harts:
                self.assertRegex(
                    mine,
                    rf"gpu0 fault: firmware trap, cause 2 on hart {hart}, pc 0x\w+ \(network_service_poll\+0x\w+\)",
                )
            for group in range(8):
                self.assertRegex(mine, rf"work-group {group}: request failed in round \d+, status 0x122")
                self.assertRegex(other, rf"work-group {group}: request failed in round \d+, status 0x100")
        result = self.echo(
            "out", "work=3 scheme=0", "crash=1", "groups=8", "messages=1000", "least=64", "most=64"
        )  # of which those who wait for nothing hear as well
        self.assertEqual(result.returncode, 1, result.text)
        mine, other = self.consoles("out")
        for group in range(8):
            self.assertRegex(mine, rf"work-group {group}: request failed in round \d+, status 0x122")
        self.assertIn("what has come is not what was sent", other)

    def test_locked_lines(self):
        """A producer's store locks its line, the command processor's unlocks it; what streams beside them is right as
        well."""
        for lock in 0, 1:
            result = self.echo(
                "out", "scheme=0", f"lock={lock}", "load=8", "groups=4", "rounds=6", "least=64", "most=64"
            )
            self.assertEqual(result.returncode, 0, result.text)
            self.assertRegex(self.consoles("out")[0], r"# load 8 work-groups, [1-9]\d* passes")
            values = self.statistics("out")
            locks, reads = (
                sum(v for name, v in values.items() if re.match(rf"node0\.gpu0\.memory\.l2\.bank\d+\.{what}$", name))
                for what in ("locks", "queue_reads")
            )
            self.assertEqual(locks, lock * 4 * 8)  # a request for each message, warm rounds included
            self.assertGreater(reads, 4 * 8)

    def test_invalid_options_are_reported(self):
        for options, words in (
            ("work=2 bytes=10", "bytes=10: a multiple of 4"),
            ("work=2 bytes=268435456", "bytes=268435456: 67108864 at most"),
            ("threads=9", "threads=9: 8 at most"),
            ("entries=7", "entries=7: 6 at most"),
            ("threads=2", "threads=2: 1 at most, since each serves a queue"),
            ("work=1 threads=3 groups=4", "threads=3: 2 at most"),
            ("scheme=3", "scheme=3: messages there and back take 0, 1, 2 or 5"),
            ("work=3 scheme=5", "scheme=5: messages without answers take 0, 1 or 2"),
            ("work=3 groups=8 messages=1000", "messages=1000: 64 at most, since all of them lie in memory"),
            ("scheme=5 groups=33", "groups=33: 32 at most"),
            ("rounds=x", "rounds is no number"),
            ("thread=2", "there is no option thread, but nodes, work, scheme, "),
            ("work=1 rows=10 groups=4", "rows=10: a multiple of groups=4"),
            ("work=1 columns=24", "columns=24: a multiple of 16"),
            ("work=1 cores=64", "cores=64: "),
            ("least=24", "least=24: a power of two"),
            ("threads=3 groups=3", "threads=3: 2 at most, harts of the command processor"),
            ("scheme=2 lock=1", "lock=1: only with scheme=0"),
            ("work=2 load=1", "load=1: only with work=0"),
            ("work=2 crash=1", "crash=1: only with scheme=0 and work=0 or 3"),
            ("scheme=1 crash=1", "crash=1: only with scheme=0"),
            ("work=2 astray=1", "astray=1: only with work=0"),
        ):
            with self.subTest(options):
                self.assert_rejected(self.echo("out", options), words)
                run = json.loads((self.folder / "out" / "run.json").read_text())
                self.assertEqual(run["outcome"], "refused")
                self.assertLess(run["time_s"], 0.01)  # those who are left do not wait for a response

        for options, words in (
            (("--set", "node.hcas=[]"), "no HCA can be used"),
            (("--set", "node.gpus=[]"), "there is no GPU"),
            (("--set", "node1.hcas=[]"), "node1: no HCA can be used"),
        ):
            self.assert_rejected(
                self.run_command("run", CONFIGS / "compnet_pair.yaml", *options, "--out", "out"), words
            )
        result = self.run_command(
            "run", CONFIGS / "compnet_pair.yaml", "--set", "node.gpu0.memory.l2.locked_ways=16", "--out", "refused"
        )
        self.assertEqual(result.returncode, 2, result.text)
        self.assertRegex(result.errors, r"^fabricvp: .*locked_ways is 16: give less than the 16 ways\n$")
        self.assertFalse((self.folder / "refused" / "stats.json").exists())


if __name__ == "__main__":
    command.main()
