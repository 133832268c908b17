# SPDX-License-Identifier: Apache-2.0
"""The console on a terminal: raw while the machine runs, as it was afterwards."""

import os
import pty
import select
import signal
import subprocess
import termios
import time

import command
from command import CommandTest, print_text
from runs_test import ECHO


class Terminal(CommandTest):
    def setUp(self):
        super().setUp()
        self.master, self.slave = pty.openpty()
        self.addCleanup(os.close, self.master)
        self.addCleanup(os.close, self.slave)
        self.before = termios.tcgetattr(self.slave)

    def start(self):
        config = self.machine(print_text("ready\n") + ECHO)
        process = subprocess.Popen(
            [command.FABRICVP, "run", config, "--out", str(self.folder / "out")],
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
        self.assertIn(b"the console was closed", process.stderr.read())

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


if __name__ == "__main__":
    command.main()
