# SPDX-License-Identifier: Apache-2.0
"""The command `fabricvp draw`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from . import _fabricvp
from .arguments import ArgumentParser, pair
from .drawing import draw_run, graphviz_text, machine_svg, made, save
from .errors import InputError
from .overview import overview_svg
from .plugins import load_plugins
from .printable import printable
from .topology_file import read_topology

#: Options that do not go with each other: each draws something else, or elsewhere.
_EXCLUSIVE = {"dot": ("svg", "out", "overview", "region"), "svg": ("out", "region"), "overview": ("region",)}


def main(argv: list[str]) -> int:
    """`fabricvp draw SOURCE`: 0, or `InputError`."""
    parser = ArgumentParser(
        "draw",
        "Draws a machine: machine.svg; of a run also fabric.svg of each node whose GPUs are linked, with what the links"
        " carried.",
        "fabricvp draw results --region kernels",
    )
    parser.add_argument(
        "source", metavar="RUN_FOLDER|CONFIG", help="a folder of `fabricvp run --out`, or a configuration"
    )
    parser.add_argument("--out", metavar="DIR", help="where pictures go (the run's folder, or the working directory)")
    parser.add_argument("--svg", metavar="FILE", help="draw the machine alone, into this file")
    parser.add_argument(
        "--overview", action="store_true", help="draw PCIe trees, fabrics and networks alone, nodes side by side"
    )
    parser.add_argument("--dot", action="store_true", help="print a graph for Graphviz instead")
    parser.add_argument(
        "--region",
        metavar="LABEL",
        help="traffic in these regions of interest (those with most bytes, else the whole run)",
    )
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="override a parameter of CONFIG; repeatable"
    )
    parser.add_argument(
        "--plugin", metavar="FILE", action="append", default=[], help="load a plug-in for CONFIG; repeatable"
    )
    given = parser.parse_args(argv)
    for option, others in _EXCLUSIVE.items():
        for other in others:
            if all(getattr(given, name) not in (None, False) for name in (option, other)):
                raise InputError(f"--{option} does not go with --{other}")
    folder = Path(given.source)
    is_run = folder.is_dir()
    for option in ("set", "plugin"):
        if is_run and getattr(given, option):
            raise InputError(f"--{option}: {folder} is a run that has ended; this is for a configuration")
    load_plugins(given.plugin)
    if not is_run and given.region is not None:
        raise InputError(f"--region: {given.source} has not run; give the folder of a run")
    to = Path(given.out) if given.out else folder if is_run else Path()
    if is_run and not given.dot and given.svg is None and not given.overview:
        files = draw_run(folder, to, given.region)
    else:
        topology = read_topology(folder) if is_run else _configured_topology(given.source, given.set)
        if given.dot:
            sys.stdout.write(graphviz_text(topology))
            return 0
        title = printable(folder.resolve().name if is_run else given.source)
        draw, name = (overview_svg, "overview.svg") if given.overview else (machine_svg, "machine.svg")
        text = draw(topology, title)
        files = [save(text, made(to) / name if given.svg is None else Path(given.svg))]
    for file in files:
        print(file)
    return 0


def _configured_topology(config: str, settings: list[str]) -> dict[str, Any]:
    overrides = [pair("--set", setting) for setting in settings]
    topology: dict[str, Any] = json.loads(_fabricvp.topology(_fabricvp.Session.from_config(config, overrides)))
    return topology
