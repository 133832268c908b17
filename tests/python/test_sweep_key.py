# SPDX-License-Identifier: Apache-2.0
"""What a point of the result cache is known by: plug-ins and images that a machine names, wherever they lie."""

import builtins
import os
import pickle
import shutil
import time
import types
from dataclasses import dataclass
from pathlib import Path

import fabricvp
import pytest
from fabricvp.experiments.result_cache import ResultCache as ExperimentCache
from fabricvp.experiments.result_cache import _key
from fabricvp.sweeps import key
from fabricvp.sweeps.api import check_points, run_points
from fabricvp.sweeps.code_hash import function_hash
from fabricvp.sweeps.key import key_of
from fabricvp.sweeps.process import Limits, pack
from fabricvp.sweeps.progress import Progress
from fabricvp.sweeps.store import ResultCache
from fabricvp.sweeps.task import PointOutcome, Record, Task

DEVICE = """\
import fabricvp
import values_of_{kind}


class Device(fabricvp.PcieDevice):
    kind = "{kind}"
    value = {value}
"""
MACHINE = "plugins: [device.py]\nnode: {{pcie: {{endpoints: [{{name: d0, below: root, kind: {kind}}}]}}}}\n"


def new_key(task):
    """As another sweep has it: files may have changed since the one before."""
    key.begin_sweep()
    return key_of(task)


@pytest.mark.parametrize("how", ["config", "base", "text"])
def test_plugins_that_a_machine_names_count_with_their_contents(tmp_path, monkeypatch, how):
    monkeypatch.chdir(tmp_path)
    kind = f"of_{how}"
    (tmp_path / "machine.yaml").write_text(MACHINE.format(kind=kind))
    (tmp_path / "top.yaml").write_text("base: machine.yaml\n")
    tasks = {
        "config": Task(config="machine.yaml"),
        "base": Task(config="top.yaml"),
        "text": Task(text=MACHINE.format(kind=kind)),
    }
    beside = tmp_path / f"values_of_{kind}.py"
    beside.write_text("A = 1\n")
    keys = []
    for value in (1, 2, 2):
        (tmp_path / "device.py").write_text(DEVICE.format(kind=kind, value=value))
        keys.append(new_key(tasks[how]))
    beside.write_text("A = 2\n")  # a module that the plug-in imports
    keys.append(new_key(tasks[how]))
    assert keys[0] != keys[1] == keys[2] != keys[3]


def test_plugins_that_are_given_count_with_what_they_import(tmp_path):
    (tmp_path / "device.py").write_text(DEVICE.format(kind="given", value=1))
    keys = []
    for value in (1, 2):
        (tmp_path / "values_of_given.py").write_text(f"A = {value}\n")
        keys.append(new_key(Task(config="bare", plugins=[str(tmp_path / "device.py")])))
    assert keys[0] != keys[1]


def test_a_sweep_measures_again_with_another_plugin(tmp_path):
    """The device's vendor is what a point gives."""
    (tmp_path / "machine.yaml").write_text(MACHINE.format(kind="measured"))
    (tmp_path / "values_of_measured.py").write_text("")

    def measure():
        key.begin_sweep()
        return fabricvp.sweep(
            tmp_path / "machine.yaml",
            function=lambda platform: platform.statistics["node0.pcie.d0.counted"],
            result_cache=tmp_path / "cache",
            progress=False,
        )["value"][0]

    text = DEVICE.format(kind="measured", value=1) + "    statistics = {'counted': 'what is counted'}\n"
    text += "    def __init__(self):\n        self.count('counted', 3)\n"
    (tmp_path / "device.py").write_text(text)
    assert measure() == 3
    (tmp_path / "device.py").write_text(text.replace("3", "4"))
    assert measure() == 4


@pytest.fixture
def installed(tmp_path):
    """Folders of machines as packages have them on two computers, without what `make linux` makes."""
    for name in ("one", "other"):
        folder = tmp_path / name / "site-packages/configs"
        folder.mkdir(parents=True)
        for machine in ("linux", "linux_gpu", "linux_gpu_uboot"):
            shutil.copy(fabricvp.config_path(machine), folder)
        (folder / "based.yaml").write_text("base: linux.yaml\n")
    return [tmp_path / name / "site-packages/configs" for name in ("one", "other")]


