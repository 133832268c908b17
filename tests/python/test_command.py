# SPDX-License-Identifier: Apache-2.0
"""The command `fabricvp` as the package installs it: exit statuses, files, messages."""

import json
import os
import re
import resource

import fabricvp
import guests
import pytest


def test_run_writes_results(command, assemble, tmp_path):
    done = command("run", "bare", "--firmware", assemble(guests.HELLO), "--out", "results")
    assert (done.returncode, done.stdout) == (0, "hello, world\n"), done.stderr
    values = json.loads((tmp_path / "results" / "stats.json").read_text())
    assert {"sim.time_s", "sim.wall_s", "sim.events", "sim.instructions"} <= set(values)
    assert (tmp_path / "results" / "config.resolved.yaml").exists()
    frame = fabricvp.read_results(tmp_path / "results")
    assert frame.iloc[:, 0]["sim.instructions"] == values["sim.instructions"]


def test_exit_statuses(command, assemble):
    assert command("run", "bare", "--firmware", assemble(guests.COUNTS), "--time", "1 ms").returncode == 0
    assert command("run", "bare", "--firmware", assemble(guests.FAILS)).returncode == 1
    assert command("run", "no_such_machine").returncode == 2


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_outputs_that_cannot_have_all_characters(encoding, command, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    done = command("run", "linux_gpu", "--program", "x", "--help")
    assert done.returncode == 0 and "?" in done.stdout, done.stderr


UNIT = "node.gpus.0.compute_unit"


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["run"],
        ["run", "bare", "--frobnicate"],
        ["run", "bare", "--time", "soon"],
        ["run", "bare", "--set", "nodes"],
        ["run", "bare", "--set", "node.host.hearts=1"],
        ["run", "bare", "--set", "node.host.harts=0"],
        ["check", "gpu", "--set", f"{UNIT}.simd_units=8", "--set", f"{UNIT}.wavefront_slots=16"],
        ["run", "bare", "--firmware", "nowhere.elf"],
        ["check", "nowhere.yaml"],
        ["diff", "nowhere", "nowhere"],
        ["run", "bare", "--console", "carrier pigeon"],
    ],
)
def test_bad_input_is_one_line(command, arguments):
    done = command(*arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("fabricvp: ") and "Traceback" not in done.stderr


def test_too_many_slots_of_a_compute_unit_name_their_key(command):
    """Each of the two numbers is within its range."""
    done = command("check", "gpu", "--set", f"{UNIT}.simd_units=8", "--set", f"{UNIT}.wavefront_slots=16")
    assert done.stderr.startswith("fabricvp: --set ") and "wavefront_slots" in done.stderr, done.stderr
    assert "at most 64" in done.stderr
    done = command("check", "gpu", "--set", f"{UNIT}.simd_units=8", "--set", f"{UNIT}.wavefront_slots=8")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments, megabytes",
    [
        *((["run", "hello"], limit) for limit in (20, 25, 30, 60, 100, 150)),
        (["check", "gpu"], 200),
        (["run", "gpu", "--app", "vectoradd"], 2000),
        *((["experiment", "pcie-congestion", "--quick", "--out", "found"], limit) for limit in (30, 100, 150, 250)),
    ],
)
def test_too_little_memory_is_one_line(command, arguments, megabytes):
    """Whatever of it does not fit: libraries, numpy's threads, the machine."""
    limit = megabytes * 1_000_000
    done = command(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("fabricvp") and "Traceback" not in done.stderr, (
        done.stderr
    )


def test_console_input_from_a_pipe(command, assemble):
    done = command("run", "bare", "--firmware", assemble(guests.ECHO), input="good day\noff\n")
    assert done.returncode == 0 and "you typed good day\n" in done.stdout and done.stdout.endswith("bye\n")


def test_other_commands(command):
    assert "node.host" in command("reference").stdout
    schema = json.loads(command("schema").stdout)
    assert "properties" in schema
    assert "harts" in command("describe", "uboot").stdout
    assert command("check", "bare").returncode == 0
    help_text = command("--help").stdout
    for name in ("run", "check", "describe", "schema", "diff"):
        assert name in help_text


def test_differences_of_two_runs(command, assemble):
    for harts in (1, 2):
        command(
            "run",
            "bare",
            "--firmware",
            assemble(guests.COUNTS),
            "--time",
            "100us",
            "--set",
            f"node.host.harts={harts}",
            "--out",
            f"r{harts}",
        )
    done = command("diff", "r1", "r2", "--all")
    assert "harts" in done.stdout and "hart1" in done.stdout
    assert "hart1" not in command("diff", "r1", "r1").stdout


def test_differences_of_parameters_are_bounded(command):
    for name, machine in ("r1", "hello"), ("r2", "netcrafter_quad"):
        command("run", machine, "--time", "1us", "--quiet", "--console", "none", "--out", name)
    said = command("diff", "r1", "r2", "--lines", 3).stdout.partition("\n\n")[0].splitlines()
    assert len(said) == 5 and said[0] == "parameters:" and said[4].endswith(" more (--lines 0 shows them)")
    whole = command("diff", "r1", "r2", "--lines", 0).stdout.partition("\n\n")[0].splitlines()
    assert any(re.fullmatch(r"  node0\.gpus: is in r2 alone \(\d+ parameters\)", line) for line in whole)
    assert not any("node0.gpus." in line for line in whole) and len(whole) < 60
    assert len(command("diff", "r2", "r1", "--all").stdout.partition("\n\n")[0].splitlines()) > 400


@pytest.mark.parametrize("name", fabricvp.configs())
def test_stock_machines_run_by_name_from_anywhere(command, name):
    """Files that a configuration names are found from there, or a line says how to get them."""
    done = command("run", name, "--time", "1 us", "--quiet")
    if done.returncode == 2 and "make linux" in done.stderr:
        assert done.stderr.count("\n") == 1 and name.startswith("linux")
        return
    unfinished = done.returncode == 1 and "has not ended; the time limit was reached" in done.stderr
    assert (done.returncode == 0 or unfinished) and "Traceback" not in done.stderr, done.stderr


def test_names_of_any_bytes(command, tmp_path):
    """Names of files need not be UTF-8."""
    folder = os.fsdecode(b"a\xffb")
    done = command("run", "hello", "--out", folder, "--quiet", errors="surrogateescape")
    assert done.returncode == 0 and not done.stderr, done.stderr
    names = {path.name for path in (tmp_path / folder).iterdir()}
    assert {"machine.svg", "stats.json", "run.json"} <= names
    assert rb"a\xffb" in (tmp_path / folder / "machine.svg").read_bytes()
    drawn = command("draw", folder, "--out", folder, errors="surrogateescape")
    assert drawn.returncode == 0 and not drawn.stderr, drawn.stderr
    for arguments in (
        ["run", folder],
        ["check", folder],
        ["run", "hello", "--firmware", folder],
        ["run", "hello", "--set", f"node.{folder}=1"],
        ["run", "hello", "--console", f"file:{folder}"],
        [folder],
        ["draw", f"{folder}.yaml"],
        ["cite", folder],
        ["new", "kernel", folder],
        ["congestion", folder, folder],
        ["experiment", folder],
        ["docs", "refresh", folder],
    ):
        done = command(*arguments, errors="surrogateescape")
        assert done.returncode == 2 and done.stderr and "Traceback" not in done.stderr, (arguments, done.stderr)


def test_package_data():
    assert {"bare", "uboot", "uboot_m", "linux"} <= set(fabricvp.configs())
    assert fabricvp.config_path("uboot").read_text().startswith("# SPDX")
    with pytest.raises(fabricvp.InputError, match="no stock machine 'ubot'"):
        fabricvp.config_path("ubot")
    with pytest.raises(fabricvp.InputError, match="no firmware image 'nothing'"):
        fabricvp.firmware_path("nothing")


def test_our_own_firmware():
    with fabricvp.spawn("hello") as platform:
        result = platform.run("1 s")
        assert result.outcome == "power_off", result
        assert "all ok" in platform.nodes[0].console.output
        assert platform.load_elf(fabricvp.firmware_path("hello")) == 0x8000_0000


@pytest.mark.parametrize(("typed", "meant"), [("drw", "draw"), ("experimnt", "experiment"), ("describ", "describe")])
def test_the_nearest_of_all_commands(command, typed, meant):
    """Those that are written in Python, too."""
    done = command(typed)
    assert done.returncode == 2 and f"did you mean '{meant}'?" in done.stderr


@pytest.mark.parametrize("line", ["node: {host: {harts: 1}}", "node:\n\thost: {harts: 1}"])
def test_a_tab_in_yaml_is_named(command, tmp_path, line):
    (tmp_path / "tabbed.yaml").write_text(f"simulation:\n\tseed: 4\n{line}\n")
    done = command("check", "tabbed.yaml")
    assert done.stderr == "fabricvp: tabbed.yaml:2: a tab indents this line; YAML takes blanks alone\n"


def test_pcie_links_that_were_negotiated_down_are_told_once(command):
    done = command(
        "run",
        "gpu",
        "--app",
        "vectoradd",
        "--size",
        "256",
        "--set",
        "node.gpus.0.link.generation=5",
        "--set",
        "node.gpus.0.link.width=8",
    )
    lines = [line for line in done.stderr.splitlines() if "the link runs at" in line]
    assert done.returncode == 0 and len(lines) == 1
    assert (
        "node0.gpu0.link: the link runs at generation 3, 8 lanes: node0.gpu0.link could do generation 5, 8 lanes"
        in lines[0]
    )
    assert "node0.pcie.switch0.downstream_port0 could do generation 3, 16 lanes" in lines[0]
    for narrow in (), ("--set", "node.gpus.0.link.width=4"):  # a narrow card in a wide slot is as it should be
        done = command("run", "gpu", "--app", "vectoradd", "--size", "256", *narrow)
        assert done.returncode == 0 and "the link runs at" not in done.stderr
