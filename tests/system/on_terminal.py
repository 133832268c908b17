# SPDX-License-Identifier: Apache-2.0
"""Runs commands on a terminal of their own."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios

END = b"\x1b[end of the run]"


def on_terminal(command, columns=0, **options):
    """What a command shows on a terminal, and its status."""
    master, slave = pty.openpty()
    if columns:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    seen = b""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, **options) as process:
        while process.poll() is None:
            if select.select([master], [], [], 0.05)[0]:
                seen += os.read(master, 4096)
    # What it wrote last may still be on its way, and is lost where the slave is closed by all.
    os.write(slave, END)
    while not seen.endswith(END):
        seen += os.read(master, 4096)
    os.close(slave)
    os.close(master)
    return seen.removesuffix(END).decode(), process.returncode
