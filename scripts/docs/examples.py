# SPDX-License-Identifier: Apache-2.0
"""Runs commands that pages show, and puts the figures that they print today in the place of those that stand there.

    .venv/bin/python scripts/docs/examples.py docs/howto/compnet.md            each `fabricvp run` and `replay`
    .venv/bin/python scripts/docs/examples.py docs/howto/guide.md two_nodes    those that contain a word

Lines keep their places: one that a page shows takes the figures of the printed line with the same words whose figures
are nearest. Wall time and MIPS stay, since they are another host's. Lines whose words nothing printed are named; their
page needs a person. Exit status 1 if there are any. Tutorials, whose commands build on each other, have
tests/python/tutorials.py."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = re.compile(r"\$ fabricvp (?:run|replay) ")
FIGURE = re.compile(r"0x[0-9a-f]+|\d[\d.,]*")
HOST = re.compile(r"(?<= s simulated in )[\d.]+(?= s)|(?<=, )[\d.]+(?= MIPS)")


def words(line: str) -> str:
    """A line without its figures, and without what an ellipsis at its end leaves out."""
    return FIGURE.sub("#", line.rstrip())


def printed_by(command: str, folder: str) -> list[str]:
    """What a command prints, standard error included."""
    launcher = REPOSITORY / ".venv/bin"
    environment = {**os.environ, "PATH": f"{launcher}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.stdout.splitlines()


def distance(shown: str, printed: str) -> int:
    """How many figures of two lines with the same words are others, by more than a tenth."""
    pairs = zip(FIGURE.findall(shown), FIGURE.findall(printed))
    return sum(a != b and not is_near(a, b) for a, b in pairs)


def is_near(a: str, b: str) -> bool:
    """Whether two figures differ by a tenth at most."""
    try:
        return abs(float(a) - float(b)) <= 0.1 * abs(float(a))
    except ValueError:  # an address, a version
        return False


def refreshed(shown: list[str], printed: list[str], unknown: list[str]) -> list[str]:
    """The lines of a block behind a command."""
    lines, rest = [], printed
    for line in shown:
        cut = line.endswith("…")
        known = words(line.removesuffix("…"))
        alike = [i for i, each in enumerate(rest) if (words(each).startswith(known) if cut else words(each) == known)]
        if line == "…" or not alike:
            lines.append(line)
            if line not in ("…", ""):
                unknown.append(line)
            continue
        at = min(alike, key=lambda i: (distance(line, rest[i]), i))
        own = iter(HOST.findall(line))
        new = HOST.sub(lambda found, own=own: next(own, found[0]), rest[at])
        lines.append(new if not cut else line if len(new) < len(line) - 1 else new[: len(line) - 1] + "…")
        rest = rest[at + 1 :]
    return lines


def main(page: Path, wanted: list[str]) -> int:
    """Rewrites a page."""
    unknown: list[str] = []

    def block(found: re.Match[str]) -> str:
        parts: list[list[str]] = []
        for line in found[1].splitlines():
            if line.startswith("$ "):
                parts.append([line])
            elif parts:
                parts[-1].append(line)
            else:
                return found[0]
        if not all(RUN.match(part[0]) for part in parts) or not all(word in found[1] for word in wanted):
            return found[0]
        with tempfile.TemporaryDirectory() as folder:
            for name in ("configs", "examples", "firmware"):
                os.symlink(REPOSITORY / name, Path(folder) / name)
            for part in parts:
                print(part[0], file=sys.stderr)
                part[1:] = refreshed(part[1:], printed_by(part[0][2:], folder), unknown)
        return "```console\n" + "".join(f"{line}\n" for part in parts for line in part) + "```"

    page.write_text(BLOCK.sub(block, page.read_text()))
    for line in unknown:
        print(f"{page}: nothing printed is like {shlex.quote(line)}", file=sys.stderr)
    return 1 if unknown else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
