# SPDX-License-Identifier: Apache-2.0
"""How long runs tell how they get on: on terminals and in notebooks, and nowhere else."""

import contextlib
import os
import pathlib
import subprocess
import sys
import types

import guests
import pytest
from fabricvp import progress, spawn

CLONE = pathlib.Path(__file__).parents[2]
sys.path.append(str(CLONE / "tests/system"))

from on_terminal import on_terminal  # noqa: E402 - lies beside the tests of commands

#: Takes more than the two seconds of the host from which on runs tell how they get on.
LONG = """
import fabricvp, sys
machine = fabricvp.Platform.from_config("bare", overrides={"simulation.translate_after": 0})
machine.load_images(0, firmware=sys.argv[1])
machine.run("4 s")
"""


@pytest.fixture(scope="module")
def counts(assemble):
    """A program that never ends."""
    return str(assemble(guests.COUNTS))


def test_a_long_run_tells_how_it_gets_on(counts):
    command = [sys.executable, "-c", LONG, counts]
    seen, status = on_terminal(command)
    assert status == 0
    assert " s simulated, " in seen and " MIPS, about " in seen and " left" in seen
    assert seen.endswith("\r\x1b[K")  # nothing stays
    silent = subprocess.run(command, capture_output=True, check=True)
    assert (silent.stdout, silent.stderr) == (b"", b"")
    seen, _ = on_terminal(command, env={**os.environ, "FABRICVP_PROGRESS": "0"})
    assert seen == ""


def test_a_child_tells_its_parent(counts, monkeypatch):
    told = []

    @contextlib.contextmanager
    def line_here():
        yield lambda text, warning: told.append(text)

    monkeypatch.setattr(progress, "is_shown", lambda: True)
    monkeypatch.setattr(progress, "line_here", line_here)
    with spawn("bare", overrides={"simulation.translate_after": 0}) as machine:
        machine.load_images(0, firmware=counts)
        result = machine.run("4 s")
        assert result.outcome == "time_limit"
        assert told and " s simulated" in told[0]
        number = len(told)
        pending = machine.run.start("4 s")
        assert pending.result().outcome == "time_limit" and len(told) > number


def test_a_notebook_shows_one_line(monkeypatch):
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    def display(data, raw, display_id):
        shown.append(data["text/plain"])
        return Handle()

    shell = types.SimpleNamespace(kernel=object())
    module = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    assert progress.is_shown()
    with progress.shown() as listener:
        listener("one", None)
        listener("two", None)
    assert shown == ["one", "two"]
    progress.show_progress(False)
    try:
        assert not progress.is_shown()
    finally:
        progress.show_progress(True)


def test_an_installation_tells_the_terminal_what_it_has_compiled():
    script = CLONE / "cmake/tell.sh"
    seen, status = on_terminal(
        [sys.executable, "-c", f"import pty, sys; sys.exit(pty.spawn(['{script}', 'compiled module base']))"]
    )
    assert status == 0 and "  fabricvp: compiled module base" in seen
    alone = subprocess.run([script, "x"], capture_output=True, start_new_session=True)
    assert (alone.returncode, alone.stdout, alone.stderr) == (0, b"", b"")
