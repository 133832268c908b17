#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_message.py FILE: whether a commit message has a subject of at most 72 characters and a body; else status 1."""

import pathlib
import sys

MAX_SUBJECT = 72


def violations(text):
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith("#")]
    subject, rest = (lines or [""])[0], lines[1:]
    if subject.startswith(("Merge ", "Revert ", "fixup! ", "squash! ")):
        return
    if not subject:
        yield "the first line is empty; write an imperative subject"
    if len(subject) > MAX_SUBJECT:
        yield f"the subject has {len(subject)} characters; at most {MAX_SUBJECT}"
    if subject.endswith("."):
        yield "the subject ends in a full stop; leave it out"
    if rest and rest[0]:
        yield "the second line is not empty; a blank line parts subject and body"
    if not any(rest):
        yield "there is no body; say why"


def main():
    found = list(violations(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")))
    for line in found:
        print(f"commit message: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
