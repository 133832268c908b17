# SPDX-License-Identifier: Apache-2.0
"""Plug-ins from Python, and as projects outside of the tree build them."""

import subprocess
import sys
import textwrap
from pathlib import Path

import fabricvp
import pytest

BUILD = Path(__file__).resolve().parents[2] / "build" / "release"
LAMP = BUILD / "tests" / "system" / "plugins" / "liblamp.so"
STOPWATCH = BUILD / "examples" / "stopwatch" / "libstopwatch.so"
MACHINE = """\
node:
  host:
    devices:
      - {name: watch, kind: stopwatch, base: 0x20000000}
  pcie:
    endpoints:
      - {name: lamp0, below: root, kind: lamp}
"""

pytestmark = pytest.mark.skipif(not LAMP.exists(), reason="plug-ins of tests are not built (-DFABRICVP_TESTS=ON)")


def test_spawn():
    with fabricvp.spawn(text=MACHINE, plugins=[LAMP, STOPWATCH], node__pcie__lamp0__brightest=7) as platform:
        assert platform.config["node0.pcie.lamp0.brightest"] == 7
        assert platform.statistics["node0.host.watch.alarms"] == 0
        assert f"  - {LAMP}\n" in platform.resolved_config


def test_from_config_and_from_text(tmp_path):
    (tmp_path / "machine.yaml").write_text(MACHINE)
    (tmp_path / "named.yaml").write_text(f"plugins: [{LAMP}, {STOPWATCH}]\n" + MACHINE)
    for call in (
        f"from_config('machine.yaml', plugins=[{str(LAMP)!r}, {str(STOPWATCH)!r}])",
        f"from_text(open('machine.yaml').read(), plugins=[{str(LAMP)!r}, {str(STOPWATCH)!r}])",
        "from_config('named.yaml')",
        "from_text(open('named.yaml').read())",
    ):
        script = f"import fabricvp; print(fabricvp.Platform.{call}.statistics['node0.pcie.lamp0.changes'])"
        done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=100)
        assert (done.returncode, done.stdout) == (0, "0.0\n"), done.stderr


def test_resolved_configuration_is_enough(tmp_path):
    with fabricvp.spawn(text=MACHINE, plugins=[LAMP, STOPWATCH]) as platform:
        text = platform.resolved_config
    with fabricvp.spawn(text=text) as platform:
        assert platform.resolved_config == text


def test_a_platform_after_a_wrong_plugin(tmp_path):
    """The error is one line, and the process goes on without it."""
    (tmp_path / "wrong.so").write_text("no library")
    script = textwrap.dedent(
        f"""
        import fabricvp
        for plugins, says in ((["wrong.so"], "it is no shared library"), (["none.so"], "no such file")):
            try:
                fabricvp.Platform.from_text("nodes: 1", plugins=plugins)
            except fabricvp.InputError as error:
                assert says in str(error) and "\\n" not in str(error), error
            else:
                raise AssertionError(plugins)
        try:
            fabricvp.Platform.from_text("nodes: 1", plugins="one.so")
        except TypeError as error:
            assert "a list of files" in str(error)
        fabricvp.Platform.from_text({MACHINE!r}, plugins=[{str(LAMP)!r}, {str(STOPWATCH)!r}, {str(LAMP)!r}])
        """
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_commands_in_python(command, tmp_path):
    (tmp_path / "machine.yaml").write_text(MACHINE)
    plugins = ["--plugin", LAMP, "--plugin", STOPWATCH]
    for arguments in (["draw", "machine.yaml", "--dot"], ["cite", "machine.yaml"], ["check", "machine.yaml"]):
        done = command(*arguments, *plugins)
        assert done.returncode == 0, done.stderr
        done = command(*arguments)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "is not one of" in done.stderr, done.stderr


def test_results_are_known_by_plugins_and_bases(tmp_path):
    from fabricvp.experiments.result_cache import _files

    (tmp_path / "lamp.so").write_bytes(LAMP.read_bytes())
    (tmp_path / "base.yaml").write_text("plugins: [lamp.so]\nnodes: 1\n")
    (tmp_path / "top.yaml").write_text("base: base.yaml\n")
    found = {path.name for path in _files([str(tmp_path / "top.yaml")])}
    assert found == {"top.yaml", "base.yaml", "lamp.so"}
