# SPDX-License-Identifier: Apache-2.0
"""Short commands do not pay for what they do not use."""

import subprocess
import sys
from pathlib import Path

import fabricvp
import pytest

STUDY = Path(__file__).resolve().parents[2] / "examples/sweeps/compute_units.yaml"
HEAVY = ("numpy", "pandas", "matplotlib", "rich", "starlette", "uvicorn")


def loaded_after(text, folder):
    """Which of the heavy packages a script has imported when it ends."""
    script = f"import sys\n{text}\nprint('loaded:', *[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1].split()[1:]


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "hello", "--out", "found"],
        ["run", "gpu", "--app", "vectoradd", "--size", "1024", "--quiet"],
        ["describe", "gpu"],
        ["check", "cs_storm"],
        ["apps"],
        ["version"],
        ["schema"],
        ["sweep", str(STUDY), "--dry-run"],
        ["--help"],
    ],
    ids=lambda arguments: "-".join(arguments[:2]).replace(str(STUDY), "STUDY"),
)
def test_commands_import_nothing_heavy(arguments, tmp_path):
    assert loaded_after(f"from fabricvp.cli import main\nassert main({arguments!r}) == 0", tmp_path) == []


def test_a_machine_in_python_imports_nothing_heavy(tmp_path):
    text = (
        "import fabricvp\nplatform = fabricvp.Platform.from_config('hello')\nplatform.run()\n"
        "assert platform.statistics['sim.instructions'] > 0 and platform.nodes[0].memory.read(0x8000_0000, 4)\n"
        "platform.write_results('found')"
    )
    assert loaded_after(text, tmp_path) == []


def test_what_needs_numpy_brings_it(tmp_path):
    text = (
        "import fabricvp\nplatform = fabricvp.Platform.from_config('bare')\nassert"
        " len(platform.nodes[0].memory.array(0x8000_0000, '<u4', 4)) == 4"
    )
    assert loaded_after(text, tmp_path) == ["numpy"]


def test_every_public_name_is_there():
    assert set(fabricvp.__all__) <= set(dir(fabricvp))
    for name in fabricvp.__all__:
        assert getattr(fabricvp, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = fabricvp.nonsense


def test_type_checkers_see_the_same_names():
    import ast
    import inspect

    tree = ast.parse(inspect.getsource(fabricvp))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    assert {node.module: tuple(a.name for a in node.names) for node in block.body} == fabricvp._NAMES
