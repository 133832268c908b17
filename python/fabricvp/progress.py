# SPDX-License-Identifier: Apache-2.0
"""How long runs get on: a line on a terminal that is written over, or a line of a notebook's output. Nothing is shown
in files and pipes."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

#: Called about once a second with a line, and with a warning or None.
Listener = Callable[[str, str | None], None]

_wanted = True
_forward: Listener | None = None  # of a child process: to the parent


def show_progress(wanted: bool) -> None:
    """Whether runs of more than two seconds tell how they get on (they do where standard error is a terminal, and in
    notebooks). The environment variable FABRICVP_PROGRESS=0 means False."""
    global _wanted
    _wanted = wanted


def forward_progress(to: Listener | None) -> None:
    """In a child process, tells the parent instead of a terminal; None says nothing at all."""
    global _forward, _wanted
    _forward, _wanted = to, to is not None


def is_shown() -> bool:
    """Whether this process shows how runs get on."""
    if not _wanted or os.environ.get("FABRICVP_PROGRESS") == "0":
        return False
    if _forward is not None:
        return True
    if multiprocessing.parent_process() is not None:  # one of several: they would write over each other's lines
        return False
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def in_notebook() -> bool:
    """Whether output goes to a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


@contextlib.contextmanager
def shown() -> Iterator[Listener | bool | None]:
    """What a run is to do while it lasts: True shows on the terminal of standard error, a function is called with
    each line, None is silent."""
    if not is_shown():
        yield None
    elif _forward is not None:
        yield _forward
    elif in_notebook():
        with notebook_line() as listener:
            yield listener
    else:
        yield True


@contextlib.contextmanager
def notebook_line() -> Iterator[Listener]:
    """A line of a notebook's output that is written over. The last text stays."""
    from IPython.display import display

    handle: Any = None
    show: Any = display  # without types

    def listen(text: str, warning: str | None) -> None:
        nonlocal handle
        if warning:
            print(f"fabricvp: {warning}", file=sys.stderr)
        line = {"text/plain": text}
        if handle is None:
            handle = show(line, raw=True, display_id=True)
        else:
            handle.update(line, raw=True)

    yield listen


@contextlib.contextmanager
def terminal_line() -> Iterator[Listener]:
    """The same on the terminal of standard error, for lines that come from another process."""
    written = False

    def listen(text: str, warning: str | None) -> None:
        nonlocal written
        width = os.get_terminal_size(sys.stderr.fileno()).columns
        if warning:
            sys.stderr.write(f"\r\x1b[Kfabricvp: {warning}\n")
        sys.stderr.write(f"\r\x1b[K{text[: max(width - 1, 1)]}")
        sys.stderr.flush()
        written = True

    try:
        yield listen
    finally:
        if written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def line_here() -> contextlib.AbstractContextManager[Listener]:
    """Where lines from another process are shown, if `is_shown()`."""
    return notebook_line() if in_notebook() else terminal_line()
