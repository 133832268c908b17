# SPDX-License-Identifier: Apache-2.0
"""Runs commands that pages show, and puts the figures that they print today in the place of those that stand there.

    .venv/bin/python tests/python/page_examples.py docs/howto/compnet.md            each `fabricvp run` and `replay`
    .venv/bin/python tests/python/page_examples.py docs/howto/guide.md two_nodes    blocks that contain a word

Lines stay as tutorials.refreshed() says. Those whose words nothing printed are named; their page needs a person. Exit
status 1 if there are any. Tutorials, whose commands build on each other, have tutorials.py."""

import pathlib
import re
import sys
import tempfile

import tutorials

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = re.compile(r"\$ fabricvp (?:run|replay) ")


def main(page, wanted):
    """Rewrites a page."""
    unknown = []

    def block(found):
        parts = []
        for line in found[1].splitlines():
            if line.startswith("$ "):
                parts.append([line])
            elif parts:
                parts[-1].append(line)
            else:
                return found[0]
        if not all(RUN.match(part[0]) for part in parts) or not all(word in found[1] for word in wanted):
            return found[0]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for inside in ("configs", "examples", "firmware"):
                (folder / inside).symlink_to(tutorials.CLONE / inside)
            reader = tutorials.Reader(folder)
            for part in parts:
                print(part[0], file=sys.stderr)
                part[1:] = tutorials.refreshed(part[1:], reader.run(part[0][2:]), unknown)
        return "```console\n" + "".join(f"{line}\n" for part in parts for line in part) + "```"

    page.write_text(BLOCK.sub(block, page.read_text()))
    for line in unknown:
        print(f"{page}: nothing printed is like {line!r}", file=sys.stderr)
    return 1 if unknown else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
