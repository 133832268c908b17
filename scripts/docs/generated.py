# SPDX-License-Identifier: Apache-2.0
"""Pages of reference that the programs tell themselves: parameters, statistics, commands, schema, Python."""

import json
import re
import subprocess
import sys
from pathlib import Path

import fabricvp

LAUNCHER = Path(sys.prefix) / "bin" / "fabricvp"
#: Shipped machines that have every kind of block between them.
MACHINES = ("cluster", "uboot", "numa_quad", "compnet_apu_pair", "cs_storm", "netcrafter_quad_on")
INDEX = """# Generated reference

Look up names, types and defaults as the installed version has them. `make docs` writes these pages anew.

| page | what it holds |
|---|---|
| [Parameters](parameters.md) | every key of a configuration, with default, range and help |
| [Schema](schema.md) | the JSON schema of configuration files, for editors |
| [Statistics](statistics.md) | every counter of the shipped machines, with unit and help |
| [Commands](commands.md) | what each command takes |
| [Python](python.md) | the package's classes and functions |
| [C++](cpp.md) | the headers that devices, stages and programs of your own include |
"""


def write(folder: Path) -> None:
    """Writes all of them."""
    (folder / "README.md").write_text(INDEX)
    (folder / "parameters.md").write_text(_command("reference"))
    (folder / "schema.md").write_text(_schema())
    (folder / "statistics.md").write_text(_statistics())
    (folder / "commands.md").write_text(_commands())
    (folder / "python.md").write_text(_python())


def _command(*arguments: str) -> str:
    return subprocess.run([LAUNCHER, *arguments], capture_output=True, text=True, check=True).stdout


def _fenced(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def _schema() -> str:
    text = _command("schema")
    json.loads(text)
    return (
        "# Schema of configuration files\n\nLet an editor complete and check a configuration: `fabricvp schema >"
        f" fabricvp.schema.json` writes the same.\n\n{_fenced(text, 'json')}"
    )


def _commands() -> str:
    """The help of the program, and of each command that it lists."""
    top = _command("--help")
    text = f"# Commands\n\nSee what each command takes.\n\n{_fenced(top)}"
    for name in dict.fromkeys(re.findall(r"^  ([a-z][a-z-]*)  +\S", top, re.MULTILINE)):
        text += f"\n## fabricvp {name}\n\n{_fenced(_command(name, '--help'))}"
    return text


def _statistics() -> str:
    """Of machines that have every block, equal blocks once: N in a name stands for any number."""
    rows: dict[str, tuple[str, str, str]] = {}
    for config in MACHINES:
        described = subprocess.run([sys.executable, "-c", DESCRIBE, config], capture_output=True, text=True, check=True)
        for path, unit, text in json.loads(described.stdout):
            rows.setdefault(re.sub(r"\d+", "N", path), (unit, text, config))
    text = (
        "# Statistics\n\nFind a counter by its path; N stands for a number. `fabricvp describe CONFIG PATH` lists those"
    )
    text += " of one block.\n"
    groups: dict[str, list[str]] = {}
    for path, (unit, described, config) in sorted(rows.items()):
        block, _, name = path.rpartition(".")
        groups.setdefault(block, []).append(f"| `{name}` | {unit} | {_cell(described)} | `{config}` |\n")
    for block, lines in groups.items():
        text += f"\n## {block or 'machine'}\n\n| statistic | unit | what it is | for example in |\n|---|---|---|---|\n"
        text += "".join(lines)
    return text


DESCRIBE = """
import json, sys
from fabricvp import _fabricvp
print(json.dumps(_fabricvp.Session.from_config(sys.argv[1], []).statistic_descriptions()))
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _python() -> str:
    text = "# Python\n\nDrive machines from Python with these classes and functions; [the guide](../../howto/python.md)"
    text += " shows them at work.\n"
    for name in fabricvp.__all__:
        thing = getattr(fabricvp, name)
        if callable(thing) and (module := getattr(thing, "__module__", "")).startswith("fabricvp"):
            text += f"\n::: {module}.{name}\n"
    return text
