# SPDX-License-Identifier: Apache-2.0
"""The folder of a run's results: whole or marked as not, of one run alone, and not of two at once."""

import json
import os
import signal
import subprocess
import time

import command
from command import FOREVER, CommandTest, finish, print_text, store
from runs_test import ECHO


class Results(CommandTest):
    def begin(self, config, *arguments):
        """Starts a run and gives it once its guest has said "ready"."""
        process = subprocess.Popen(
            [command.FABRICVP, "run", config, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env={**os.environ, "TMPDIR": str(self.folder)},
        )
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def forever(self):
        return self.machine(print_text("ready\n") + FOREVER)

    def record(self, folder="out"):
        return json.loads((self.folder / folder / "run.json").read_text())

    def names(self, folder="out"):
        return sorted(p.name for p in (self.folder / folder).iterdir())

    def refused(self, *arguments, says):
        result = self.run_command(*arguments)
        self.assertEqual(result.returncode, 2, result.errors)
        self.assertIn(says, result.errors)
        self.assertEqual(len(result.errors.splitlines()), 1)

    def test_the_record_of_a_run(self):
        self.run_command("run", self.machine(finish(3)), "--out", "out", "--set", "simulation.seed=7", "--quiet")
        run = self.record()
        self.assertTrue(run["complete"])
        self.assertRegex(run["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(run["command"][:2], ["fabricvp", "run"])
        self.assertEqual(run["command"][-2:], ["simulation.seed=7", "--quiet"])
        self.assertEqual((run["seed"], run["until"], run["outcome"], run["status"]), (7, "all", "guest_failure", 3))
        node = run["nodes"][0]
        self.assertEqual(
            (node["node"], node["outcome"], node["status"], node["detail"]),
            ("node0", "failed", 3, "node0 reported failure 3"),
        )
        self.assertEqual(node["time_s"], run["time_s"])

    def test_a_guest_that_refuses_ends_the_run(self):
        """Any node, while others still run: its last line, and status 2."""
        self.write("refuses.elf", command.elf(print_text("hello\nrows=3: a multiple of 4\n") + finish(2)))
        config = self.machine(FOREVER, "nodes: [{}, {images: {firmware: refuses.elf}}]\nsimulation: {until: all}\n")
        for until in "all", "node0":
            result = self.run_command("run", config, "--out", "out", "--set", f"simulation.until={until}", "--quiet")
            self.assertEqual((result.returncode, result.errors), (2, "fabricvp: node1: rows=3: a multiple of 4\n"))
            run = self.record()
            self.assertEqual(
                (run["outcome"], run["status"], run["detail"]), ("refused", 2, "node1: rows=3: a multiple of 4")
            )
            self.assertEqual([node["outcome"] for node in run["nodes"]], ["running", "failed"])
        self.write("refuses.elf", command.elf(store(command.UART, 0xE9, 0) + finish(2)))
        self.assertEqual(self.run_command("run", config, "--quiet").errors, "fabricvp: node1: \\xe9\n")
        self.write("refuses.elf", command.elf(finish(2)))
        self.assertEqual(
            self.run_command("run", config, "--quiet").errors, "fabricvp: node1 refuses what it was asked for\n"
        )

    def test_a_killed_run_leaves_no_results(self):
        process = self.begin(self.forever(), "--out", "out", "--trace")
        self.assertFalse(self.record()["complete"])
        process.kill()
        process.communicate()
        self.assertEqual(self.names(), ["console.node0.log", "run.json"])
        self.assertEqual((self.folder / "out/console.node0.log").read_text(), "ready\n")
        self.refused("diff", "out", "out", says="run.json: this run has not ended, or was killed")
        self.assertEqual(list(self.folder.glob("fabricvp-trace*")), [])
        self.succeed("run", self.machine(finish()), "--out", "out", "--quiet")  # the lock went with the process
        self.assertTrue(self.record()["complete"])

    def test_signals_leave_results(self):
        for number in signal.SIGHUP, signal.SIGTERM:
            process = self.begin(self.forever(), "--out", "out")
            process.send_signal(number)
            process.communicate(timeout=command.TIMEOUT_S)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(self.record()["outcome"], "interrupted")
            self.assertEqual(self.record()["nodes"][0]["outcome"], "running")
            self.assertIn("stats.json", self.names())

    def test_nohup_is_obeyed(self):
        process = subprocess.Popen(
            [command.FABRICVP, "run", self.forever(), "--time", "20ms", "--quiet"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        )
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=command.TIMEOUT_S)
        self.assertEqual(process.returncode, 0)

    def test_two_runs_do_not_mix(self):
        self.succeed("run", self.machine(ECHO), "--out", "out", "--time", "1ms", "--trace", "--quiet", stdin=b"typed")
        self.write("out/notes.txt", "mine")
        self.write("out/stats.json.4711.tmp", "left over")
        self.assertIn("trace.json", self.names())
        self.assertIn("console.node0.input", self.names())
        self.succeed("run", self.machine(finish()), "--out", "out", "--quiet")
        self.assertEqual(
            self.names(),
            [
                "config.resolved.yaml",
                "console.node0.log",
                "notes.txt",
                "run.json",
                "stats.csv",
                "stats.json",
                "topology.json",
            ],
        )

    def test_two_runs_at_once(self):
        process = self.begin(self.forever(), "--out", "out")
        self.refused(
            "run", self.forever(), "--time", "1ms", "--out", "out", says="out: another run is leaving its results there"
        )
        process.terminate()
        process.communicate(timeout=command.TIMEOUT_S)
        self.assertEqual(self.record()["outcome"], "interrupted")
        self.assertEqual((self.folder / "out/console.node0.log").read_text(), "ready\n")

    def test_bad_input_leaves_earlier_results_alone(self):
        self.succeed("run", self.machine(finish()), "--out", "out", "--quiet")
        before = {p.name: p.read_bytes() for p in (self.folder / "out").iterdir()}
        for bad in (
            ("--set", "node.host.hrats=1"),
            ("--firmware", "nowhere.elf"),
            ("--console", "nowhere"),
            ("--trace-size", "1 kB"),
        ):
            self.run_command("run", self.folder / "machine.yaml", "--out", "out", *bad)
            self.assertEqual({p.name: p.read_bytes() for p in (self.folder / "out").iterdir()}, before, bad)

    def test_consoles_are_logged_as_they_come(self):
        self.begin(self.forever(), "--out", "out")
        end = time.monotonic() + command.TIMEOUT_S
        while (self.folder / "out/console.node0.log").read_text() != "ready\n":
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)


if __name__ == "__main__":
    command.main()
