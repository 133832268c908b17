# SPDX-License-Identifier: Apache-2.0
"""The console on a terminal: raw while the machine runs, as it was afterwards."""

import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import termios
import time

import command
from command import DRAM, FOREVER, CommandTest, print_text
from on_terminal import on_terminal
from runs_test import ECHO

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])


class Terminal(CommandTest):
    def setUp(self):
        super().setUp()
        self.master, self.slave = pty.openpty()
        self.addCleanup(os.close, self.master)
        self.addCleanup(os.close, self.slave)
        self.before = termios.tcgetattr(self.slave)

    def start(self, *more):
        code = (print_text("ready\n") + ECHO).ljust(0x1008, b"\0")
        config = self.machine(code, symbols=[("tohost", DRAM + 0x1000)])
        process = subprocess.Popen(
            [command.FABRICVP, "run", config, "--out", str(self.folder / "out"), *more],
            stdin=self.slave,
            stdout=self.slave,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        self.expect(b"ready")
        return process

    def expect(self, text):
        seen = b""
        end = time.monotonic() + command.TIMEOUT_S
        while text not in seen and time.monotonic() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                seen += os.read(self.master, 1000)
        self.assertIn(text, seen)

    def test_keys_reach_the_guest_and_ctrl_bracket_leaves(self):
        process = self.start()
        self.assertFalse(termios.tcgetattr(self.slave)[3] & termios.ICANON)
        os.write(self.master, b"ab\x03\x01\x01c")  # Ctrl-C and an escaped Ctrl-A are the guest's
        self.expect(b"ab\x03\x01c")
        os.write(self.master, b"\x1d")
        self.assertEqual(process.wait(command.TIMEOUT_S), 0)
        self.assertEqual(termios.tcgetattr(self.slave), self.before)
        told = process.stderr.read()
        self.assertIn(b"the console was closed", told)
        self.assertTrue(told.startswith(b"fabricvp: keys go to the guest, Ctrl-C too; Ctrl-] ends the run\n"), told)

    def test_ctrl_c_ends_a_run_that_is_to_give_a_result(self):
        """As do those of --app, --program and --kernel-elf."""
        for keys in (b"\x03", b"\x1d"):
            process = self.start("--tohost")
            os.write(self.master, b"a" + keys)
            self.assertEqual(process.wait(command.TIMEOUT_S), 130)
            self.assertEqual(termios.tcgetattr(self.slave), self.before)
            self.assertIn(b"fabricvp: Ctrl-C ends the run, a second one at once\n", process.stderr.read())
            run = json.loads((self.folder / "out/run.json").read_text())
            self.assertEqual((run["complete"], run["ended"]), (True, "interrupted"))

    def test_ctrl_a_x_leaves(self):
        process = self.start()
        os.write(self.master, b"\x01x")
        self.assertEqual(process.wait(command.TIMEOUT_S), 0)
        self.assertEqual(termios.tcgetattr(self.slave), self.before)

    def test_a_signal_gives_the_terminal_back(self):
        process = self.start()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(command.TIMEOUT_S), 130)
        self.assertEqual(termios.tcgetattr(self.slave), self.before)


class Progress(CommandTest):
    """Of runs that take more than two seconds, on a terminal alone."""

    def run_on_terminal(self, *arguments, columns=0):
        command_line = [command.FABRICVP, *map(str, arguments)]
        seen, status = on_terminal(command_line, columns, cwd=self.folder)
        self.assertEqual(status, 0, seen)
        return seen

    def test_how_long_it_takes_still(self):
        busy = ("run", self.machine(print_text("on\n") + FOREVER), "--time", "6s")
        seen = self.run_on_terminal(*busy, columns=200)
        self.assertRegex(seen, r"on\r*\n\r\x1b\[K\d\.\d+ s simulated, [\d.e+]+ .?s/s, [\d.]+ MIPS, about \d+ s left")
        self.assertIn("\r\x1b[Kfabricvp: the time limit was reached", seen)
        for line in self.run_on_terminal(*busy, columns=40).split("\r\x1b[K")[1:-1]:
            if not line.endswith("\n"):  # on a busy machine a line says that it will take long
                self.assertLess(len(line), 40)
        self.assertNotIn("simulated,", self.run_on_terminal(*busy, "--quiet"))
        silent = self.succeed(*busy)
        self.assertEqual(len(silent.errors.splitlines()), 1)

    def test_kernels_and_their_work_groups(self):
        seen = self.run_on_terminal(
            "run", CONFIGS / "netcrafter_quad.yaml", "--app", "gups", "--size", 1 << 22, columns=200
        )
        self.assertRegex(seen, r"kernel gups \d+ of \d+ work-groups")

    def test_tables_fit(self):
        for arguments in ("list",), ("apps",), ("--help",), ("describe", CONFIGS / "hello.yaml", "node0.host.uart"):
            shown = self.run_on_terminal(*arguments, columns=90)
            self.assertLessEqual(max(map(len, shown.splitlines())), 90, arguments)
        listed = self.run_on_terminal("list", columns=90)
        words = " ".join(listed.split())
        self.assertEqual(words, " ".join(self.succeed("list").text.split()))
        self.assertGreater(len(listed.splitlines()), len(self.succeed("list").text.splitlines()))


if __name__ == "__main__":
    command.main()
