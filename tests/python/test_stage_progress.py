# SPDX-License-Identifier: Apache-2.0
"""Progress of long runs, as lines and as a bar."""

from fabricvp.sweeps import progress
from fabricvp.sweeps.progress import LineProgress


def test_progress_in_lines(capsys):
    clock = iter([0, 0, 10, 10, 20, 31, 45, 50]).__next__
    stage = LineProgress("points", [1.0, 1.0, 2.0], ["a", "b", "c"], clock)
    stage.alive([0, 1])  # at 0 s
    stage(0)
    stage.alive([1, 2])
    stage.alive([1, 2])  # 20: nothing to say yet
    stage.alive([1, 2])  # 31: less than half a minute after the last line
    stage.alive([1, 2])  # 45
    stage(1)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "points 1/3: a took 10.0 s; 10 s, about 25 s left",
        "points 1/3: still b for 45 s, c for 35 s; 45 s, about 5 s left",
        "points 2/3: b took 50.0 s; 50 s, about 30 s left",
    ]


def test_progress_of_parts_that_end_before_a_poll_sees_them(capsys):
    """They began after the last poll, so they took less than the time since."""
    clock = iter([0, 0, 50, 51, 51, 70, 71]).__next__
    stage = LineProgress("points", [1.0] * 5, ["a", "b", "c", "d", "e"], clock)
    stage.alive([0])  # at 0 s
    stage.alive([1])  # 50
    stage(2)  # 51
    stage(3)
    stage.alive([1])  # 70
    stage(4)
    took = [line.split(";")[0] for line in capsys.readouterr().err.splitlines() if "took" in line]
    assert took == ["points 1/5: c took 1.0 s", "points 2/5: d took 1.0 s", "points 3/5: e took 1.0 s"]


def test_progress_without_polls(capsys):
    """One at a time: each begins where the one before ends."""
    clock = iter([0, 10, 25]).__next__
    stage = LineProgress("points", [1.0, 1.0], ["a", "b"], clock)
    stage(0)
    stage(1)
    took = [line.split(";")[0] for line in capsys.readouterr().err.splitlines()]
    assert took == ["points 1/2: a took 10.0 s", "points 2/2: b took 15.0 s"]


def test_progress_of_parts_that_tell_their_time(capsys):
    clock = iter([0, 0, 30, 30]).__next__
    stage = LineProgress("points", [1.0, 1.0], ["a", "b"], clock)
    stage.alive([0])  # at 0 s
    stage(0, 12.0)
    stage(1, 29.5)
    took = [line.split(";")[0] for line in capsys.readouterr().err.splitlines()]
    assert took == ["points 1/2: a took 12.0 s", "points 2/2: b took 29.5 s"]


def test_progress_guesses_before_a_part_has_ended(capsys):
    clock = iter([0, 0, 40, 60, 90]).__next__
    stage = LineProgress("all", [100.0, 50.0], ["a", "b"], clock, unit_s=1.0)
    stage.alive([0])
    stage.alive([0], "points 3/9")  # 40
    stage(0)  # 60
    stage.alive([1], "points 1/2")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "all 0/2: still a for 40 s (points 3/9); 40 s, about 110 s left",
        "all 1/2: a took 60.0 s; 60 s, about 30 s left",
        "all 1/2: still b for 0 s (points 1/2); 90 s, about 30 s left",
    ]


def test_progress_on_a_terminal():
    shown = []
    bar = progress._Bar("all", [100.0, 50.0], 1.0, lambda **fields: shown.append(fields))
    bar.alive([0], "points 3/9")
    bar(0)
    bar(1)
    assert shown[0] == {"description": "all: points 3/9", "left": "about 150 s left"}
    assert [each["parts"] for each in shown[1:]] == ["1/2", "2/2"] and shown[2]["left"] == ""


def test_many_points_do_not_flood_the_log(capsys):
    clock = iter([0.01 * i for i in range(2000)]).__next__
    stage = LineProgress("points", [1.0] * 1000, (), clock)
    for i in range(1000):
        stage(i)
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 4 and lines[-1] == "points 1000/1000: 10 s"
