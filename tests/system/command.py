# SPDX-License-Identifier: Apache-2.0
"""Runs the command, and makes small programs for it."""

import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))  # whose modules without bindings tests use

FABRICVP = os.environ["FABRICVP"]
#: Seconds after which a command that takes one or two hangs: much longer than a busy machine or a sanitizer makes it.
TIMEOUT_S = int(os.environ.get("FABRICVP_TEST_TIMEOUT", 600))

DRAM = 0x80000000
UART = 0x10000000
FINISHER = 0x100000
PASS, FAIL, RESET = 0x5555, 0x3333, 0x7777


def _word(value):
    return struct.pack("<I", value & 0xFFFFFFFF)


def li(register, value):
    """Loads an unsigned 32-bit constant (lui, addiw, and a pair of shifts that clears what these extended)."""
    low = ((value & 0xFFF) ^ 0x800) - 0x800
    both = register << 15 | register << 7
    return (
        _word((value - low) & 0xFFFFF000 | register << 7 | 0x37)
        + _word((low & 0xFFF) << 20 | both | 0x1B)
        + _word(0x02001013 | both)
        + _word(0x02005013 | both)
    )


def store(address, value, width=2):
    """Stores a constant; width 0 is a byte, 2 a word, 3 a doubleword."""
    return li(5, address) + li(6, value) + _word(6 << 20 | 5 << 15 | width << 12 | 0x23)


def print_text(text):
    return b"".join(store(UART, ord(c), 0) for c in text)


def load_byte(address):
    return li(5, address) + _word(5 << 15 | 4 << 12 | 6 << 7 | 0x03)


#: Echoes what is typed, and goes on behind at a "q": li t2,'q'; lbu t1,5(uart); andi t1,t1,1; beqz t1,-8;
#: lbu t1,0(uart); beq t1,t2,+12; sb t1,0(uart); j -24
UNTIL_Q = li(5, UART) + b"".join(
    _word(w) for w in (0x07100393, 0x0052C303, 0x00137313, 0xFE030CE3, 0x0002C303, 0x00730663, 0x00628023, 0xFE9FF06F)
)
FOREVER = _word(0x6F)  # j .
WAIT = _word(0x10500073) + _word(0xFFDFF06F)  # wfi; j -4
HART0_ONLY = _word(0x00050663) + WAIT  # beqz a0, behind; the others wait


def finish(status=0):
    return store(FINISHER, PASS if status == 0 else status << 16 | FAIL)


def elf(code, address=DRAM, symbols=(), machine=243, entry=None):
    """An RV64 executable of one segment."""
    names, table = b"\0", struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    for name, value in symbols:
        table += struct.pack("<IBBHQQ", len(names), 0, 0, 0xFFF1, value, 0)
        names += name.encode() + b"\0"
    body = 64 + 56
    sections = [
        bytes(64),
        struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, body + len(code), len(table), 2, 0, 8, 24),
        struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, body + len(code) + len(table), len(names), 0, 0, 1, 0),
    ]
    header = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack(
            "<HHIQQQIHHHHHH",
            2,
            machine,
            1,
            entry or address,
            64,
            body + len(code) + len(table) + len(names),
            0,
            64,
            56,
            1,
            64,
            3,
            0,
        )
    )
    segment = struct.pack("<IIQQQQQQ", 1, 7, body, address, address, len(code), len(code), 1)
    return header + segment + code + table + names + b"".join(sections)


class CommandTest(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fabricvp-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, contents):
        path = self.folder / name
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return str(path)

    def run_command(self, *arguments, stdin=b"", timeout=TIMEOUT_S, environment=None):
        result = subprocess.run(
            [FABRICVP, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            timeout=timeout,
            cwd=self.folder,
            env={**os.environ, **(environment or {})},
        )
        result.text = result.stdout.decode(errors="replace")
        result.errors = result.stderr.decode()  # must be UTF-8
        return result

    def succeed(self, *arguments, **options):
        result = self.run_command(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.errors)
        return result

    def assert_same_statistics(self, one, other):
        """Two folders of runs have the same regions, and no statistic of any differs, each by itself."""
        text = self.succeed("diff", one, other, "--all").text
        differing = re.findall(r"(?m)^(\d+) of \d+ statistics differ", text)
        self.assertTrue(differing and not any(map(int, differing)), text)
        self.assertNotRegex(text, r"(?m) is in .* alone$")

    def assert_rejected(self, result, says):
        """A guest has rejected its options: one line, without a wait."""
        self.assertEqual(result.returncode, 2, result.text + result.errors)
        self.assertRegex(result.errors, r"^fabricvp: node\d: [^\n]+\n$")
        self.assertIn(says, result.errors)

    def machine(self, code, more="", **elf_options):
        """A configuration whose firmware is `code`."""
        self.write("guest.elf", elf(code, **elf_options))
        return self.write("machine.yaml", "node:\n  images: {firmware: guest.elf}\n" + more)


def main():
    unittest.main(verbosity=1)
