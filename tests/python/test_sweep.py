# SPDX-License-Identifier: Apache-2.0
"""`fabricvp.sweep()`: points, outcomes, limits, and results that outlive a kill."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import fabricvp
import numpy
import pytest
from fabricvp.sweeps import summarise
from fabricvp.sweeps.code_hash import function_hash, modules_hash
from fabricvp.sweeps.constraints import Constraint
from fabricvp.sweeps.key import key_of
from fabricvp.sweeps.points import expand_points
from fabricvp.sweeps.process import Limits, _memory, end_session
from fabricvp.sweeps.store import ResultCache, says_enough
from fabricvp.sweeps.task import PointOutcome, Record, Task

GRID = {"size": [1024, 2048], "node.gpus.0.compute_units": [2, 4]}


@pytest.fixture
def cached_sweep(tmp_path):
    """Sweeps into one result cache, without progress."""

    def run(*arguments, **options):
        return fabricvp.sweep(*arguments, result_cache=tmp_path / "cache", progress=False, **options)

    return run


class NoExecutor:
    """Fails if a point has to be run."""

    def run(self, tasks, limits, on_result, on_alive):
        assert not tasks, f"{len(tasks)} points are run again"


def test_a_grid_gives_what_single_machines_give(cached_sweep):
    frame = cached_sweep("gpu", app="vectoradd", grid=GRID, repeat=[1, 7], statistics=["sim.time_s", "kernels:*time_s"])
    assert [*frame["size"]] == [1024] * 4 + [2048] * 4
    assert [*frame["simulation.seed"]] == [1, 7] * 4
    assert set(frame["outcome"]) == {"ok"} and set(frame["ended"]) == {"power_off"} and (frame["wall_s"] > 0).all()
    assert len(frame.columns) == 3 + 6 + 2
    row = frame[(frame["size"] == 2048) & (frame["node.gpus.0.compute_units"] == 4) & (frame["simulation.seed"] == 7)]
    with fabricvp.spawn(
        "gpu", app="vectoradd", size=2048, node__gpus__0__compute_units=4, simulation__seed=7
    ) as platform:
        platform.run()
        assert row["sim.time_s"].item() == platform.statistics["sim.time_s"]
        assert row["kernels:time_s"].item() == platform.regions()[("node0", "kernels")]["time_s"]
    assert frame.groupby("size")["kernels:time_s"].mean().is_monotonic_increasing


def test_what_is_cached_is_not_run_again(cached_sweep):
    first = cached_sweep("gpu", app="vectoradd", grid=GRID)
    again = cached_sweep("gpu", app="vectoradd", grid=GRID, executor=NoExecutor())
    assert first.equals(again)
    more = cached_sweep("gpu", app="vectoradd", grid=GRID, statistics="*.wavefront_instructions", executor=NoExecutor())
    assert (more["node0.gpu0.wavefront_instructions"] > 0).all()
    for other in ({"time": "1 s"}, {"app": "fir"}, {"overrides": {"simulation.quantum": "2 us"}}, {"repeat": [3]}):
        with pytest.raises(AssertionError, match="4 points are run again"):
            cached_sweep("gpu", **({"app": "vectoradd", "grid": GRID} | other), executor=NoExecutor())


def misbehave(platform, how):
    if how == "raise":
        raise ValueError("of no use")
    if how == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "exit":
        print("going", flush=True)
        os._exit(3)
    if how == "hang":
        platform.call_in("1 ns", lambda: time.sleep(1000))
        platform.run("1 us")
    if how == "grow":  # in a process of its own
        subprocess.run([sys.executable, "-c", "import time; x = b'1' * (600 << 20); time.sleep(1000)"])
    if how == "table":
        return {"x": [1, 2]}
    return {"twice": how * 2, "events": platform.statistics["sim.events"]}


def test_points_that_go_wrong_are_rows(cached_sweep):
    hows = ["good", "raise", "crash", "exit", "grow", "table"]
    frame = cached_sweep("bare", function=misbehave, grid={"how": hows}, memory_limit="400 MiB", jobs=6)
    frame = frame.set_index("how")
    assert dict(frame["outcome"]) == {
        "good": "ok",
        "raise": "failed",
        "crash": "crashed",
        "exit": "crashed",
        "grow": "out of memory",
        "table": "failed",
    }
    assert frame["twice"]["good"] == "goodgood" and frame["error"]["good"] == ""
    assert frame["error"]["raise"] == "ValueError: of no use" and "in misbehave" in frame["log"]["raise"]
    assert "SIGSEGV" in frame["error"]["crash"]
    assert "status 3" in frame["error"]["exit"] and frame["log"]["exit"] == "going\n"
    assert "400 MiB" in frame["error"]["grow"]
    assert "x: a list" in frame["error"]["table"]
    assert not any(b"x = b'1'" in line for line in command_lines())


def test_a_machine_without_software_is_a_row(cached_sweep):
    """It would stand still until the watchdog ends it."""
    frame = cached_sweep("gpu", grid={"simulation.seed": [1]})
    assert [*frame["outcome"]] == ["failed"] and [*frame["ended"]] == [""], frame
    assert [*frame["error"]] == ["nothing to run: give app, program, function or time"]
    assert [*cached_sweep("gpu", time="1 us", grid={"simulation.seed": [1]})["outcome"]] == ["ok"]


def test_points_that_hang_are_rows(cached_sweep):
    frame = cached_sweep("bare", function=misbehave, grid={"how": ["hang"]}, time_limit=2)
    row = frame.iloc[0]
    assert row["outcome"] == "timed out" and row["error"] == "longer than 2 s" and row["wall_s"] >= 2


def command_lines():
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    yield file.read()
            except OSError:
                pass


def test_guests_that_fail_are_rows(cached_sweep):
    frame = cached_sweep(
        "rdma_pair", points=[{"append": "nonsense=1"}, {"append": ""}], statistics="sim.time_s", time="2 ms"
    )
    assert [*frame["outcome"]] == ["failed", "ok"]
    assert frame["error"][0].startswith("refused: ") and "nonsense" in frame["log"][0]
    assert [*frame["ended"]] == ["refused", "time_limit"] and frame["sim.time_s"][1] == 2e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": {"node.host.hart": [1]}}, "node.host.hart"),
        ({"grid": {"node.host.harts": [1, 999]}}, "point harts=999: .*harts"),
        ({"grid": {"size": [1]}}, "size"),
        ({"app": "vectorad"}, "vectorad"),
        ({"grid": {"a": "text"}}, "a: a list of values"),
        ({"grid": {"a": []}}, "a: there are no values"),
        ({"points": []}, "points: there are none"),
        ({"points": [{"a": 1}, {"a": 1}]}, "a=1 is there twice"),
        ({"points": [{"a": 1}], "grid": {"a": [1]}}, "a: is a parameter of points and of the grid"),
        ({"repeat": 0}, "repeat: 0"),
        ({"repeat": [-1]}, "-1 is no seed"),
        ({"grid": {"simulation.seed": [1, 2]}, "constraints": ["simulation.seed > 2"]}, "no point is left"),
        ({"grid": {"simulation.seed": [3, 4]}, "repeat": 2}, "simulation.seed: is a parameter of the grid and of rep"),
        *(
            ({"config": None, "function": lambda: 1} | given, f"{next(iter(given))}: without a config, the function")
            for given in (
                {"overrides": {"node.host.harts": 2}},
                {"app": "vectoradd"},
                {"size": 0},
                {"program": "a.elf"},
                {"append": "a"},
                {"time": "1 us"},
                {"time": 0},
            )
        ),
        ({"function": lambda platform: 1, "time": "1 us"}, "time: the function drives the machine"),
        ({"memory_limit": "4 gallons"}, "4 gallons"),
        ({"time_limit": 0}, "time_limit"),
        ({"executor": "threads"}, "'threads' is not known"),
        ({"jobs": 0}, "jobs: 0"),
        ({"config": "nowhere"}, "nowhere"),
        ({"config": None}, "config: none"),
    ],
)
def test_bad_input_is_one_line_before_anything_runs(options, message, tmp_path):
    with pytest.raises((fabricvp.InputError, TypeError), match=message) as caught:
        fabricvp.sweep(**({"config": "bare", "result_cache": tmp_path / "cache", "progress": False} | options))
    assert "\n" not in str(caught.value)
    assert not [*tmp_path.rglob("*.parquet")]


def test_constraints():
    point = {"size": 64, "node.host.harts": 2, "node.gpus.0.compute_units": 4, "app": "spmv"}
    for text, expected in {
        "size * node.host.harts <= 128": True,
        "size // 2 > 32 or app in ['fir', 'spmv']": True,
        "not 1 < node.host.harts <= 2": False,
        "`node.gpus.0.compute_units` % 3 == 1 and -size + 65 == 1": True,
    }.items():
        assert Constraint(text)(point) is expected, text
    for text, message in {
        "size <": "is not an expression",
        "__import__('os')": "takes numbers",
        "[x for x in size]": "takes numbers",
        "app[0] == 's'": "takes numbers",
        "siz < 2": "no parameter 'siz', did you mean 'size'",
        "app < 2": "not supported",
    }.items():
        with pytest.raises(fabricvp.InputError, match=message):
            Constraint(text)(point)
    found = expand_points({"a": [1, 2, 3], "b": [1, 2, 3]}, None, ["a < b", lambda p: p["b"] == 3])
    assert found == [{"a": 1, "b": 3}, {"a": 2, "b": 3}]


def test_a_pattern_without_match_is_warned_of(cached_sweep):
    with pytest.warns(UserWarning, match="no statistic matches 'kernel:time_s': the regions are kernels"):
        cached_sweep("gpu", app="vectoradd", size=1024, statistics="kernel:time_s")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cached_sweep("gpu", app="vectoradd", size=1024)


def test_limits_that_rise_run_points_again(tmp_path):
    cache = ResultCache(tmp_path)
    for outcome, limits, enough in (
        (PointOutcome.TIMED_OUT, Limits(10.0), True),
        (PointOutcome.TIMED_OUT, Limits(11.0), False),
        (PointOutcome.TIMED_OUT, Limits(), False),
        (PointOutcome.OUT_OF_MEMORY, Limits(20.0, 1 << 20), True),
        (PointOutcome.OUT_OF_MEMORY, Limits(1.0, 2 << 20), False),
        (PointOutcome.CRASHED, Limits(), True),
    ):
        cache.put("ab" * 16, "sweep", {}, Limits(10.0, 1 << 20), Record(outcome))
        assert says_enough(cache.find("ab" * 16), limits) is enough, (outcome, limits)


def test_a_file_that_was_cut_is_no_result(tmp_path):
    cache = ResultCache(tmp_path)
    record = Record(PointOutcome.OK, values={"x": 1, "y": None, "z": "text"}, statistics={"a": 1.5}, wall_s=2.0)
    record.regions = {"kernels": {"a": 0.5}, "empty": {}}
    cache.put("0" * 32, "sweep", {"p": 1}, Limits(), record)
    assert cache.find("0" * 32).record == record and cache.find("0" * 32).point == {"p": 1}
    file = next(tmp_path.rglob("*.parquet"))
    whole = file.read_bytes()
    for size in (0, 4, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:size])
        assert cache.find("0" * 32) is None and not [*cache.points()]


STUDY = """
    import os, sys, fabricvp

    def work(n):
        with open(os.environ["LOG"], "a") as file:  # no argument: a file that grows would make other points
            file.write(f"{n} {os.getpid()}\\n")
        return n * n

    frame = fabricvp.sweep(function=work, grid={"n": range(24)}, result_cache=sys.argv[1], jobs=3, progress=False)
    print(frame.to_csv(index=False, columns=["n", "outcome", "value"]))