@pytest.mark.parametrize("machine", ["linux", "linux_gpu", "linux_gpu_uboot", "based"])
def test_fetched_images_count_with_their_contents(installed, tmp_path, monkeypatch, machine):
    """Those of `fabricvp linux fetch`, in the place of images that no package has."""
    monkeypatch.setenv("FABRICVP_LINUX", str(tmp_path / "fetched"))
    (tmp_path / "fetched").mkdir()
    (tmp_path / "fetched/initramfs.cpio").write_bytes(b"files")
    keys = []
    for contents in (b"kernel 1", b"kernel 2", b"kernel 2"):
        (tmp_path / "fetched/Image").write_bytes(contents)
        keys.append(new_key(Task(config=str(installed[0] / f"{machine}.yaml"))))
    assert keys[0] != keys[1] == keys[2]
    shutil.move(tmp_path / "fetched", tmp_path / "elsewhere")
    monkeypatch.setenv("FABRICVP_LINUX", str(tmp_path / "elsewhere"))
    assert new_key(Task(config=str(installed[1] / f"{machine}.yaml"))) == keys[2]
    (tmp_path / "elsewhere/Image").unlink()
    missing = {new_key(Task(config=str(folder / f"{machine}.yaml"))) for folder in installed}
    assert len(missing) == 1 and not missing & {*keys}


def test_fetched_images_among_arguments_count_with_their_contents(tmp_path, monkeypatch):
    monkeypatch.setenv("FABRICVP_LINUX", str(tmp_path))
    keys = []
    for contents in (b"1", b"2"):
        (tmp_path / "Image").write_bytes(contents)
        tasks = (
            Task(config="bare", program="build/linux/Image"),
            Task(config="bare", app={"initrd": "build/linux/Image"}),
        )
        keys += [new_key(task) for task in tasks]
    assert len({*keys}) == 4


@pytest.fixture
def reads(monkeypatch):
    """Counts how often a file is read."""
    found = []
    for name in ("read_bytes", "open"):
        real = getattr(Path, name)
        monkeypatch.setattr(
            Path,
            name,
            lambda self, *given, real=real, **named: (found.append(self.name), real(self, *given, **named))[1],
        )
    real_open = builtins.open
    monkeypatch.setattr(
        builtins,
        "open",
        lambda file, *given, **named: (found.append(os.path.basename(str(file))), real_open(file, *given, **named))[1],
    )
    return found


def test_an_image_is_read_once_for_all_points(tmp_path, reads):
    image = tmp_path / "firmware.bin"
    image.write_bytes(b"1")
    os.utime(image, (1e9, 1e9))
    machine = tmp_path / "machine.yaml"
    machine.write_text("base: bare\nnode: {images: {firmware: firmware.bin}}\n")
    points = [{"simulation.seed": seed} for seed in range(5)]
    key.begin_sweep()
    reads.clear()
    tasks = check_points(Task(config=str(machine)), points)
    assert "firmware.bin" not in reads  # checks need no hash
    first = {key_of(task) for task in tasks}
    assert len(first) == 5 and reads.count("firmware.bin") == 1
    image.write_bytes(b"2")
    assert not first & {key_of(task) for task in tasks}


def test_a_file_that_has_just_changed_is_read_again(tmp_path):
    """Its time may be that of a change before: clocks of file systems tick every few milliseconds."""
    image = tmp_path / "firmware.bin"
    keys = set()
    now = time.time_ns()
    for contents in (b"1", b"2", b"3"):
        image.write_bytes(contents)
        os.utime(image, ns=(now, now))
        keys.add(key_of(Task(config="bare", program=str(image))))
    assert len(keys) == 3


def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path, monkeypatch):
    image = tmp_path / "firmware.bin"
    image.write_bytes(b"1")

    def refused(*given):
        raise PermissionError(13, "Permission denied", str(image))

    monkeypatch.setattr(Path, "open", refused)
    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(fabricvp.InputError, match=r"firmware.bin: cannot be read \(Permission denied\)$"):
        key_of(Task(config="bare", program=str(image)))


def of_script(text, name):
    """A function of a script, which no module has."""
    names = {"__name__": "__main__", "__package__": None}
    exec(compile(text, "script.py", "exec"), names)
    return types.FunctionType(names[name].__code__, names, name)


@pytest.mark.parametrize(
    "text",
    [
        "import pkg_{n}.helper\ndef f(n): return pkg_{n}.helper.g(n)",
        "def f(n):\n    from pkg_{n} import helper\n    return helper.g(n)",
        "def f(n):\n    import pkg_{n}.helper as h\n    return h.g(n)",
        "import pkg_{n}.helper as h\ndef f(n): return h.g(n)",
        "from functools import lru_cache\nfrom pkg_{n}.helper import g\nh = lru_cache(g)\ndef f(n): return h(n)",
    ],
)
@pytest.mark.parametrize("has_init", [True, False])
def test_modules_of_a_package_count(tmp_path, monkeypatch, text, has_init):
    """However a function of a script reaches them."""
    monkeypatch.syspath_prepend(tmp_path)
    name = f"{abs(hash((text, has_init)))}"
    helper = tmp_path / f"pkg_{name}/helper.py"
    helper.parent.mkdir()
    if has_init:
        (helper.parent / "__init__.py").write_text("")
    found = []
    for factor in (1, 2, 2):
        helper.write_text(f"def g(n): return {factor} * n\n")
        key.begin_sweep()
        found.append(function_hash(of_script(text.format(n=name), "f")))
    assert found[0] != found[1] == found[2]


