# SPDX-License-Identifier: Apache-2.0
"""Runs a page of docs/tutorials as its reader would: `tutorials.py PAGE…` compares what commands print with the page,
`tutorials.py --write PAGE…` puts into the page what they printed.

Blocks run in their order, in one folder:

- ```` ```c title="main.c" ```` (any language) is a file that the reader makes;
- ```` ```console ```` has commands behind `$ ` and what they print. A line that is only `…` stands for any lines, one
  that ends with `…` for any rest. A command that ends with `&` runs beside the next ones of its block.

Figures may be off by a fiftieth, since they follow changes of firmware and models. Wall times and rates of the
simulator are not compared, addresses neither, port 3333 is any free one,
the clone is /home/you/fabricvp."""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

TIMEOUT_S = 300
CLONE = pathlib.Path(__file__).resolve().parents[2]
_FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_VOLATILE = [(re.compile(r"simulated in [\d.]+ s"), "simulated in 0 s"), (re.compile(r"[\d,.]+ MIPS"), "0 MIPS")]


#: Decimal figures; addresses, which move with the code.
_FIGURE = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*[A-Za-z_])|0x[0-9a-f]{7,}")
TOLERANCE = 0.02
#: What `make` leaves in the environment of what it runs.
OF_MAKE = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "GNUMAKEFLAGS"}


def plain(line):
    """A line without what differs between two runs."""
    for pattern, replacement in _VOLATILE:
        line = pattern.sub(replacement, line)
    return line.rstrip()


def agree(want, got):
    """Whether two lines have the same words and figures. Figures may be off by `TOLERANCE`, since simulated times
    follow each change of firmware; addresses may be others."""
    if _FIGURE.sub("0", want) != _FIGURE.sub("0", got):
        return False
    for a, b in zip(_FIGURE.findall(want), _FIGURE.findall(got)):
        if a.startswith("0x") != b.startswith("0x"):
            return False
        if not a.startswith("0x") and abs(float(a) - float(b)) > TOLERANCE * float(a):
            return False
    return True


def matches(expected, printed):
    """Whether these lines are those, with `…` for any lines, and behind a beginning for any rest."""
    if not expected:
        return not printed
    if expected[0].strip() == "…":
        return any(matches(expected[1:], printed[i:]) for i in range(len(printed) + 1))
    if not printed:
        return False
    want, got = plain(expected[0]), plain(printed[0])
    same = got.startswith(want[:-1].rstrip()) if want.endswith("…") else agree(want, got)
    return same and matches(expected[1:], printed[1:])


#: Figures of any kind, for finding a line among others; those of the host, which stay as the page has them.
_ANY_FIGURE = re.compile(r"0x[0-9a-f]+|\d[\d.,]*")
_OF_HOST = re.compile(r"(?<= s simulated in )[\d.]+(?= s)|(?<=, )[\d.]+(?= MIPS)")


def _words(line):
    return _ANY_FIGURE.sub("#", line.rstrip())


def _distance(shown, printed):
    """How many figures of two lines with the same words differ by more than a tenth."""

    def is_near(a, b):
        try:
            return abs(float(a) - float(b)) <= 0.1 * abs(float(a))
        except ValueError:  # an address, a version
            return False

    pairs = zip(_ANY_FIGURE.findall(shown), _ANY_FIGURE.findall(printed))
    return sum(a != b and not is_near(a, b) for a, b in pairs)


def refreshed(shown, printed, unknown):
    """Lines of a page with the figures of the printed lines that have their words, in their order; of several the one
    whose figures are nearest. Wall times and MIPS stay. Lines whose words nothing printed stay, and go to `unknown`."""
    lines, rest = [], printed
    for line in shown:
        cut = line.endswith("…")
        known = _words(line.removesuffix("…"))
        alike = [i for i, each in enumerate(rest) if (_words(each).startswith(known) if cut else _words(each) == known)]
        if line == "…" or not alike:
            lines.append(line)
            if line not in ("…", ""):
                unknown.append(line)
            continue
        at = min(alike, key=lambda i: (_distance(line, rest[i]), i))
        own = iter(_OF_HOST.findall(line))
        new = _OF_HOST.sub(lambda found, own=own: next(own, found[0]), rest[at])
        lines.append(new if not cut else line if len(new) < len(line) - 1 else new[: len(line) - 1] + "…")
        rest = rest[at + 1 :]
    return lines


class Reader:
    """Works through a page in a folder."""

    def __init__(self, folder):
        self.folder, self.beside = folder, []
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = str(s.getsockname()[1])
        # A reader's shell is not make's: under `make test`, make would say which folder it enters.
        inherited = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
        self.environment = {
            **inherited,
            "PATH": f"{pathlib.Path(sys.prefix) / 'bin'}:{os.environ['PATH']}",
            "COLUMNS": "120",
        }

    def file(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("3333", self.port))

    def run(self, command):
        """What a command prints."""
        command = command.replace("3333", self.port)
        options = {"cwd": self.folder, "env": self.environment, "stdin": subprocess.DEVNULL}
        if command.endswith("&"):
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            self.beside.append(subprocess.Popen(["bash", "-c", f"exec {command[:-1]}"], **options, **quiet))
            return []
        done = subprocess.run(
            ["bash", "-c", command],
            **options,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
        )
        text = done.stdout.replace("\r", "").replace(self.port, "3333").replace(str(CLONE), "/home/you/fabricvp")
        return text.splitlines()

    def wait(self):
        """For what ran beside a block's commands; `AssertionError` if it does not end."""
        for process in self.beside:
            try:
                process.wait(TIMEOUT_S)
            finally:
                process.kill()
        self.beside.clear()


def work_through(page, folder, complain):
    """Runs a page; `complain(command, expected lines, printed lines)` for each command that printed something else.
    Returns the page with what was printed; lines of commands that leave something out get its figures."""
    reader = Reader(folder)

    def block(found):
        language, title, text = found.groups()
        if title:
            reader.file(title, text)
        if language != "console":
            return found[0]
        renewed = ""
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, *expected = part.splitlines()
            printed = reader.run(command)
            if not matches(expected, printed):
                complain(command, expected, printed)
            expected = refreshed(expected, printed, []) if any("…" in line for line in expected) else printed
            renewed += "\n".join([f"$ {command}", *expected]) + "\n"
        reader.wait()
        return f"```console\n{renewed}```"

    return _FENCE.sub(block, page)


def main(arguments):
    write, status = "--write" in arguments, 0

    def complain(command, expected, printed):
        nonlocal status
        status = 1
        print(f"$ {command}", *printed, "", sep="\n")

    for name in arguments:
        if name != "--write":
            page = pathlib.Path(name)
            with tempfile.TemporaryDirectory() as folder:
                renewed = work_through(page.read_text(), pathlib.Path(folder), complain)
            if write:
                page.write_text(renewed)
    return 0 if write else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
