# SPDX-License-Identifier: Apache-2.0
"""Files that cannot be written, limits of the system, and how run.json says that a run ended."""

import json
import os
import resource
import signal
import subprocess
import time

import command
from command import FOREVER, UART, CommandTest, _word, finish, li, print_text

# Prints for ever: sb t1,0(t0); j -4
NOISE = li(5, UART) + li(6, ord("x")) + _word(0x00628023) + _word(0xFFDFF06F)


class Limits(CommandTest):
    def assert_unwritable(self, result, path, why):
        self.assertEqual(result.returncode, 2, result.errors)
        self.assertEqual(result.errors, f"fabricvp: {path}: cannot write: {why}\n")

    def record(self, folder="out"):
        return json.loads((self.folder / folder / "run.json").read_text())

    def limited(self, *arguments, **limits):
        """Runs the command under limits of the system."""

        def limit():
            for name, value in limits.items():
                resource.setrlimit(getattr(resource, name), (value, resource.RLIM_INFINITY))

        return subprocess.run(
            [command.FABRICVP, *arguments],
            capture_output=True,
            timeout=command.TIMEOUT_S,
            cwd=self.folder,
            preexec_fn=limit,
            stdin=subprocess.DEVNULL,
        )

    def test_a_console_file_on_a_full_disk(self):
        config = self.machine(print_text("lost") + finish())
        result = self.run_command("run", config, "--console", "file:/dev/full", "--out", "out")
        self.assert_unwritable(result, "/dev/full", "No space left on device")
        self.assertIs(self.record()["complete"], False)

    def test_a_limit_of_file_sizes(self):
        config = self.machine(NOISE)
        for console in ("file:log", "none"):  # the second fills the log in the folder
            result = self.limited(
                "run", config, "--console", console, "--out", "out", "--time", "1s", "--quiet", RLIMIT_FSIZE=20_000
            )
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(b"cannot write: File too large\n", result.stderr)
            self.assertIs(self.record()["complete"], False)

    def test_a_trace_that_the_disk_has_no_room_for(self):
        config = self.machine(NOISE)
        arguments = ["run", config, "--console", "none", "--out", "out", "--time", "20ms", "--quiet", "--trace"]
        result = self.limited(*arguments, RLIMIT_FSIZE=40_000)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, rb"^fabricvp: [^\n]+\n$")
        self.assertIs(self.record()["complete"], False)

    def test_a_limit_of_processor_time(self):
        result = self.limited("run", self.machine(NOISE), "--console", "none", "--out", "out", RLIMIT_CPU=2)
        self.assertEqual(result.returncode, 130, result.stderr)
        self.assertEqual((self.record()["complete"], self.record()["ended"]), (True, "interrupted"))
        self.assertTrue((self.folder / "out/stats.json").exists())

    def test_a_fifo_that_nothing_reads(self):
        os.mkfifo(self.folder / "pipe")
        result = self.run_command("run", self.machine(finish()), "--console", "file:pipe", timeout=60)
        self.assert_unwritable(result, "pipe", "nothing reads this FIFO")

    def test_a_fifo_whose_reader_waits(self):
        """The check before the run must not look like the end to it."""
        os.mkfifo(self.folder / "fifo")
        reader = subprocess.Popen(["cat", self.folder / "fifo"], stdout=subprocess.PIPE)
        self.addCleanup(reader.kill)
        time.sleep(0.3)  # without a reader the FIFO is refused
        self.succeed("run", self.machine(print_text("all of it") + finish()), "--console", "file:fifo", "--quiet")
        self.assertEqual(reader.communicate(timeout=command.TIMEOUT_S)[0], b"all of it")

    def test_a_rejected_run_leaves_the_console_file(self):
        config = self.machine(print_text("new") + finish())
        self.write("log", "old")
        for more in (["--record", "x"], ["--capture", "x"], ["--script", "none"], ["--console", "node1=none"]):
            result = self.run_command("run", config, "--console", "file:log", *more)
            self.assertEqual(result.returncode, 2, result.errors)
            self.assertEqual((self.folder / "log").read_text(), "old", more)
        self.succeed("run", config, "--console", "file:log")
        self.assertEqual((self.folder / "log").read_text(), "new")

    def test_a_console_file_ends_at_its_limit(self):
        arguments = ["--console", "file:log", "--console-limit", "10KiB", "--time", "10ms", "--out", "out"]
        result = self.succeed("run", self.machine(NOISE), *arguments)
        for log in ("log", "out/console.node0.log"):
            text = (self.folder / log).read_text()
            self.assertTrue(text.startswith("x" * 10240 + "\n["), log)
            self.assertLess(len(text), 10400)
            self.assertEqual(result.errors.count(f": {log} has reached its limit of 10 KiB"), 1, result.errors)
        self.assertEqual(self.run_command("run", "bare", "--console-limit", "many").returncode, 2)

    def test_a_capture_ends_at_its_limit(self):
        for name in "whole.pcap", "whole.csv":
            arguments = ["run", "network_fat_tree", "--time", "20us", "--capture"]
            self.succeed(*arguments, name, "--quiet")
            limited = name.replace("whole", "limited")
            result = self.succeed(*arguments, limited, "--capture-limit", "10KiB")
            says = f": {limited} has reached its limit of 10 KiB; packets from now on are not in it"
            self.assertEqual(result.errors.count(says), 1, result.errors)
            whole, part = ((self.folder / file).read_bytes() for file in (name, limited))
            self.assertGreater(len(whole), 20480)
            self.assertTrue(8192 < len(part) <= 10240 and whole.startswith(part), len(part))
            at = 24  # records behind the head are whole
            while name.endswith(".pcap") and at != len(part):
                self.assertLess(at, len(part))
                at += 16 + int.from_bytes(part[at + 8 : at + 12], "little")
            self.assertTrue(name.endswith(".pcap") or part.endswith(b"\n"))
        self.assert_one_line(["--capture-limit", "1KiB"], "--capture-limit needs --capture")
        self.assert_one_line(["--capture", "x", "--capture-limit", "much"], "--capture-limit")

    def assert_one_line(self, arguments, says):
        result = self.run_command("run", "network_fat_tree", *arguments)
        self.assertEqual((result.returncode, result.errors.count("\n")), (2, 1), result.errors)
        self.assertIn(says, result.errors)

    def test_a_capture_appears_when_it_is_whole(self):
        self.write("packets.pcap", "of an earlier run")
        process = subprocess.Popen(
            [command.FABRICVP, "run", "network_fat_tree", "--capture", "packets.pcap"],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
        )
        self.addCleanup(process.kill)
        deadline = time.monotonic() + command.TIMEOUT_S
        while not any(path.stat().st_size for path in self.folder.glob("packets.pcap.*.tmp")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        process.kill()
        process.wait(command.TIMEOUT_S)
        self.assertEqual((self.folder / "packets.pcap").read_text(), "of an earlier run")
        self.succeed("run", "network_fat_tree", "--capture", "new.pcap", "--time", "10us", "--quiet")
        self.assertGreater((self.folder / "new.pcap").stat().st_size, 1000)
        self.assertEqual(list(self.folder.glob("new.pcap.*")), [])
        os.mkfifo(self.folder / "fifo")
        with open(self.folder / "read", "wb") as read:
            reader = subprocess.Popen(["cat", self.folder / "fifo"], stdout=read)
        self.addCleanup(reader.kill)
        time.sleep(0.3)  # without a reader the FIFO is refused
        self.succeed("run", "network_fat_tree", "--capture", "fifo", "--time", "10us", "--quiet")
        reader.wait(command.TIMEOUT_S)
        self.assertEqual((self.folder / "read").read_bytes(), (self.folder / "new.pcap").read_bytes())

    def test_how_runs_end(self):
        self.succeed("run", self.machine(finish()), "--out", "out")
        self.assertEqual(self.record()["ended"], "guest")
        self.succeed("run", self.machine(FOREVER), "--time", "1ms", "--out", "out")
        self.assertEqual(self.record()["ended"], "time")

    def test_a_second_interrupt_ends_at_once(self):
        process = subprocess.Popen(
            [command.FABRICVP, "run", self.machine(print_text("ready") + FOREVER), "--out", str(self.folder / "out")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.read(5), b"ready")
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(command.TIMEOUT_S), 130)


if __name__ == "__main__":
    command.main()
