# SPDX-License-Identifier: Apache-2.0
"""Sweeps whose points branch from one machine that was warmed up once."""

import os
import signal
import subprocess
import sys
import time

import fabricvp
import pytest


@pytest.fixture
def sweep(tmp_path):
    """Sweeps into one result cache, without progress."""

    def run(*arguments, **options):
        return fabricvp.sweep(*arguments, progress=False, **options)

    return run


def boot(platform):
    """Leaves a line in a file each time that a machine is warmed up."""
    with open(os.environ["BOOTS"], "a") as file:
        file.write(f"{platform.config.simulation.seed}\n")
    platform.run("2 ms")


def slower(platform, lanes, after):
    """Lets a link between clusters lose lanes."""
    if lanes:
        platform.call_in(after, lambda: platform.inject("node0.fabric.cluster0.to_cluster1", "lanes", lanes=lanes))
    platform.run()
    return {"us": platform.regions()[("node0", "kernels")]["time_s"] * 1e6, "good": platform.app_ok}


def test_branches_give_what_machines_of_their_own_give(sweep, tmp_path, monkeypatch):
    monkeypatch.setenv("BOOTS", str(tmp_path / "boots"))
    options = {
        "app": "gups",
        "size": 1 << 19,
        "warm_up": boot,
        "function": slower,
        "grid": {
            "simulation.seed": [3, 4],
            "lanes": [0, 4],
            "after": ["1 us", "900 us"],  # the second: when all is over
        },
        "statistics": ["*"],
        "jobs": 2,
    }
    branched = sweep("netcrafter_quad", **options)
    assert (tmp_path / "boots").read_text().split() == ["3", "4"]
    alone = sweep("netcrafter_quad", branch=False, **options)
    assert len((tmp_path / "boots").read_text().split()) == 2 + 8
    assert set(branched["outcome"]) == {"ok"} and branched["branched"].all() and not alone["branched"].any()
    assert len(branched.columns) > 1000
    own = [name for name in branched if name.startswith("sim.")]  # of the host
    drop = ["wall_s", "branched", *own]
    assert branched.drop(columns=drop).equals(alone.drop(columns=drop))
    assert branched["good"].all()
    assert [*(branched["us"] > branched["us"][0])] == [False, False, True, False] * 2


def misbehave(platform, how):
    print("here", flush=True)
    if how == "raise":
        raise ValueError("of no use")
    if how == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "exit":
        os._exit(3)
    if how == "hang":
        time.sleep(1000)
    if how == "grow":  # in a process of its own
        subprocess.run([sys.executable, "-c", "import time; x = b'1' * (600 << 20); time.sleep(1000)"])
    return {"now": platform.now}


def talk(platform):
    print("warm", flush=True)
    platform.run("1 us")


def test_branches_that_go_wrong_are_rows(sweep):
    hows = ["good", "raise", "crash", "exit", "hang", "grow"]
    limits = {"memory_limit": "400 MiB", "time_limit": 10}
    frame = sweep("bare", warm_up=talk, function=misbehave, grid={"how": hows}, jobs=3, **limits).set_index("how")
    assert dict(frame["outcome"]) == {
        "good": "ok",
        "raise": "failed",
        "crash": "crashed",
        "exit": "crashed",
        "hang": "timed out",
        "grow": "out of memory",
    }
    assert frame["branched"].all() and frame["now"]["good"] == 1e-6
    assert frame["log"]["good"] == "warm\nhere\n" and "of no use" in frame["log"]["raise"]
    assert "SIGSEGV" in frame["error"]["crash"] and "status 3" in frame["error"]["exit"]


class OfAnotherPlace:
    """An argument that a branch cannot unpack."""

    def __reduce__(self):
        return lost, ()


def lost():
    print("here")
    raise LookupError("no such place")


def test_a_branch_tells_why_it_cannot_be_unpacked(sweep):
    frame = sweep("bare", warm_up=talk, function=lambda platform, a: None, grid={"a": [OfAnotherPlace(), 1]}, jobs=1)
    assert [*frame["outcome"]] == ["crashed", "ok"] and "status 1" in frame["error"][0]
    log = frame["log"][0]
    assert log.startswith("warm\n") and "here" in log and log.endswith("LookupError: no such place\n"), log


def stop_the_machine(platform, n):
    """The first branch stops its machine until the branch has come to its limit and the machine is to say so."""
    if n == 0:
        again = f"sleep 6; kill -CONT {os.getppid()}"
        subprocess.Popen(["sh", "-c", again], start_new_session=True, stdout=subprocess.DEVNULL)
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(1000)
    return os.getppid()


def test_a_machine_outlives_branches_that_come_to_a_limit(sweep):
    frame = sweep("bare", warm_up=talk, function=stop_the_machine, grid={"n": range(4)}, time_limit=4, jobs=1)
    assert [*frame["outcome"]] == ["timed out", "ok", "ok", "ok"], frame["error"]
    assert frame["value"].nunique() == 1


