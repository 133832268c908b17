# SPDX-License-Identifier: Apache-2.0
"""Intra-kernel networking, by each backend."""

import json
import os
import pathlib
import re

import command
from command import CommandTest
from fabricvp.guest_results import result_lines

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
BACKENDS = ("compnet", "ghn", "gpu_native")  # whose kernels post


class Compnet(CommandTest):
    def echo(self, folder, *options):
        return self.run_command("run", CONFIGS / "compnet_pair.yaml", "--append", " ".join(options), "--out", folder)

    def consoles(self, folder):
        return [(self.folder / folder / f"console.node{i}.log").read_text() for i in range(2)]

    def statistics(self, folder):
        return json.loads((self.folder / folder / "stats.json").read_text())

    def assert_loads_nothing(self, folder):
        """Kernels and payload are there before a region begins: copy engines rest in it."""
        regions = json.loads((self.folder / folder / "regions.json").read_text())
        self.assertTrue(regions)
        copied = "node0.gpu0.host_interface.sdma.bytes_copied"
        self.assertEqual([r["statistics"][copied] for r in regions], len(regions) * [0])

    def service_instructions(self, values, backend):
        """Instructions of the threads that could serve."""
        hart = "node0.gpu0.processor.hart0" if backend == "compnet" else "node0.host.hart1"
        return values[f"{hart}.instructions"]

    def test_every_backend(self):
        """Messages of all sizes there and back, every byte checked, by each backend; only that one serves."""
        for backend in BACKENDS:
            result = self.echo(backend, f"scheme={backend}", "rounds=4", "max=8192")
            self.assertEqual(result.returncode, 0, result.text)
            for text in self.consoles(backend):
                self.assertEqual(
                    [line for line in text.splitlines() if not line.startswith("# ")][1:],
                    ["echo       ok", "all ok, powering off"],
                )
            measured = result_lines(self.consoles(backend)[0], "echo")
            self.assertEqual([line["bytes"] for line in measured], [8 << i for i in range(11)])
            self.assertEqual(
                {(line["backend"], line["threads"], line["groups"]) for line in measured}, {(backend, 1, 1)}
            )
            times = [line["time_ps"] for line in measured]
            self.assertLess(times[0], times[1])  # 8 bytes travel in the request
            self.assertLess(times[1], times[-1])
            values = self.statistics(backend)
            for n in (0, 1):
                self.assertEqual(values[f"node{n}.hca0.retries"], 0)
                self.assertEqual(values[f"node{n}.hca0.bad_doorbells"], 0)
            self.assert_loads_nothing(backend)
        machines = {
            (self.folder / backend / "config.resolved.yaml").read_text().replace(f"scheme={backend}", "backend")
            for backend in BACKENDS
        }
        self.assertEqual(len(machines), 1)  # the backend is an option of the program, and nothing else differs
        quiet = self.statistics("gpu_native")
        self.assertGreater(
            self.service_instructions(self.statistics("compnet"), "compnet"),
            10 * self.service_instructions(quiet, "compnet"),
        )
        self.assertGreater(self.service_instructions(self.statistics("ghn"), "ghn"), 100)
        for backend in "compnet", "gpu_native":
            self.assertEqual(self.service_instructions(self.statistics(backend), "ghn"), 0)

    def test_many_work_groups_and_threads(self):
        for backend in "compnet", "ghn":
            result = self.echo(
                backend, f"scheme={backend}", "groups=13", "threads=2", "rounds=4", "min=64", "max=64", "log_entries=1"
            )
            self.assertEqual(result.returncode, 0, result.text)
            line = result_lines(self.consoles(backend)[0], "echo")[0]
            self.assertEqual([line[key] for key in ("backend", "threads", "groups", "bytes")], [backend, 2, 13, 64])
        self.echo("again", "scheme=compnet", "groups=13", "threads=2", "rounds=4", "min=64", "max=64", "log_entries=1")
        self.assert_same_statistics("compnet", "again")

    def test_messages_without_responses(self):
        """Each work-group sends many before it waits; all of them come, with each backend, more of them than queues
        have entries."""
        for backend in BACKENDS:
            for size in 8, 512:
                result = self.echo(
                    backend,
                    f"work=rate scheme={backend}",
                    "groups=6",
                    "messages=50",
                    "log_entries=3",
                    f"min={size}",
                    f"max={size}",
                )
                self.assertEqual(result.returncode, 0, result.text)
                (line,) = result_lines(self.consoles(backend)[0], "rate")
                expected = {"backend": backend, "threads": 1, "groups": 6, "bytes": size, "messages": 300}
                self.assertEqual(line.values | expected, line.values)
                self.assertGreater(line["message_time_ps"], 0)
                self.assertIn("\nrate       ok\n", self.consoles(backend)[0])
                values = self.statistics(backend)
                self.assertGreater(values["node0.hca0.messages"], 300)
                self.assertLess(values["node1.hca0.messages"], 100)  # of the programs, which meet
                self.assertEqual(values["node0.hca0.retries"], 0)
                self.assert_loads_nothing(backend)

    def test_a_request_that_fails(self):
        """The kernel that asked hears why (the responder's refusal); the one that waits gives up; nothing hangs."""
        for backend in BACKENDS:
            for size in 8, 64:
                result = self.echo("out", f"scheme={backend}", "astray=1", f"min={size}", f"max={size}")
                self.assertEqual(result.returncode, 1, result.text)
                mine, other = self.consoles("out")
                self.assertIn("work-group 0: request failed in round 1, status 0x113", mine)
                self.assertIn("work-group 0: request failed in round 1, status 0x100", other)

    def test_jacobi(self):
        """Every backend solves to the bit what CPUs solve; each reports the time of its network."""
        time = {}
        for backend in (*BACKENDS, "hdn", "gds"):
            result = self.echo(
                backend, "work=jacobi", f"scheme={backend}", "rows=48", "columns=64", "groups=6", "iterations=7"
            )
            self.assertEqual(result.returncode, 0, result.text)
            for text in self.consoles(backend):
                self.assertEqual(
                    [line for line in text.splitlines() if not line.startswith("# ")][1:],
                    ["jacobi     ok", "all ok, powering off"],
                )
            found = result_lines(self.consoles(backend)[0], "jacobi")
            self.assertEqual([line["backend"] for line in found], ["cpu", backend])
            self.assertEqual({(line["rows"], line["columns"], line["iterations"]) for line in found}, {(48, 64, 7)})
            time[backend] = found[1]["time_ps"]
        self.echo(
            "launch", "work=jacobi", "scheme=hdn", "rows=48", "columns=64", "groups=6", "iterations=7", "driver_us=20"
        )
        slow = result_lines(self.consoles("launch")[0], "jacobi")[1]["time_ps"]
        self.assertAlmostEqual((slow - time["hdn"]) / 7e6, 20, delta=1)  # a launch each iteration

    def test_packets_of_the_queue_on_four_nodes(self):
        """The all-reduce of the residual takes two steps there, with a kernel between them; what is found is the CPUs'
        and the host's between kernels, at every node."""
        digests = {}
        for backend in "gds", "hdn":
            result = self.run_command(
                "run",
                CONFIGS / "compnet_4.yaml",
                "--append",
                f"work=jacobi scheme={backend} rows=8 columns=64 iterations=9 groups=4 cores=1",
                "--out",
                "out",
            )
            self.assertEqual(result.returncode, 0, result.text + result.errors)
            texts = [(self.folder / "out" / f"console.node{i}.log").read_text() for i in range(4)]
            for text in texts:
                self.assertIn("jacobi     ok", text)
            digests[backend] = [result_lines(text, "digest")[0]["value"] for text in texts]
        self.assertEqual(digests["gds"], digests["hdn"])
        self.assertEqual(len(set(digests["gds"])), 4)  # each has rows of its own

    def test_work_groups_that_wait_for_each_other_fit(self):
        """The GPU rejects more than it holds at a time; they would wait for good."""
        grid = "work=jacobi rows=256 columns=64 iterations=2 reference=0"
        for groups, status, text in (64, 1, "jacobi: the kernel ended with fault"), (32, 0, "jacobi     ok"):
            result = self.run_command(
                "run", CONFIGS / "compnet_pair.yaml", "--append", f"{grid} groups={groups}", "--out", "out"
            )
            self.assertEqual(result.returncode, status, result.text + result.errors)
            self.assertIn(text, result.text)
            self.assertEqual("a cooperative launch of 64 work-groups" in result.errors, status == 1, result.errors)

    def test_rounds_by_packets_follow_each_other(self):
        """More all-reduces than queue and send ring hold at a time, also with two nodes and with a number that is no
        power of two."""
        for nodes, algorithm, rounds in (2, "ring", 40), (2, "tree", 40), (3, "ring", 9), (3, "tree", 9):
            result = self.run_command(
                "run",
                CONFIGS / "compnet_4.yaml",
                "--set",
                f"nodes={nodes}",
                "--set",
                f"node.images.append=work=reduce scheme=gds algorithm={algorithm} bytes=1000 rounds={rounds}",
                "--out",
                "out",
            )
            self.assertEqual(result.returncode, 0, result.text + result.errors)
            for i in range(nodes):
                self.assertIn("reduce     ok", (self.folder / "out" / f"console.node{i}.log").read_text())

    def reduce(self, folder, nodes, *options):
        return self.run_command(
            "run", CONFIGS / f"compnet_{nodes}.yaml", "--append", " ".join(("work=reduce", *options)), "--out", folder
        )

    def test_all_reduce(self):
        """Every node has every sum to the bit, by a ring and by a tree, with each backend, for vectors that
        fill no part and for those of many."""
        time = {}
        for backend in (*BACKENDS, "hdn", "cpu", "gds"):
            for algorithm in "ring", "tree":
                for size, groups in (12, 2), (40_000, 3):
                    result = self.reduce(
                        "out",
                        4,
                        f"scheme={backend}",
                        f"algorithm={algorithm}",
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
                    (line,) = result_lines(texts[0], "reduce")
                    self.assertEqual([line[key] for key in ("backend", "algorithm")], [backend, algorithm])
                    self.assertEqual([line[key] for key in ("nodes", "bytes", "rounds")], [4, size, 2])
                    time[backend, algorithm, size] = line["time_ps"]
            self.assertLess(time[backend, "tree", 12], time[backend, "ring", 12], backend)  # four steps instead of six
        for algorithm in "ring", "tree":  # a number of nodes that is no power of two
            result = self.run_command(
                "run",
                CONFIGS / "compnet_4.yaml",
                "--set",
                "nodes=3",
                "--set",
                f"node.images.append=work=reduce scheme=compnet algorithm={algorithm} bytes=1000",
                "--out",
                "three",
            )
            self.assertEqual(result.returncode, 0, result.text)
            self.assertEqual(result.text.count("reduce     ok"), 1)
        machines = {re.sub("append: .*", "", (self.folder / "out" / "config.resolved.yaml").read_text())}
        self.reduce("other", 4, "scheme=compnet")
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
        """Energy is activity times parameters: twice the parameter, twice the energy; no active block takes none."""

        def energy(folder, *more):
            result = self.run_command(
                "run",
                CONFIGS / "compnet_pair.yaml",
                "--append",
                "work=reduce scheme=compnet bytes=65536 groups=2",
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
        for options, sizes in ("max=4096", 10), ("groups=32 min=64 max=64", 1):
            result = self.echo("async", "scheme=gds", "rounds=12", options)
            self.assertEqual(result.returncode, 0, result.text)
            found = result_lines(self.consoles("async")[0], "echo")
            self.assertEqual({line["backend"] for line in found}, {"gds"})
            self.assertEqual(len([line for line in found if line["time_ps"] > 0]), sizes)
            values = self.statistics("async")
            for n in (0, 1):
                self.assertEqual(values[f"node{n}.hca0.bad_doorbells"], 0)
                self.assertEqual(self.service_instructions(values, "ghn"), 0)

    def test_a_message_of_the_queue_that_fails(self):
        """The completion has an error: the queue stops, and the program learns why; the other side's packet times
        out."""
        result = self.echo("out", "scheme=gds", "astray=1", "min=64", "max=64")
        self.assertEqual(result.returncode, 1, result.text)
        mine, other = self.consoles("out")
        self.assertIn("work-group 0: request failed in round 1, status 0x113", mine)
        self.assertIn("work-group 0: request failed in round 1, status 0x100", other)

    def test_firmware_that_crashes_while_it_serves(self):
        """Work-groups get an error when their service has ended, the host reads a record, nothing hangs."""
        for threads, harts in (1, (0,)), (2, (0, 1)):
            result = self.echo(
                "out", "scheme=compnet", "crash=1", "groups=8", f"threads={threads}", "rounds=100", "min=64", "max=64"
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
            "out", "work=rate scheme=compnet", "crash=1", "groups=8", "messages=1000", "min=64", "max=64"
        )  # of which senders without waits get an error as well
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
                "out", "scheme=compnet", f"lock={lock}", "load=8", "groups=4", "rounds=6", "min=64", "max=64"
            )
            self.assertEqual(result.returncode, 0, result.text)
            (line,) = result_lines(self.consoles("out")[0], "load")
            self.assertEqual(line["groups"], 8)
            self.assertGreater(line["passes"], 0)
            values = self.statistics("out")
            locks, reads = (
                sum(v for name, v in values.items() if re.match(rf"node0\.gpu0\.memory\.l2\.bank\d+\.{what}$", name))
                for what in ("locks", "queue_reads")
            )
            self.assertEqual(locks, lock * 4 * 8)  # a request for each message, warm rounds included
            self.assertGreater(reads, 4 * 8)

    def processor(self, values, what):
        """Of the data caches of both nodes' command processors."""
        return sum(v for name, v in values.items() if re.search(rf"\.processor\.bus\d+\.data_cache\.{what}$", name))

    def test_releases_of_a_round(self):
        """The service orders its stores once for all that it finds in a round, not for each request."""
        drains = {}
        for groups in 1, 32:
            result = self.echo("out", f"groups={groups}", "rounds=30", "min=8", "max=8")
            self.assertEqual(result.returncode, 0, result.text)
            drains[groups] = self.processor(self.statistics("out"), "drains") / (2 * groups * 32)
        self.assertGreater(drains[1], 2)  # a request alone: its entry, its record, its status
        self.assertLess(drains[32], 1)

    def test_requests_in_the_gpus_memory(self):
        """Host threads read requests through the BAR: right, and slower than in their own memory."""
        time = {}
        for queues in "host", "gpu":
            result = self.echo("out", f"scheme=ghn queues={queues}", "groups=8 threads=2 rounds=6 min=8 max=64")
            self.assertEqual(result.returncode, 0, result.text)
            time[queues] = [line["time_ps"] for line in result_lines(self.consoles("out")[0], "echo")]
        self.assertTrue(all(slow > 1.5 * fast for slow, fast in zip(time["gpu"], time["host"])), time)
        for work in "jacobi rows=16 columns=64 groups=2 iterations=4 cores=1", "reduce bytes=10000 groups=2", "rate":
            result = self.echo("out", f"scheme=ghn queues=gpu work={work}")
            self.assertEqual(result.returncode, 0, result.text)

    def test_the_host_sleeps_while_kernels_run(self):
        """It waits for the completion's interrupt; with wait=poll it reads the signal all the time."""
        for config in "compnet_pair", "compnet_apu_pair":
            spent = {}
            for wait in "sleep", "poll":
                options = f"scheme=ghn rounds=40 min=64 max=64 wait={wait}"
                result = self.run_command("run", CONFIGS / f"{config}.yaml", "--append", options, "--out", "out")
                self.assertEqual(result.returncode, 0, result.text)
                values = self.statistics("out")
                spent[wait] = [values[f"node0.host.hart0.{what}"] for what in ("active_cycles", "instructions")]
            self.assertTrue(all(s < 0.5 * p for s, p in zip(spent["sleep"], spent["poll"])), spent)

    def test_doorbells(self):
        """A bit for each queue in place of a look at each: half of the cache misses, with many queues; no request is
        lost, also where a queue has several, and more than it or the send queue has room for."""
        misses = {}
        for rings in 0, 1:
            result = self.echo(f"of{rings}", f"doorbells={rings}", "groups=64 rounds=10 min=8 max=8")
            self.assertEqual(result.returncode, 0, result.text)
            misses[rings] = self.processor(self.statistics(f"of{rings}"), "misses")
        self.assertLess(misses[1], 0.55 * misses[0])
        for options in (
            "work=rate groups=40 messages=60 log_entries=1 max=8",
            "work=rate groups=13 threads=2 messages=200 log_entries=6 max=16",
            "work=reduce bytes=10000 groups=3 rounds=3",
            "work=jacobi rows=16 columns=64 groups=2 iterations=4 cores=1",
        ):
            result = self.echo("out", f"doorbells=1 {options}")
            self.assertEqual(result.returncode, 0, result.text)
        result = self.run_command("run", CONFIGS / "compnet_apu_pair.yaml", "--append", "doorbells=1 groups=9 max=64")
        self.assertEqual(result.returncode, 0, result.text)
        result = self.echo("out", "doorbells=1 astray=1 min=8 max=8")
        self.assertEqual(result.returncode, 1, result.text)
        self.assertIn("work-group 0: request failed in round 1, status 0x113", self.consoles("out")[0])

    def test_gpus_that_no_fabric_links(self):
        """Kernels run on the first one. Their code must not lie where it cannot be reached."""
        gpu = "{below: switch0, compute_units: 2, memory: {capacity: 256 MiB}}"
        for base, options, done in (
            ("compnet_pair", "rounds=1 max=64", "echo       ok"),
            ("gpurdma_cluster_4", "groups=2 count=256 rounds=1", "reduce     ok"),
        ):
            machine = self.write("two.yaml", f"base: {base}\nnode:\n  gpus: [{gpu}, {gpu}]\n")
            result = self.run_command("run", machine, "--append", options)
            self.assertEqual(result.returncode, 0, result.text + result.errors)
            self.assertIn(done, result.text)

    def test_options_of_tests_are_not_listed(self):
        result = self.echo("out", "thread=2")
        self.assertRegex(
            result.errors, r"there is no option thread, but [\w, ]*\block, load, queues, doorbells, wait\n$"
        )
        self.assertNotRegex(result.errors, "crash|astray")

    def test_invalid_options_are_reported(self):
        for options, words in (
            ("work=reduce bytes=10", "bytes=10: a multiple of 4"),
            ("work=reduce bytes=268435456", "bytes=268435456: 67108864 at most"),
            ("threads=9", "threads=9: 8 at most"),
            ("log_entries=7", "log_entries=7: 6 at most"),
            ("threads=2", "threads=2: 1 at most, since each serves a queue"),
            ("work=jacobi threads=3 groups=4", "threads=3: 2 at most"),
            ("scheme=hdn", "scheme=hdn: work=echo takes compnet, ghn, gpu_native or gds"),
            ("work=rate scheme=gds", "scheme=gds: work=rate takes compnet, ghn or gpu_native"),
            ("work=rate groups=8 messages=1000", "messages=1000: 64 at most, since all of them lie in memory"),
            ("scheme=gds groups=33", "groups=33: 32 at most"),
            ("rounds=x", "rounds is no number"),
            ("thread=2", "there is no option thread, but nodes, work, scheme, "),
            ("scheme=gpu", "scheme=gpu: one of compnet, ghn, gpu_native, hdn, cpu, gds"),
            ("scheme=9", "scheme=9: one of compnet, ghn, gpu_native, hdn, cpu, gds"),
            ("scheme=", "scheme=: one of compnet, ghn, gpu_native, hdn, cpu, gds"),
            ("scheme=0", "scheme=0 is now scheme=compnet"),
            ("work=2 scheme=5", "work=2 is now work=reduce"),
            ("work=reduce way=1", "way=1 is now algorithm=tree"),
            ("least=64", "least=64 is now min=64"),
            ("most=64", "most=64 is now max=64"),
            ("entries=3", "entries=3 is now log_entries=3"),
            ("driver=20", "driver=20 is now driver_us=20"),
            ("work=jacobi rows=10 groups=4", "rows=10: a multiple of groups=4"),
            ("work=jacobi columns=24", "columns=24: a multiple of 16"),
            ("work=jacobi cores=64", "cores=64: "),
            ("min=24", "min=24: a power of two"),
            ("threads=3 groups=3", "threads=3: 2 at most, harts of the command processor"),
            ("scheme=gpu_native lock=1", "lock=1: only with scheme=compnet"),
            ("queues=gpu", "queues=gpu: only with scheme=ghn"),
            ("queues=bar", "queues=bar: one of host, gpu"),
            ("scheme=ghn doorbells=1", "doorbells=1: only with scheme=compnet"),
            ("wait=spin", "wait=spin: one of sleep, poll"),
            ("work=reduce scheme=cpu wait=poll", "wait=poll: only with kernels to wait for"),
            ("work=reduce load=1", "load=1: only with work=echo"),
            ("work=reduce crash=1", "crash=1: only with scheme=compnet and work=echo or rate"),
            ("scheme=ghn crash=1", "crash=1: only with scheme=compnet"),
            ("work=reduce astray=1", "astray=1: only with work=echo"),
        ):
            with self.subTest(options):
                self.assert_rejected(self.echo("out", options), words)
                run = json.loads((self.folder / "out" / "run.json").read_text())
                self.assertEqual(run["outcome"], "refused")
                self.assertLess(run["time_s"], 0.01)  # the others do not wait for a response

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
