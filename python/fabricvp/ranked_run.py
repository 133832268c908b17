# SPDX-License-Identifier: Apache-2.0
"""Machines that are cut at their network and run as several processes, from Python."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .data import resolve_config
from .errors import InputError, RemoteError
from .gpu import PerNode, parse_app_requests
from .nodes import by_node
from .overrides import flatten
from .plugins import Plugins, resolve_plugins
from .results import NodeOutcome, NodeState, Outcome, RunResult, read_results
from .units import Time, to_picoseconds

if TYPE_CHECKING:
    import pandas

_REFUSED = 2  # the command's exit status for bad input
_SHOWN = re.compile(r"fabricvp: the run is shown at (\S+)\n")


@dataclass(frozen=True)
class RankedRun:
    """What ranks leave behind: the same as one process, but for statistics that begin with ``sim.``."""

    result: RunResult
    statistics: dict[str, float]  #: of the whole machine, by path
    consoles: tuple[str, ...]  #: what each node has printed
    regions: pandas.DataFrame  #: as `Platform.regions()`

    def __repr__(self) -> str:
        return f"<RankedRun: {self.result}, {len(self.statistics)} statistics, {len(self.regions)} regions>"


def run_ranks(
    path: str | os.PathLike[str] | None = None,
    ranks: int = 2,
    *,
    text: str | None = None,
    name: str = "text",
    app: PerNode = None,
    size: PerNode = None,
    gpus: PerNode = None,
    placement: PerNode = "",
    dispatch: PerNode = "",
    initrd: PerNode = "",
    option: PerNode = "",
    plugins: Plugins = (),
    overrides: Mapping[str, Any] | None = None,
    time: Time | None = None,
    script: PerNode = None,
    transport: str = "shared_memory",
    out: str | os.PathLike[str] | None = None,
    monitor: int | None = None,
    monitor_wait: bool = False,
    on_monitor: Callable[[str], object] | None = None,
    **keywords: Any,
) -> RankedRun:
    """Runs a machine of several nodes from its start to its end as ``ranks`` processes on the cores of this computer.

    ``path`` or ``text``, ``app`` with what belongs to it, ``plugins``, ``overrides`` and ``**keywords`` are as for
    `spawn()`, but that files which ``text`` names need absolute paths; ``time`` is a limit as for `Platform.run()`.
    ``script`` is text of a script that speaks with node 0, as `--script` of the command takes it, or a mapping from
    nodes to such texts. ``transport`` is "shared_memory" or "mpi". Results stay in the folder ``out`` if it is given.

    ``monitor`` is a loopback port (0: any free one) where a page shows the run while it goes on, and steers it, as that
    of `Platform.monitor()`; with ``monitor_wait`` the run waits for "continue" there. ``on_monitor`` is called with the
    page's address when it is there; without it, a line on standard error has the address.

    Beside the page, a run of ranks cannot be looked at before its end: there are no conditions, breakpoints, memories
    and devices in Python. The processes are children of this one; Ctrl-C ends them, and so does an exception of
    ``on_monitor``.

    Raises `InputError` with one line for a machine that cannot be cut into ``ranks`` parts, for plug-ins that are
    classes of this process, for a port that cannot be had, and as `Platform.from_config()`; `RemoteError` if a rank has
    died."""
    if (path is None) == (text is None):
        raise TypeError("run_ranks() takes a configuration file or text=, one of them")
    if monitor is None and (monitor_wait or on_monitor is not None):
        raise TypeError("run_ranks() takes monitor_wait= and on_monitor= with monitor=, a port")
    app_requests = parse_app_requests(
        app, size=size, gpus=gpus, placement=placement, dispatch=dispatch, initrd=initrd, option=option
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fabricvp-ranks-")))
        results = Path(out) if out is not None else folder / "results"
        if text is None:
            assert path is not None
            config = resolve_config(path)
        else:
            config = os.fspath(folder / "machine.yaml")
            Path(config).write_text(text)
        options = [
            *(["--ranks", str(ranks), "--transport", transport, "--out", os.fspath(results), "--quiet"]),
            *(["--console", "none"]),
            *([] if time is None else ["--time", f"{to_picoseconds(time)} ps"]),
            *_apps(app_requests),
            *_plugins(plugins),
            *(word for key, value in flatten(overrides, keywords).items() for word in ("--set", f"{key}={value}")),
            *_scripts(script, folder),
            *([] if monitor is None else [f"--monitor={monitor}"]),
            *(["--monitor-wait"] if monitor_wait else []),
        ]
        before = _written(results)
        status, message = _execute(
            [sys.executable, "-m", "fabricvp", "run", config, *options], on_monitor or _print_address
        )
        if _written(results) != before and json.loads((results / "run.json").read_text())["complete"]:
            return _collect(results)
    message = message.replace(f"{folder}/machine.yaml", name).replace(f"{folder}/", "")
    if status == _REFUSED:
        raise InputError(message)
    raise RemoteError(message or f"the run has ended with status {status}")


def _apps(requests: list[dict[str, Any]]) -> Iterator[str]:
    for request in requests:
        node = f"node{request['node']}="
        yield from ("--app", node + request["name"])
        for key in ("size", "gpus", "placement", "dispatch", "initrd", "option"):
            if request[key] not in (None, ""):
                yield from (f"--{key}", f"{node}{request[key]}")


def _plugins(plugins: Plugins) -> Iterator[str]:
    for plugin in resolve_plugins(plugins):
        if isinstance(plugin, type):
            raise InputError(f"plugins: {plugin.__name__} is a class of this process: ranks take files")
        yield from ("--plugin", plugin)


def _scripts(script: PerNode, folder: Path) -> Iterator[str]:
    for node, lines in by_node(script).items():
        file = folder / f"node{node}.script"
        file.write_text(lines)
        yield from ("--script", f"node{node}={file}")


def _written(results: Path) -> int | None:
    """When a run last left something there."""
    record = results / "run.json"
    return record.stat().st_mtime_ns if record.exists() else None


def _print_address(url: str) -> None:
    print(f"fabricvp: the run is shown at {url}", file=sys.stderr, flush=True)


def _execute(command: list[str], on_monitor: Callable[[str], object]) -> tuple[int, str]:
    """Runs the command to its end, and gives its exit status and its last line of standard error."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    last = ""
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stderr is not None
        try:
            for line in child.stderr:
                if shown := _SHOWN.fullmatch(line):
                    on_monitor(shown[1])
                elif line.strip():
                    last = line.strip()
            child.wait()
        except BaseException:
            child.terminate()  # it ends its ranks
            raise
    return child.returncode, last.removeprefix("fabricvp: ")


def _collect(folder: Path) -> RankedRun:
    record = json.loads((folder / "run.json").read_text())
    nodes = tuple(
        NodeOutcome(NodeState(node["outcome"]), int(node.get("status", 0)), node.get("detail", ""), node.get("time_s"))
        for node in record["nodes"]
    )
    result = RunResult(
        Outcome(record["outcome"]), int(record["status"]), record["detail"], float(record["time_s"]), None, nodes
    )
    regions = read_results(folder, regions=True, interrupted=True)
    if len(regions.columns):
        regions = regions.droplevel(["run", "ended"], axis="columns")
    consoles = tuple((folder / f"console.node{i}.log").read_bytes().decode(errors="replace") for i in range(len(nodes)))
    return RankedRun(result, json.loads((folder / "stats.json").read_text()), consoles, regions)
