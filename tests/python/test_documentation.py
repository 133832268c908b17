# SPDX-License-Identifier: Apache-2.0
"""Python in the documentation is run, and every public name is documented."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import fabricvp
import pytest
from fabricvp.serving import LIVE_CLASSES

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples():
    for page in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]:
        if page.exists():
            for number, text in enumerate(EXAMPLE.findall(page.read_text()), 1):
                yield pytest.param(text, id=f"{page.relative_to(REPOSITORY)}#{number}")
    start = inspect.getdoc(fabricvp).split("\n\n", 1)[1]
    yield pytest.param(
        "\n".join(line[4:] for line in start.splitlines() if line.startswith("    ") or not line), id="fabricvp.__doc__"
    )


@pytest.mark.parametrize("text", list(examples()))
def test_example(text, clone):
    """A block of a page stands alone; it says `# not run` in its first line where it cannot."""
    if text.startswith("# not run"):
        return
    script = clone / "example.py"
    script.write_text(text)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=1000, cwd=clone)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stub_matches_the_compiled_module():
    module = fabricvp._fabricvp
    stub = ast.parse((Path(fabricvp.__file__).parent / "_fabricvp.pyi").read_text())
    names = set()
    for node in stub.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        if isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        if isinstance(node, ast.ClassDef) and node.name != "InputError":
            described = {n.name for n in node.body if isinstance(n, ast.FunctionDef) and n.name != "__init__"}
            described |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
            assert described == {n for n in vars(getattr(module, node.name)) if not n.startswith("_")}, node.name
    assert names == {n for n in vars(module) if not n.startswith("_")}


def test_public_names_have_docstrings():
    missing = []
    for owner in [*LIVE_CLASSES, fabricvp.RemotePlatform, fabricvp.RunResult, fabricvp.Match]:
        if not inspect.getdoc(owner):
            missing.append(owner.__name__)
        for name, member in vars(owner).items():
            if name.startswith("_") or not (callable(member) or isinstance(member, property)):
                continue
            if not inspect.getdoc(member) and not inspect.getdoc(getattr(owner.__mro__[1], name, None)):
                missing.append(f"{owner.__name__}.{name}")
    for name in fabricvp.__all__:
        if callable(getattr(fabricvp, name)) and not inspect.getdoc(getattr(fabricvp, name)):
            missing.append(name)
    assert not missing
