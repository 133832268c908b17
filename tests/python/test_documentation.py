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
import tutorials
from fabricvp.serving import LIVE_CLASSES

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLE = re.compile(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def examples():
    for page in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]:
        if page.exists():
            for number, (text, printed) in enumerate(EXAMPLE.findall(page.read_text()), 1):
                yield pytest.param(text, printed, id=f"{page.relative_to(REPOSITORY)}#{number}")
    start = inspect.getdoc(fabricvp).split("\n\n", 1)[1]
    yield pytest.param(
        "\n".join(line[4:] for line in start.splitlines() if line.startswith("    ") or not line),
        "",
        id="fabricvp.__doc__",
    )


@pytest.mark.parametrize(("text", "printed"), list(examples()))
def test_example(text, printed, clone):
    """A block of a page stands alone; it says `# not run` in its first line where it cannot. A block of text behind it
    is what it prints, but for blanks, with `…` for any lines."""
    if text.startswith("# not run"):
        return
    script = clone / "example.py"
    script.write_text(text)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=1000, cwd=clone)
    assert done.returncode == 0, done.stdout + done.stderr
    expected, got = ([" ".join(line.split()) for line in lines.splitlines()] for lines in (printed, done.stdout))
    assert not printed or tutorials.matches(expected, got), done.stdout


def test_files_that_comments_of_machines_name_exist():
    for config in sorted((REPOSITORY / "configs").glob("*.yaml")):
        comments = " ".join(line.partition("#")[2] for line in config.read_text().splitlines())
        for name in re.findall(r"(?<![\w./-])[\w./-]*\w\.(?:md|yaml|cpp|h|c|py|sh)\b", comments):
            assert (REPOSITORY / name).exists() or (config.parent / name).exists(), f"{config.name}: {name}"


def mentions():
    """(page, name) of functions, files and unit tests that pages mention in code spans."""
    for page in [*REPOSITORY.glob("*.md"), *sorted((REPOSITORY / "docs").rglob("*.md"))]:
        if page.name in ("glossary.md", "CHANGELOG.md"):  # these have earlier names, too
            continue
        for span in re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)):
            for name in re.findall(r"\b([a-z_]\w+)\(\)", span):
                yield page, name
            if re.fullmatch(
                r"(abi|configs|docs|examples|firmware|models|platform|python|scripts|tests)/[\w./]+\.\w+|unit\.\w+",
                span,
            ):
                yield page, span


def test_what_pages_mention_exists():
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    known = set(listed.splitlines())
    for file in list(known):
        path = Path(file)
        if file.startswith("tests/unit/") and file.endswith("_test.cpp"):
            known.add("unit." + "_".join([*path.parts[2:-1], path.stem.removesuffix("_test")]))
        if path.name == "CMakeLists.txt":
            known.update(re.findall(r"NAME (unit\.\w+)", (REPOSITORY / file).read_text()))
        if path.suffix in (".c", ".h", ".cpp", ".py", ".pyi", ".S"):
            known.update(re.findall(r"\b(\w+)\(", (REPOSITORY / file).read_text(errors="replace")))
    others = {"MODULE", "x_test", ".elf", "GPU_VIPER.py"}  # stand for any, are built, are gem5's
    missing = [
        f"{page.relative_to(REPOSITORY)}: {name}"
        for page, name in mentions()
        if name not in known and not any(other in name for other in others)
    ]
    assert not missing


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


def test_the_debugging_dialogue_is_one_that_the_tests_hold():
    """tests/system/gdb runs it; here: the page's commands are those of the script, in their order."""
    page = (REPOSITORY / "docs/reference/gpu.md").read_text()
    script = (REPOSITORY / "tests/system/gdb/gpu_page.gdb").read_text().splitlines()
    tried = [line for line in script if line and not line.startswith(("#", "set "))]
    shown = [
        re.sub(r"build/release/firmware|scripts(?=/)", lambda m: "@FIRMWARE@" if "build" in m[0] else "@SCRIPTS@", line)
        for line in re.findall(r"^\(gdb\) (.*)$", page, re.MULTILINE)
        if line != "monitor queue 0"  # tests/system/gdb/gpu_queue.gdb holds that one
    ]
    assert [line.replace("127.0.0.1:@PORT@", ":7777") for line in tried] == shown