"""


@pytest.mark.timeout(900)
def test_no_point_is_lost_or_counted_twice_by_kills(tmp_path):
    script, log = tmp_path / "script.py", tmp_path / "log"
    script.write_text(textwrap.dedent(STUDY))
    draw, kills, done = random.Random(1), 0, None
    while done is None:
        stored = {str(point.point["n"]) for point in ResultCache(tmp_path / "cache").points()}
        runs = log.read_text().splitlines() if log.exists() else []
        process = subprocess.Popen(
            [sys.executable, script, tmp_path / "cache"], env={**os.environ, "LOG": str(log)}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            output, errors = process.communicate(timeout=draw.uniform(0.5, 3.0) if kills < 8 else 600)
            done = output
            assert process.returncode == 0, errors
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
        now = log.read_text().splitlines() if log.exists() else []
        ran = [line.split()[0] for line in now[len(runs) :]]
        assert len(set(ran)) == len(ran) and not stored & set(ran)
    assert kills > 0
    rows = [line.split(",") for line in done.split()[1:]]
    assert rows == [[str(n), "ok", str(n * n)] for n in range(24)]
    assert len([*(tmp_path / "cache").rglob("*.parquet")]) == 24
    assert {int(line.split()[0]) for line in log.read_text().splitlines()} == set(range(24))


def test_points_end_with_their_sweep(ends_with_its_sweep):
    ends_with_its_sweep(
        "def work(n):\n    mark()\n    time.sleep(1000)\n"
        "fabricvp.sweep(function=work, grid={'n': [1, 2]}, jobs=2, progress=False)\n",
        processes=2,
    )


def test_code_that_measures_belongs_to_the_key(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "measuring_a.py").write_text("from measuring_b import K\n\ndef work(n):\n    return n * K\n")
    (tmp_path / "measuring_b.py").write_text("K = 2\n")
    (tmp_path / "drawing_c.py").write_text("COLOUR = 1\n")
    import measuring_a

    first = function_hash(measuring_a.work)
    (tmp_path / "drawing_c.py").write_text("COLOUR = 2\n")
    modules_hash.cache_clear()
    assert function_hash(measuring_a.work) == first
    (tmp_path / "measuring_b.py").write_text("K = 3\n")
    modules_hash.cache_clear()
    assert function_hash(measuring_a.work) != first
    sweeps = modules_hash("fabricvp.sweeps.measure")
    modules_hash.cache_clear()
    import fabricvp.plot

    monkeypatch.setattr(fabricvp.plot.__spec__, "origin", str(tmp_path / "drawing_c.py"))
    assert modules_hash("fabricvp.sweeps.measure") == sweeps
    monkeypatch.setattr(fabricvp.statistics.__spec__, "origin", str(tmp_path / "drawing_c.py"))
    modules_hash.cache_clear()
    assert modules_hash("fabricvp.sweeps.measure") != sweeps
    modules_hash.cache_clear()


def test_functions_of_scripts_count_with_what_they_name():
    def make(k, text="def f(n):\n    return helper(n) + K\n", helper="def helper(n):\n    return n\n"):
        names = {"K": k, "__name__": "__main__", "unused": object()}
        exec(helper + text, names)
        return names["f"]

    first = function_hash(make(1))
    assert function_hash(make(1)) == first
    assert function_hash(make(2)) != first
    assert function_hash(make(1, helper="def helper(n):\n    return 2 * n\n")) != first
    assert function_hash(make(1, text="def f(n):\n    return helper(n) - K\n")) != first
    assert function_hash(make(1, text="def f(n, m=2):\n    return helper(n) + K\n")) != function_hash(
        make(1, text="def f(n, m=3):\n    return helper(n) + K\n")
    )


def function_of(text, **names):
    """The function f of a script."""
    names |= {"__name__": "__main__"}
    exec(text, names)
    return names["f"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("class C:\n    N = 1", "class C:\n    N = 2"),
        ("class C:\n    p = property(lambda self: 1)", "class C:\n    p = property(lambda self: 2)"),
        ("class B:\n    n = 1\nclass C(B): pass", "class B:\n    n = 2\nclass C(B): pass"),
        ("def g(): return 1\nC = {'g': g}", "def g(): return 2\nC = {'g': g}"),
        ("class B:\n    def m(self): return 1\nC = B()", "class B:\n    def m(self): return 2\nC = B()"),
        ("class B:\n    def m(self): return 1\nC = B().m", "class B:\n    def m(self): return 2\nC = B().m"),
        ("import functools\nC = functools.partial(max, 1)", "import functools\nC = functools.partial(max, 2)"),
        ("C, D = [1, [2]], 1", "C, D = [1, 2], 1"),
        ("C, D = 1, 1", "C, D = 1, 2"),
        ("C, D = {'a', 'b'}, 1", "C, D = {'a', 'c'}, 1"),
    ],
)
def test_what_a_script_defines_belongs_to_the_key(one, other):
    text = "\nD = globals().get('D')\nE = 2\ndef f():\n    return C, E, D\n"
    assert function_hash(function_of(one + text)) == function_hash(function_of(one + text))
    assert function_hash(function_of(one + text)) != function_hash(function_of(other + text))


KEYS = """
import dataclasses, enum, fabricvp
from fabricvp.sweeps.key import key_of
from fabricvp.sweeps.task import Task

