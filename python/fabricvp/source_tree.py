# SPDX-License-Identifier: Apache-2.0
"""The source tree that the package is linked to, where there is one: the commit that results come from, and whether
what they depend on has changed since."""

from __future__ import annotations

import subprocess
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
#: What figures of simulations depend on. Experiments make machines by the Python interface, not by the command line.
CODE = ("models", "platform", "firmware", "abi", "configs", ":(exclude)platform/cli")
DIGITS = 12  #: of a commit's name


def commit() -> str:
    """The commit that is checked out. "" where there is none, or where `CODE` has changes that are in no commit:
    figures would come from something that cannot be found again."""
    if _git("rev-parse", "--show-toplevel") != str(TREE) or _git("status", "--porcelain", "--", *CODE) != "":
        return ""
    return (_git("rev-parse", "HEAD") or "")[:DIGITS]


def last_change() -> str:
    """The day of the last commit to `CODE`, as 2026-12-31; "" where there is no repository."""
    return _git("log", "-1", "--format=%cs", "--", *CODE) or ""


def changes_since(name: str) -> int | None:
    """How many commits after that one have changed `CODE`; None where the repository does not have it."""
    found = _git("rev-list", "--count", f"{name}..HEAD", "--", *CODE)
    return None if found is None else int(found)


def _git(*arguments: str) -> str | None:
    """What git prints; None where it fails."""
    try:
        done = subprocess.run(["git", "-C", str(TREE), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
