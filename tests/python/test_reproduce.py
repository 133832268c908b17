# SPDX-License-Identifier: Apache-2.0
"""`fabricvp reproduce`: all experiments in a row, what stops them, where they go on, and the page that they leave."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser

import pytest
from browser import needs_browser, opened
from fabricvp.errors import InputError
from fabricvp.experiments import registry
from fabricvp.reproduce.command import main
from fabricvp.reproduce.outcomes import read_outcomes
from fabricvp.reproduce.plan import experiments_of, finished, refuse_to_lose, systems_named
from fabricvp.reproduce.report import _bars

#: Two systems of experiments that take no time, in place of those of the package.
SITE = """
from fabricvp.experiments import registry
from fabricvp.experiments.registry import Budget, Registered, System

registry.EXPERIMENTS.clear()
registry.SYSTEMS.clear()
for name in ("good", "fails", "broken", "dies", "slow"):
    registry.EXPERIMENTS[name] = Registered(f"trial_{name}", "a trial", Budget(60, 2))
registry.SYSTEMS["first"] = System("First & oldest (2001)", ("good", "fails"), ("broken", "dies"))
registry.SYSTEMS["second"] = System("Second (2002)", ("slow",))
"""
COMMON = """
import os
import time

from fabricvp.experiments import Experiment


def measure(point):
    with open(os.environ["CALLS"], "a") as calls:
        print(point, file=calls, flush=True)
    time.sleep(float(os.environ.get("SLOW", 0)))
    return point * 2.0


def run(run):
    from matplotlib.figure import Figure

    values = run.map("points", measure, list(range(int(os.environ.get("POINTS", 3)))))
    run.report.conclude("Twice <as> much.")
    run.report.row("speed", "GB/s", values[1], 2.1, "a paper")
    run.report.row("loss", "%", values[2], -16.0, "a paper")
    run.report.row("nothing published", "1", values[0])
    run.report.row("not measured", "1", float("nan"), 7, "a paper")
    (figure := Figure()).subplots().plot(values)
    run.report.plot("line", figure, "Points & their doubles")
    finish(run)


