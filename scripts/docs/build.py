# SPDX-License-Identifier: Apache-2.0
"""Builds the site of `make docs`: `build.py` gathers the pages and what they link to in build/docs_source, generates
the reference of parameters, statistics, commands, the schema, Python and C++, and lets MkDocs build build/site, strict
about links."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import cpp_reference
import generated
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE, SITE = REPOSITORY / "build/docs_source", REPOSITORY / "build/site"
CONFIG = REPOSITORY / "build/docs/mkdocs.yml"
TOP = ("README.md", "CONTRIBUTING.md", "TESTING.md", "CHANGELOG.md")
FOLDERS = {
    "Tutorials": "docs/tutorials",
    "How-to": "docs/howto",
    "Reference": "docs/reference",
    "Generated reference": "docs/reference/generated",
    "Explanation": "docs/explanation",
    "Experiments": "docs/experiments",
}
sys.path.insert(0, str(REPOSITORY / "tests/architecture"))
import links  # noqa: E402


def gather() -> None:
    """Copies pages, and files that they link to, each to the place that it has in the tree, so that links stay."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    waiting = [Path(name) for name in TOP] + [
        file.relative_to(REPOSITORY) for file in sorted((REPOSITORY / "docs").rglob("*")) if file.is_file()
    ]
    copied: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in copied:
            continue
        copied.add(path)
        to = SOURCE / path
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(REPOSITORY / path, to)
        if path.suffix == ".md":
            waiting += _linked(path, to)


def _linked(path: Path, to: Path) -> list[Path]:
    """What a page links to. A link to a folder becomes one to the folder's page."""
    text, found = to.read_text(), []
    for target in links.LINK.findall(links.CODE.sub("", links.prose(text))):
        name = target.partition("#")[0]
        if not name or re.match(r"[a-z][a-z0-9+.-]*:", name):
            continue
        file = Path(os.path.normpath(REPOSITORY / path.parent / name))
        if file.is_dir():
            text = text.replace(f"]({name})", f"]({name.rstrip('/')}/README.md)")
            file = file / "README.md"
        found.append(file.relative_to(REPOSITORY))
    to.write_text(text)
    return found


def title(page: Path) -> str:
    """A page's first heading."""
    heading = re.search(r"^# (.*)$", page.read_text(), re.MULTILINE)
    return heading[1] if heading else page.stem


def pages_of(folder: Path) -> list[object]:
    """A folder's pages: its README.md, then those that this links to in its order, then all others; sections for the
    folders in it."""
    index = folder / "README.md"
    order = [os.path.normpath(folder / name.partition("#")[0]) for name in links.LINK.findall(index.read_text())]
    named = [Path(name) for name in dict.fromkeys(order) if name.endswith(".md") and Path(name).parent == folder]
    entries: list[object] = [str(index.relative_to(SOURCE))]
    for page in [*named, *sorted(set(folder.glob("*.md")) - set(named))]:
        if page != index:
            entries.append({title(page): str(page.relative_to(SOURCE))})
    for below in sorted(folder.iterdir()):
        if (below / "README.md").exists() and str(below.relative_to(SOURCE)) not in FOLDERS.values():
            entries.append({title(below / "README.md"): pages_of(below)})
    return entries


def configure() -> None:
    """MkDocs' configuration: the shipped one, and the navigation."""
    text = (REPOSITORY / "scripts/docs/mkdocs.yml").read_text()
    nav: list[object] = [{"FabricVP": "README.md"}]
    nav += [
        {name: pages_of(SOURCE / folder)}
        for name, folder in FOLDERS.items()
        if (SOURCE / folder / "README.md").exists()
    ]
    nav.append({"Development": [{title(SOURCE / name): name} for name in TOP[1:]]})
    CONFIG.parent.mkdir(parents=True, exist_ok=True)
    CONFIG.write_text(text + yaml.safe_dump({"nav": nav}, allow_unicode=True, sort_keys=False))


def main() -> int:
    gather()
    reference = SOURCE / "docs/reference/generated"
    reference.mkdir()
    generated.write(reference)
    cpp_reference.write(reference, REPOSITORY / "build/docs")
    (SOURCE / "assets").mkdir()
    shutil.copyfile(REPOSITORY / "scripts/docs/iframe-worker.js", SOURCE / "assets/iframe-worker.js")
    configure()
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "true"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--clean", "-f", CONFIG], env=environment
    )
    if done.returncode == 0:
        print(SITE / "index.html")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