class Changes:
    """An executor in the place of one during which files change."""

    def __init__(self, change):
        self._change = change

    def run(self, tasks, limits, on_result, on_alive):
        for place in range(len(tasks)):
            on_result(place, Record(PointOutcome.OK))
            self._change()


@pytest.mark.parametrize("what", ["source", "image", "machine"])
def test_what_changes_during_a_sweep_is_not_kept(tmp_path, monkeypatch, what):
    """Its key tells the code and files from before the first point; later points run with those from then on."""
    monkeypatch.syspath_prepend(tmp_path)
    files = {"source": tmp_path / f"measuring_{what}.py", "image": tmp_path / "a.elf", "machine": tmp_path / "m.yaml"}
    files["source"].write_text("def f(platform): return 1\n")
    files["image"].write_bytes(b"1")
    files["machine"].write_text("node: {images: {firmware: a.elf}}\n")
    function = __import__(f"measuring_{what}").f
    cache = ResultCache(tmp_path / "cache")

    def measure(change=lambda: None):
        key.begin_sweep()
        common = Task(config=str(files["machine"]), function=function)
        points = [{"simulation.seed": seed} for seed in (1, 2, 3)]
        run_points(
            common, points, limits=Limits(), executor=Changes(change), result_cache=cache, progress=Progress(False)
        )
        return len(cache.files())

    def change():
        with files[what].open("a") as file:
            file.write("# more\n")

    with pytest.warns(UserWarning, match=f"{files[what].name} changed while the sweep ran: its results") as warned:
        assert measure(change) == 1
    assert len(warned) == 1
    assert measure() == (3 if what == "machine" else 4)  # a comment makes no other machine


@dataclass(frozen=True)
class OnMachine:
    machine: str


def on_machine(point):
    return point


def test_files_of_machines_count_in_points_of_experiments(tmp_path):
    """Images, also of a base, and what plug-ins import."""
    (tmp_path / "base.yaml").write_text(MACHINE.format(kind="in_experiment"))
    (tmp_path / "m.yaml").write_text("base: base.yaml\nnode: {images: {firmware: fw.elf}}\n")
    (tmp_path / "device.py").write_text(DEVICE.format(kind="in_experiment", value=1))
    point = OnMachine(str(tmp_path / "m.yaml"))
    found = []
    for image, imported in ((b"1", "A = 1"), (b"2", "A = 1"), (b"2", "A = 2"), (b"2", "A = 2")):
        (tmp_path / "fw.elf").write_bytes(image)
        (tmp_path / "values_of_in_experiment.py").write_text(imported)
        key.begin_sweep()
        found.append(_key(on_machine, point))
    assert len({*found}) == 3 and found[2] == found[3]


def test_what_changes_during_an_experiment_is_not_kept(tmp_path):
    (tmp_path / "m.yaml").write_text("node: {host: {harts: 2}}\n")
    point = OnMachine(str(tmp_path / "m.yaml"))
    cache = ExperimentCache(tmp_path / "cache")
    assert cache.find(on_machine, point) is None
    (tmp_path / "m.yaml").write_text("node: {host: {harts: 4}}\n")
    with pytest.warns(UserWarning, match="m.yaml changed while"):
        cache.put(on_machine, point, 1, [], 1.0)
    again = ExperimentCache(tmp_path / "cache")
    assert again.find(on_machine, point) is None
    again.put(on_machine, point, 1, [], 1.0)
    assert again.find(on_machine, point) == (1, [], 1.0)


@pytest.mark.parametrize("name", ["a: b.elf", 'a"b.elf', "a, b.elf", "it's.elf", "[x]", "é\tb"])
def test_images_of_any_name_count_with_their_contents(tmp_path, name):
    machine = tmp_path / "m.yaml"
    quoted = name.replace('"', '\\"')
    machine.write_text(f'node: {{images: {{firmware: "{quoted}"}}}}\n')
    keys = []
    for contents in (b"1", b"2"):
        (tmp_path / name).write_bytes(contents)
        keys.append(new_key(Task(config=str(machine))))
    assert keys[0] != keys[1]


def test_functions_with_a_cache_reach_other_processes():
    """They have no module there; their cache begins empty."""
    text = "import functools\n@functools.lru_cache(maxsize=7)\ndef g(n): return 2 * n\ndef f(n): return g(n), g"
    task = pickle.loads(pickle.loads(pack(Task(function=of_script(text, "f"))))[2])
    value, cached = task.function(3)
    assert value == 6 and cached.cache_parameters()["maxsize"] == 7