def end_the_machine(platform, how, folder):
    """A branch that ends its machine the first time, one that does so always, and others that take a while."""
    if how == "once" and not os.path.exists(f"{folder}/once"):
        open(f"{folder}/once", "w").close()
        os.kill(os.getppid(), signal.SIGKILL)
    if how == "always":
        os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(1)
    return how


def test_points_whose_machine_dies_run_on_another(sweep, tmp_path):
    """Those that run and those that wait; one that ends each machine comes to an end, and is not kept."""
    (tmp_path / "marks").mkdir()
    options = {"warm_up": talk, "function": end_the_machine, "result_cache": tmp_path / "cache", "jobs": 2}
    grid = {"folder": [str(tmp_path / "marks")]}
    frame = sweep("bare", grid={"how": ["long", "once", "more"], **grid}, **options)
    assert [*frame["outcome"]] == ["ok"] * 3 and [*frame["value"]] == ["long", "once", "more"]
    frame = sweep("bare", grid={"how": ["always", "always too"], **grid}, **options | {"jobs": 1})
    assert [*frame["outcome"]] == ["crashed", "ok"] and "SIGKILL" in frame["error"][0]
    assert len([*(tmp_path / "cache").glob("*/*.parquet")]) == 4


def fail(platform):
    print("cold", flush=True)
    raise ValueError("does not boot")


def die(platform):
    os._exit(4)


def hang(platform):
    time.sleep(1000)


@pytest.mark.parametrize(
    ("warm_up", "outcome", "error"),
    [
        (fail, "failed", "ValueError: does not boot"),
        (die, "crashed", "its process ended with status 4"),
        (hang, "timed out", "longer than 4 s"),
    ],
)
def test_a_warm_up_that_goes_wrong_is_in_all_rows(sweep, warm_up, outcome, error):
    options = {"warm_up": warm_up, "function": misbehave, "grid": {"how": ["good", "raise", "exit"]}, "jobs": 2}
    for branch in (True, False):
        frame = sweep("bare", branch=branch, time_limit=4, **options)
        assert set(frame["outcome"]) == {outcome} and set(frame["error"]) == {error}
        if warm_up is fail:
            assert all(log.startswith("cold\n") for log in frame["log"])


def made(platform):
    return platform.nodes[0]


def name_of(node, n):
    return f"{type(node).__name__}{n}"


def test_only_what_differs_in_arguments_alone_shares_a_machine(sweep, tmp_path):
    points = [{"n": 1}, {"n": 2}, {"n": 3, "node.host.harts": 2}]
    frame = sweep("bare", warm_up=made, function=name_of, points=points, result_cache=tmp_path)
    assert [*frame["branched"]] == [True, True, False]
    assert [*frame["value"]] == ["Node1", "Node2", "Node3"]
    again = sweep("bare", warm_up=made, function=name_of, points=points, result_cache=tmp_path, executor=NothingRuns())
    assert again.equals(frame)
    with pytest.raises(AssertionError, match="3 points"):
        sweep("bare", warm_up=talk, function=name_of, points=points, result_cache=tmp_path, executor=NothingRuns())


class NothingRuns:
    """An executor that fails if a point has to be run."""

    def run(self, tasks, limits, on_result, on_alive):
        assert not tasks, f"{len(tasks)} points are run again"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"config": "bare", "warm_up": made}, "warm_up: needs a function"),
        ({"warm_up": made, "function": name_of, "grid": {"n": [1]}}, "config: none"),
    ],
)
def test_bad_input(sweep, options, message):
    with pytest.raises(fabricvp.InputError, match=message):
        sweep(**options)


def test_branches_end_with_their_sweep(ends_with_its_sweep):
    ends_with_its_sweep(
        "def warm(platform):\n    mark()\n"
        "def work(platform, n):\n    mark()\n    time.sleep(1000)\n"
        "fabricvp.sweep('bare', warm_up=warm, function=work, grid={'n': [1, 2]}, jobs=2, progress=False)\n",
        processes=3,
    )


STUDY = """\
config: bare
function: guest.py:{function}
warm_up: guest.py:{warm}
grid:
  n: [1, 2]
"""


def test_a_study_warms_up(tmp_path, monkeypatch, capsys):
    from fabricvp.cli import main

    (tmp_path / "guest.py").write_text(
        "def warm(platform):\n    return 5\n\n\ndef work(five, n):\n    return five * n\n"
    )
    study = tmp_path / "study.yaml"
    study.write_text(STUDY.format(function="work", warm="warm"))
    assert main(["sweep", str(study), "--out", str(tmp_path / "out")]) == 0
    import pandas

    frame = pandas.read_parquet(tmp_path / "out" / "points.parquet")
    assert [*frame["value"]] == [5, 10] and frame["branched"].all()
    study.write_text(STUDY.format(function="work", warm="cold"))
    assert main(["sweep", str(study), "--out", str(tmp_path / "more")]) == 2
    assert "study.yaml:3: warm_up: there is no function 'cold'" in capsys.readouterr().err