"""
MODULES = {
    "good": "def finish(run): run.report.check('conserved', True, 'all bytes')",
    "fails": "def finish(run): raise KeyError('lost')",
    "broken": "def finish(run): run.report.check('conserved', False, 'a byte is lost')",
    "dies": "def finish(run): os._exit(9)",
    "slow": "def finish(run): pass",
}


@pytest.fixture
def trials(tmp_path):
    """Runs `fabricvp reproduce` with the trials; gives the completed process, or the running one."""
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "sitecustomize.py").write_text(SITE)
    for name, text in MODULES.items():
        last = f"EXPERIMENT = Experiment('{name}', 'Trial {name}', 'Is it {name}?', run)"
        (modules / f"trial_{name}.py").write_text(f"{COMMON}\n\n{text}\n\n\n{last}\n")

    def start(*arguments, **environment):
        return subprocess.Popen(
            [sys.executable, "-m", "fabricvp", "reproduce", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(modules), "CALLS": str(tmp_path / "calls")} | environment,
        )

    def run(*arguments, **environment):
        process = start(*arguments, **environment)
        process.stdout_text, process.stderr_text = process.communicate(timeout=500)
        return process

    run.start, run.calls, run.modules = start, tmp_path / "calls", modules
    return run


class Page(HTMLParser):
    """What a page has, and whether it is well formed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.pictures, self.links, self.ids, self.loaded = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "img":
            self.pictures.append(given["alt"])
            assert given["src"].startswith("data:image/svg+xml;base64,")
        if tag in ("script", "link", "iframe"):
            self.loaded.append(tag)
        if tag == "a":
            self.links.append(given["href"])
        if "id" in given:
            self.ids.append(given["id"])
        if tag not in ("img", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_failing_experiment_does_not_stop_the_others(trials, tmp_path):
    done = trials("all", "--quick", "--jobs", "2", "--out", "found")
    assert done.returncode == 1, done.stderr_text
    lines = done.stdout_text.splitlines()
    assert lines[0] == "failed: fails: KeyError: 'lost' (see found/fails/log.txt)"
    assert lines[1] == "failed: broken: invariants that do not hold: conserved (see found/broken/log.txt)"
    assert lines[2].startswith("failed: dies: its process ended with status 9; the last line of its log: points 3/3")
    assert lines[3:] == ["experiments: 5; ended well: 2; written to found/report.html"]
    progress = done.stderr_text.splitlines()
    assert progress[0] == "experiments: 5; there, of this version: 0; about 10 s of a core to go"
    took = [line for line in progress if " took " in line]
    assert [line.split()[2] for line in took] == ["good", "slow", "fails", "broken", "dies"]  # systems' firsts, first
    assert re.search(r" took [\d.]+ s; \d+ s, about \d+ s left$", took[0])
    ended = json.loads((tmp_path / "found/reproduce.json").read_text())["experiments"]
    assert {name: each["status"] for name, each in ended.items()} == {
        "good": 0, "slow": 0, "fails": 1, "broken": 1, "dies": 9,
    }  # fmt: skip
    result = json.loads((tmp_path / "found/good/result.json").read_text())
    assert result["options"]["quick"] and 0 < result["cost"]["core_s"] == ended["good"]["core_s"]
    calls = trials.calls.read_text().splitlines()

    again = trials("all", "--quick", "--out", "found")
    assert again.returncode == 1 and again.stdout_text.splitlines()[:2] == lines[:2]
    assert again.stderr_text.startswith("experiments: 5; there, of this version: 3; about 4 s of a core to go\n")
    assert trials.calls.read_text().splitlines() == calls  # all points were in the result cache
    full = trials("second", "--out", "found")
    assert full.returncode == 0 and full.stderr_text.startswith("experiments: 1; there, of this version: 0")
    assert json.loads((tmp_path / "found/reproduce.json").read_text())["systems"] == ["first", "second"]
    assert full.stdout_text == "experiments: 1; ended well: 1; written to found/report.html\n"


def test_quick_samples_do_not_replace_results_of_full_size(trials, tmp_path):
    assert trials("second", "--out", "found").returncode == 0
    kept = {path: path.read_bytes() for path in (tmp_path / "found").rglob("*") if path.is_file()}
    module = trials.modules / "trial_slow.py"
    for text in (module.read_text(), module.read_text().replace("* 2.0", "* 2.5")):  # of another version, too
        module.write_text(text)
        refused = trials("all", "--quick", "--out", "found")
        assert refused.returncode == 2 and refused.stdout_text == ""
        assert refused.stderr_text.endswith(
            "found/slow: has results of full size, which --quick would replace: give another --out\n"
        )
        assert refused.stderr_text.count("\n") == 1
    assert kept == {path: path.read_bytes() for path in (tmp_path / "found").rglob("*") if path.is_file()}
    refuse_to_lose(tmp_path / "found", ["good", "fails"])  # beside them


def test_another_version_runs_again(trials, tmp_path):
    assert trials("second", "--quick", "--out", "found").returncode == 0
    calls = trials.calls.read_text()
    module = trials.modules / "trial_slow.py"
    module.write_text(module.read_text().replace("* 2.0", "* 2.5"))
    page = trials("--report", "found")
    assert page.returncode == 0 and page.stdout_text == "written to found/report.html\n"
    assert "the result is of another version" in (tmp_path / "found/report.html").read_text()
    assert trials("second", "--quick", "--out", "found").stderr_text.startswith(
        "experiments: 1; there, of this version: 0"
    )
    assert sorted(trials.calls.read_text()) == sorted(calls * 2)
    assert "another version" not in (tmp_path / "found/report.html").read_text()


def test_the_page(trials, tmp_path):
    trials("first", "--quick", "--out", "found")
    text = (tmp_path / "found/report.html").read_text()
    page = Page(text)
    assert not page.loaded and "http" not in text.replace("http-equiv", "")  # nothing from elsewhere
    assert page.pictures == ["Points & their doubles"] * 2
    assert {link[1:] for link in page.links} <= set(page.ids) and len(set(page.ids)) == len(page.ids)
    assert page.links[0] == "#content"  # the first stop of the keyboard
    words = " ".join(re.sub(r"<[^>]+>", " ", text).split())
    assert "Of 4 published figures 2 agree, 0 are near, 2 miss." in words
    assert "speed GB/s 2.1 2 0.952 published 2.1, ours 2 ✓ agrees a paper" in words
    assert "loss % -16 4 -0.25 published -16, ours 4 ✗ misses not explained yet a paper" in words
    assert "Twice &lt;as&gt; much." in text and "First &amp; oldest (2001)" in text
    assert "failed: KeyError: &#39;lost&#39;" in text and "BROKEN conserved : a byte is lost" in words
    assert "not measured: came out as nan" in words and "Quick samples: good, broken" in words
    result = json.loads((tmp_path / "found/good/result.json").read_text())
    for known in ("simulator_sha256", "code_sha256", "version"):
        assert result[known] in text
    assert "fabricvp experiment good --quick --out results" in words and "of a core (budget 2 s)" in words
    assert "prefers-color-scheme: dark" in text and ":focus-visible" in text
    without = trials("second", "--report", "found")  # what has not run is on the page, too
    assert without.returncode == 0
    assert "has not run" in (tmp_path / "found/report.html").read_text()


def ended(processes):
    """Waits until none of them is there."""
    while any(os.path.exists(f"/proc/{process}") for process in processes):
        time.sleep(0.05)


def descendants(process):
    """Numbers of the processes that a process has started, and these in turn."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == process:
                found += [int(name), *descendants(int(name))]
    return found


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_end_in_the_middle_loses_nothing(trials, tmp_path, how):
    process = trials.start("second", "--quick", "--jobs", "1", "--out", "found", SLOW="0.3", POINTS="12")
    while not trials.calls.exists() or len(trials.calls.read_text().splitlines()) < 4:
        assert process.poll() is None
        time.sleep(0.05)
    children = descendants(process.pid)
    assert children
    process.send_signal(how)
    out, err = process.communicate(timeout=300)
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    if how == signal.SIGINT:
        assert err.splitlines()[-1] == "interrupted; the same command goes on from here" and "Traceback" not in err
        assert "has not run" in (tmp_path / "found/report.html").read_text()
    ended(children)
    first = trials.calls.read_text().splitlines()
    assert len(first) < 12
    again = trials("second", "--quick", "--out", "found", "--jobs", "1", POINTS="12")
    assert again.returncode == 0, again.stderr_text
    calls = trials.calls.read_text().splitlines()
    assert sorted(set(calls), key=int) == [str(n) for n in range(12)]
    assert len(calls) <= 13 and calls[: len(first)] == first  # the point that was running, at most, runs twice


@pytest.mark.parametrize(
    "arguments, says",
    [
        ([], "give --out DIR or --report DIR"),
        (["all"], "give --out DIR or --report DIR"),
        (["all", "--out", "x", "--report", "x"], "give --out DIR or --report DIR"),
        (["--out", "x"], "name the systems: all, netcrafter"),
        (["gpurdm", "--out", "x"], "no system 'gpurdm', did you mean 'gpurdma'?"),
        (["all", "--out", "/proc/nowhere"], "/proc/nowhere: cannot be written to"),
        (["all", "--out", "x", "--result-cache", "/proc/nowhere"], "/proc/nowhere: cannot be written to"),
        (["--report", "nowhere"], "nowhere: there is no such folder of results"),
        (["all", "--out", "x", "--jobs", "0"], "jobs"),
    ],
)
def test_bad_input_is_one_line(command, arguments, says):
    done = command("reproduce", *arguments)
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1


def test_a_folder_without_results_gets_no_page(command, tmp_path):
    (tmp_path / "empty").mkdir()
    done = command("reproduce", "--report", "empty")
    assert done.returncode == 2 and "empty: holds no results of experiments" in done.stderr, done.stderr
    assert not list((tmp_path / "empty").iterdir())


def test_help_has_an_example(command):
    done = command("reproduce", "--help")
    assert done.returncode == 0 and "example: fabricvp reproduce all --quick --out results" in done.stdout
    assert "GPUrdma (ROSS 2016): gpurdma-placement" in done.stdout


def test_a_result_that_cannot_be_read_is_named(trials, tmp_path):
    (tmp_path / "found/good").mkdir(parents=True)
    for text in ("{", "[]", '{"experiment": "good", "tables": {}}', '{"experiment": "slow", "tables": {}}'):
        (tmp_path / "found/good/result.json").write_text(text)
        assert trials("first", "--report", "found").returncode == 0
        assert "found/good/result.json: is not" in (tmp_path / "found/report.html").read_text()


@pytest.mark.parametrize(
    "wrong",
    [
        *({"rows": [5]}, {"rows": [{"figure": "x"}]}, {"rows": None}, {"cost": {}}, {"cost": 5}, {"options": [5]}),
        *({"plots": [5]}, {"plots": ["a"]}, {"command": "fabricvp 'x"}, {"checks": [5]}, {"cost": {"core_s": "x"}}),
        {"rows": [{"figure": "latency", "unit": "us", "measured": "x", "published": 1, "source": "s"}]},
    ],
)
def test_results_of_wrong_shape_have_a_line_of_the_page(tmp_path, wrong):
    parts = {"verdict": [], "plots": [], "options": {}, "rows": [], "checks": [], "tables": {}, "machines": []}
    texts = {"experiment": "rdma", "version": "1", "title": "t", "question": "q", "command": "fabricvp experiment rdma"}
    texts |= {"config_sha256": "0", "simulator_sha256": "0", "code_sha256": "0"}
    folder = tmp_path / "rdma"
    folder.mkdir()
    whole = texts | parts | {"cost": {"wall_s": 1, "core_s": 1}}
    for contents in (whole, whole | wrong):
        (folder / "result.json").write_text(json.dumps(contents))
        assert main(["gpurdma", "--report", str(tmp_path)]) == 0
        is_wrong = "is not the result of" in (tmp_path / "report.html").read_text()
        assert is_wrong == (contents is not whole)
    assert finished(folder, "rdma", False) is None


@pytest.mark.parametrize(
    "contents",
    [
        {"quick": True, "systems": ["nope"], "experiments": {}},
        {"quick": True, "systems": [["x"]], "experiments": {}},
        {"quick": True, "systems": [], "experiments": {"rdma": {"status": "a", "error": 5, "wall_s": 1, "core_s": 1}}},
        "[" * 100_000,
    ],
)
def test_outcomes_of_wrong_shape_are_none(tmp_path, contents):
    (tmp_path / "reproduce.json").write_text(contents if isinstance(contents, str) else json.dumps(contents))
    known = read_outcomes(tmp_path)
    assert known is None or known.systems == ()
    assert main(["gpurdma", "--report", str(tmp_path)]) == 0


def test_every_experiment_is_of_one_system_and_states_its_budget():
    names = experiments_of(systems_named(["all"]))
    assert len(set(names)) == len(names) and set(names) <= set(registry.EXPERIMENTS)
    assert names[:5] == [system.experiments[0] for system in registry.SYSTEMS.values()]
    assert experiments_of(systems_named(["lanes", "netcrafter", "lanes"]))[:2] == ["netcrafter", "lanes"]
    for known in registry.EXPERIMENTS.values():
        assert 0 < known.budget.quick_s <= known.budget.full_s
    two_cores = [sum(registry.EXPERIMENTS[name].budget.core_s(quick) for name in names) / 2 for quick in (False, True)]
    assert two_cores[0] <= 12 * 3600 and two_cores[1] <= 20 * 60  # a night, and a break
    with pytest.raises(InputError, match="no system 'x'"):
        systems_named(["x"])


@pytest.mark.parametrize(
    "published, ours, bars",
    [
        (2.0, 1.0, [(0, 120), (0, 60)]),
        (-2.0, 1.0, [(0, 80), (80, 40)]),
        (0.0, 0.0, [(0, 0.5), (0, 0.5)]),
        (-4.0, -1.0, [(0, 120), (90, 30)]),
    ],
)
def test_bars_have_one_scale(published, ours, bars):
    assert [(bar.begin, bar.width) for bar in _bars(published, ours)] == bars


#: In the page: what a reader's browser made of it, told to the page around it.
INSIDE = """<script>
addEventListener("load", () => parent.postMessage({
  width: innerWidth,
  scrolls: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  pictures: [...document.images].filter(image => image.naturalWidth > 0 && image.alt).length,
  boxes: [...document.querySelectorAll(".wide")].filter(box => box.tabIndex == 0).length,
  first: document.querySelector("a, button, input, [tabindex]").getAttribute("href"),
  background: getComputedStyle(document.body).backgroundColor,
}, "*"));
</script></body>"""
AROUND = """<!DOCTYPE html><title>around</title><pre></pre>%s<script>
addEventListener("message", event => document.querySelector("pre").append(JSON.stringify(event.data) + "\\n"));
</script>"""


@needs_browser
def test_a_browser_shows_the_page_at_two_widths(trials, tmp_path):
    """In frames of these widths: the window of a headless browser is never narrower than 500 pixels."""
    trials("all", "--quick", "--out", "found")
    text = (tmp_path / "found/report.html").read_text()
    (tmp_path / "inside.html").write_text(text.replace("</body>", INSIDE))
    frames = "".join(f'<iframe width={width} height=800 src="inside.html"></iframe>' for width in (1280, 400))
    (tmp_path / "around.html").write_text(AROUND % frames)
    for scheme, background in (("1", "rgb(255, 255, 255)"), ("0", "rgb(18, 22, 28)")):  # light, dark
        shown, console = opened(
            tmp_path / "around.html",
            tmp_path,
            f"--blink-settings=preferredColorScheme={scheme}",
            "--window-size=1400,900",
        )
        assert console == []
        seen = [json.loads(line) for line in re.search("<pre>(.*?)</pre>", shown, re.DOTALL)[1].split("\n") if line]
        assert sorted(each["width"] for each in seen) == [400, 1280]
        for each in seen:
            assert each["scrolls"] <= 0 and each["pictures"] == text.count("<img ") == 3, each
            assert each["boxes"] == text.count("class=wide") + text.count('class="wide') and each["first"] == "#content"
            assert each["background"] == background
