# SPDX-License-Identifier: Apache-2.0
"""The widget of notebooks: what it shows of runs, what its buttons do, and that results are the same."""

import contextlib
import itertools
import time

import fabricvp
import guests
import nbclient
import nbformat
import pytest
from test_monitor import WALL

GUPS = {"app": "gups", "size": 65536}
PERIOD = 0.25  #: seconds of wall time between frames


def wait_for(view, holds):
    """The next frame that is so."""
    end = time.monotonic() + 600
    while not holds(frame := view.frame):
        assert time.monotonic() < end, frame
        time.sleep(0.01)
    return frame


NUMBERS = itertools.count()


def press(view, **command):
    """As a browser's message comes; gives the command's identity."""
    content = {"id": f"test {next(NUMBERS)}", **command}
    view._handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})
    return content["id"]


def reply_to(view, **command):
    identity = press(view, **command)
    frame = wait_for(view, lambda frame: any(reply["id"] == identity for reply in frame["replies"]))
    return next(reply for reply in frame["replies"] if reply["id"] == identity).get("error")


@pytest.mark.timeout(600)
def test_what_is_closed_holds_no_run(machine):
    """Neither by what was pressed, nor by what the page was to wait for."""
    platform = machine(guests.ECHO)
    platform.monitor(wait=True).close()
    assert platform.run("10 us").outcome == "time_limit"
    taken = fabricvp.spawn(text="nodes: 1").listen_gdb()
    with pytest.raises(fabricvp.InputError, match=f"monitor: port {taken}: cannot listen"):
        platform.monitor(taken, wait=True)
    assert platform.run("10 us").outcome == "time_limit"
    for command in {"do": "pause"}, {"do": "speed", "time": "1 ns"}:
        view = platform.view()
        pending = platform.run.start("100 ms")
        assert reply_to(view, **command) is None
        view.close()
        assert pending.result().outcome == "time_limit"
    assert platform.run("10 us").outcome == "time_limit"


@pytest.mark.timeout(600)
def test_run_after_run_is_shown(machine):
    platform = machine(guests.ECHO)
    view = platform.view()
    assert platform.view() is view
    assert view.frame["state"] == "stopped" and view.frame["time_ps"] == 0
    assert view.description["title"] == "text" and view.description["nodes"] == ["node0"]
    assert view.drawing.startswith("<svg")
    platform.run("200 us")
    ended = wait_for(view, lambda frame: frame["time_ps"] == 200_000_000 and frame["state"] == "stopped")
    assert ended["outcome"] == "the time limit was reached"
    platform.run_until_console("ready> ")
    wait_for(view, lambda _: view.console().endswith("ready> "))
    assert view.consoles[0] == [len(view.console()), view.console()]

    # What is typed before a run is typed when it begins. What would hold the run is refused.
    press(view, do="type", node=0, text="hello\n")
    for command in ({"do": "pause"}, {"do": "continue"}, {"do": "step", "time": "1 us"}):
        assert reply_to(view, **command) == "no run is going on: platform.run() begins one"
    platform.run_until_console("you typed hello")

    with pytest.raises(fabricvp.InputError, match=r"^monitor: a page or a view shows this machine already"):
        platform.monitor()
    view.close()
    with platform.monitor() as page, pytest.raises(fabricvp.InputError, match=r"^view: a page or a view shows"):
        assert page.url
        platform.view()
    again = platform.view()
    assert again is not view and again.frame["time_ps"] == platform.now_ps
    assert "you typed hello" in again.console()
    platform.close()
    assert again.ended == "the machine is gone" and not again.is_open()


def test_a_run_is_paused_stepped_typed_to_and_continued(machine):
    platform = machine(guests.ECHO)
    with contextlib.closing(platform.view()) as view:
        pending = platform.run.start()
        assert reply_to(view, do="pause") is None
        paused = wait_for(view, lambda frame: frame["state"] == "paused")
        assert reply_to(view, do="step", time="10 us") is None
        stepped = wait_for(view, lambda f: f["state"] == "paused" and f["time_ps"] > paused["time_ps"])
        assert stepped["time_ps"] >= paused["time_ps"] + 10_000_000
        assert "time: " in reply_to(view, do="step", time="soon")
        assert "is no fault of" in reply_to(view, do="inject", target="node0.host", kind="down")
        press(view, do="type", node=0, text="off\n")
        press(view, do="continue")
        assert pending.result().outcome == fabricvp.Outcome.POWER_OFF
        assert wait_for(view, lambda frame: frame["state"] == "stopped" and frame["outcome"])["outcome"] == (
            "node0 powered off"
        )


def test_results_are_the_same_in_slices_with_the_view_and_without():
    def found(shown, *times):
        with fabricvp.spawn("netcrafter_quad", **GUPS) as platform:
            view = platform.view() if shown else None
            frames = []
            if view is not None:
                view.observe(lambda change: frames.append(change.new), "frame")
            began = time.monotonic()
            for limit in times:
                platform.run(limit)
            passed = time.monotonic() - began
            assert len(frames) <= passed / PERIOD + 2  # at a bounded rate
            values = dict(platform.statistics.items())
            now = platform.now_ps
            if view is not None:
                view.close()
                assert frames[-1]["state"] == "stopped" and frames[-1]["time_ps"] == now
                assert sum(link[0] for link in frames[-1]["links"]) > 0
            return {path: value for path, value in values.items() if path not in WALL}, now

    assert found(True, "10 us", "123.456789 us", "1 ns", None) == found(False, None)


def test_a_notebook_shows_slices():
    """In a kernel: the widget's state travels to the notebook while a cell runs."""
    cells = [
        "import fabricvp, time",
        "platform = fabricvp.Platform.from_config('hello')\nview = platform.view()\nview",
        "for _ in range(3):\n    platform.run('1 us')",
        "result = platform.run()\nwhile view.frame['time_ps'] != platform.now_ps:\n    time.sleep(0.01)",
        "platform.close()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=600).execute()
    shown = notebook.cells[1].outputs[0]["data"]["application/vnd.jupyter.widget-view+json"]["model_id"]
    states = notebook.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    state = states[shown]["state"]
    assert state["frame"]["state"] == "stopped" and state["frame"]["outcome"] == "node0 powered off"
    assert state["consoles"][0][1].endswith("all ok, powering off\r\n") and state["ended"] == "the machine is gone"
    assert "createRunView" in state["_esm"] and state["drawing"].startswith("<svg")


def test_without_anywidget_one_line_says_what_to_install(run_script):
    done = run_script(
        """
        import sys
        sys.modules["anywidget"] = None
        import fabricvp
        platform = fabricvp.Platform.from_config("hello")
        for _ in range(2):
            try:
                platform.view()
            except fabricvp.InputError as error:
                print(error)
        """
    )
    assert done.stdout.count("view: needs 'pip install fabricvp[notebook]' (") == len(done.stdout.splitlines()) == 2