class Colour(enum.Enum):
    RED = 1

@dataclasses.dataclass
class Setting:
    names: set
    again: object = None

def even(n):
    return n in {"one", "two", "three"} or odd(n)

def odd(n):
    return even(n) or SETTING or TABLE[n]()

TABLE = {"x": lambda: Colour.RED, Setting: odd}
SETTING = Setting({"one", "two", "three"})
SETTING.again = SETTING  # contains itself
print(key_of(Task(function=even, arguments={"a": {"one", "two", "three"}, "b": SETTING, "c": Colour.RED})))
"""


def test_the_key_is_the_same_in_every_process(tmp_path):
    (tmp_path / "script.py").write_text(KEYS)
    keys = {
        subprocess.run(
            [sys.executable, "script.py"], cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": str(seed)}, check=True,
            capture_output=True,
        ).stdout
        for seed in range(4)
    }  # fmt: skip
    assert len(keys) == 1


def test_what_no_process_can_be_given_is_an_input_error(tmp_path):
    lock = threading.Lock()
    for cache in (None, tmp_path / "cache"):
        with pytest.raises(fabricvp.InputError, match="cannot be sent to another process .*lock") as caught:
            fabricvp.sweep(function=lambda: lock, result_cache=cache, progress=False)
        assert "\n" not in str(caught.value)


def test_files_that_change_between_sweeps_of_a_process_make_other_points(cached_sweep, tmp_path, monkeypatch):
    (tmp_path / "machine.yaml").write_text("base: bare\n")
    (tmp_path / "changing.py").write_text("def work(n):\n    return n\n")
    monkeypatch.syspath_prepend(tmp_path)
    import changing

    def run(executor):
        cached_sweep(tmp_path / "machine.yaml", time="1 us", executor=executor)
        cached_sweep(function=changing.work, grid={"n": [1]}, executor=executor)

    run("processes")
    run(NoExecutor())
    (tmp_path / "machine.yaml").write_text("base: bare\nsimulation: {quantum: 2 us}\n")
    with pytest.raises(AssertionError, match="1 points are run again"):
        cached_sweep(tmp_path / "machine.yaml", time="1 us", executor=NoExecutor())
    (tmp_path / "changing.py").write_text("def work(n):\n    return n + 1\n")
    with pytest.raises(AssertionError, match="1 points are run again"):
        cached_sweep(function=changing.work, grid={"n": [1]}, executor=NoExecutor())


def test_points_may_differ_in_their_parameters(cached_sweep):
    """All parameters stand before the outcome, so that summaries and comparisons know them."""
    points = [{"n": 1}, {"n": numpy.int64(2), "m": 3}, {"n": 1, "m": 4}]
    frame = cached_sweep(function=lambda n, m=0: n + m, points=points, repeat=None)
    assert [*frame.columns][:3] == ["n", "m", "outcome"] and [*frame["value"]] == [1, 5, 5]
    assert [*summarise(frame)["mean"]] == [1, 5, 5]
    plain = [{name: int(value) for name, value in point.items()} for point in points]
    cached_sweep(function=lambda n, m=0: n + m, points=plain, executor=NoExecutor())


def test_a_function_cannot_overwrite_columns(cached_sweep):
    frame = cached_sweep(function=lambda n: {n: 5}, grid={"n": ["n", "outcome", "log", "m"]})
    assert [*frame["outcome"]] == ["failed"] * 3 + ["ok"] and [*frame["n"]] == ["n", "outcome", "log", "m"]
    assert frame["error"][1] == "ValueError: outcome: is a column of the table already: give the value another name"


def test_a_function_cannot_overwrite_parameters(cached_sweep):
    """Of the machine and of the application, too; the same point may have other parameters in another sweep."""

    def boast(platform):
        return {"node.host.harts": 7, "size": 9, "sim.time_s": 5.0}

    grid = {"node.host.harts": [2], "simulation.quantum": ["2 us"]}
    frame = cached_sweep("bare", function=boast, grid=grid)
    assert [*frame["outcome"]] == ["failed"] and [*frame["node.host.harts"]] == [2] and "size" not in frame
    assert frame["error"][0] == "node.host.harts: is a parameter of the point: give the value another name"
    rest = {"overrides": {"node.host.harts": 2}, "grid": {"simulation.quantum": ["2 us"]}}
    frame = cached_sweep("bare", function=boast, executor=NoExecutor(), **rest)
    assert [*frame["outcome"]] == ["ok"] and frame["node.host.harts"][0] == 7 and frame["sim.time_s"][0] == 5.0
    with pytest.raises(fabricvp.InputError, match="^error: is a column of every table: give the parameter another"):
        cached_sweep(function=lambda error: error, grid={"error": [0.1]})


def test_files_of_any_name_belong_to_the_key(tmp_path):
    for name in ("firmware.bin", "my firmware", "firmware"):
        machine, file = tmp_path / f"{name}.yaml", tmp_path / name
        machine.write_text(f"base: bare\nnode: {{images: {{firmware: '{name}'}}}}\n")
        keys = set()
        for contents in (b"1", b"2", b"2"):
            file.write_bytes(contents)
            keys.add(key_of(Task(config=str(machine))))
        assert len(keys) == 2, name


def test_points_share_a_look_at_all_processes(monkeypatch):
    """Once a second, whatever the number of points that have a limit of memory; what a point has started counts."""
    looks, real = [], os.listdir
    child = "import time; x = b'1' * (64 << 20); print(flush=True); time.sleep(1000)"
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    points = [
        subprocess.Popen([sys.executable, "-c", start], start_new_session=True, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    try:
        for point in points:
            point.stdout.readline()
        monkeypatch.setattr(os, "listdir", lambda path: (looks.append(path), real(path))[1])
        begin = time.monotonic()
        found = [_memory(point.pid, 1 << 40) for _ in range(20) for point in points]
        assert min(found) > 64 << 20 and len(looks) <= 1 + time.monotonic() - begin
    finally:
        for point in points:
            end_session(point.pid)
            point.wait()
    assert not any(_memory(point.pid, 1 << 40) for point in points)


def test_only_folders_of_files_are_left_out_of_the_key(tmp_path):
    """A machine and its files may lie anywhere; other values with slashes count as they are."""
    keys = set()
    for folder, images in (("a", "init=/bin/init"), ("b", "init=/bin/init"), ("c", "init=/sbin/init"), ("d", "1/2/3")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x").write_text("firmware")
        machine = tmp_path / folder / "machine.yaml"
        machine.write_text(
            f"base: bare\nnode: {{images: {{firmware: '{tmp_path / folder / 'x'}', append: '{images}'}}}}\n"
        )
        keys.add(key_of(Task(config=str(machine))))
    assert len(keys) == 3


def test_two_names_of_a_parameter_are_an_input_error():
    with pytest.raises(fabricvp.InputError, match="simulation.seed: is a parameter of the point twice"):
        fabricvp.sweep("bare", grid={"simulation__seed": [1]}, repeat=2, progress=False)


def test_files_among_arguments_count_with_their_contents(cached_sweep, tmp_path):
    file = tmp_path / "input"
    file.write_text("1")

    def run(executor, **grid):
        cached_sweep(function=lambda **given: len(given), grid=grid, executor=executor)

    run("processes", file=[str(file)], folder=[str(tmp_path)])
    (tmp_path / "log").write_text("a folder counts by its name")
    run(NoExecutor(), file=[str(file)], folder=[str(tmp_path)])
    file.write_text("2")
    with pytest.raises(AssertionError, match="1 points are run again"):
        run(NoExecutor(), file=[str(file)], folder=[str(tmp_path)])
