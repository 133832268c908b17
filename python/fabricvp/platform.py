# SPDX-License-Identifier: Apache-2.0
"""The machine of this process."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _fabricvp, progress
from ._renamed import check_value, renamed_arguments
from .conditions import Condition, ConsoleText, as_conditions
from .config import ConfigGroup, build_config
from .data import resolve_config
from .devices import Timer
from .drawing import draw_run
from .errors import ExpectTimeout, GuestStopped, InputError
from .faults import FaultArgument, FaultKind
from .gpu import PerNode, check_app, parse_app_requests, runs_in_caller
from .node import Node
from .nodes import node_index
from .overrides import flatten
from .plugins import Plugins, load_plugins
from .remote import RemotePlatform, reap_child, require_main_guard
from .results import NodeOutcome, Outcome, RunResult, region_columns
from .spans import Spans
from .statistics import Region, Statistics
from .units import NEVER, PICOSECONDS, Time, to_picoseconds

if TYPE_CHECKING:
    import pandas

    from .monitor.frame_pump import LocalRun
    from .monitor.notebook_view import RunView
    from .monitor.page_server import Monitor


def _callable(function: Callable[[], Any]) -> Callable[[], Any]:
    if not callable(function):
        raise TypeError(f"a function that takes no arguments is needed, not {function!r}")
    return function


class Platform:
    """A machine with its nodes, consoles, memories and statistics.

    A process has one, because SystemC elaborates once; a second one raises `RuntimeError`. Use `spawn()` for further
    machines, `fork()` for branches of this one. All methods are for the thread that made the platform.
    """

    def __init__(self, core: _fabricvp.Session) -> None:
        self._core = core
        self._title = Path(sys.argv[0]).name
        self._at_close: list[Callable[[], None]] = []
        self._shown: tuple[int, LocalRun | Monitor] | None = None  # by whom, in which process
        core.set_command([os.fsencode(word) for word in sys.argv])

    # Construction --------------------------------------------------------------------------------------------------

    @classmethod
    def from_config(
        cls,
        path: str | os.PathLike[str],
        *,
        app: PerNode = None,
        size: PerNode = None,
        gpus: PerNode = None,
        placement: PerNode = "",
        dispatch: PerNode = "",
        initrd: PerNode = "",
        option: PerNode = "",
        plugins: Plugins = (),
        overrides: Mapping[str, Any] | None = None,
        **keywords: Any,
    ) -> Platform:
        """Reads a configuration and builds the machine.

        ``path`` is a YAML file, or the name of a machine inside the package (see `configs()`). ``overrides`` maps
        dotted paths to values: ``{"node.host.harts": 4}``. In keywords two underscores stand for a dot:
        ``node__host__harts=4``. Quantities are text with a unit ("1.5 GHz").

        ``plugins`` are plug-ins, whose kinds the configuration may name: files, and subclasses of `PcieDevice`. They
        stay loaded in this process.

        ``app`` is a GPU application (`fabricvp.apps()`) that node 0 runs, as by `load_app()`, which tells about
        ``size``, ``gpus``, ``placement``, ``dispatch``, ``initrd`` and ``option``. With several nodes it is a mapping:
        ``{1: "spmv"}`` or ``{"node0": "fir", "node1": "spmv"}``; the others may be mappings too, else they are for all
        applications.

        Raises `InputError` with one line that names file, line and key; `RuntimeError` if the process has had a
        platform."""
        _check_single_platform()
        app_requests = parse_app_requests(
            app, size=size, gpus=gpus, placement=placement, dispatch=dispatch, initrd=initrd, option=option
        )
        load_plugins(plugins)
        core = _fabricvp.Session.from_config(resolve_config(path), list(flatten(overrides, keywords).items()))
        return cls(core)._with_title(Path(path).name)._with_apps(app_requests)

    @classmethod
    def from_text(
        cls,
        yaml: str,
        *,
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
        **keywords: Any,
    ) -> Platform:
        """Builds a machine from YAML in a string; ``name`` stands for the file in messages. Else as `from_config()`."""
        _check_single_platform()
        app_requests = parse_app_requests(
            app, size=size, gpus=gpus, placement=placement, dispatch=dispatch, initrd=initrd, option=option
        )
        load_plugins(plugins)
        core = _fabricvp.Session.from_text(yaml, name, list(flatten(overrides, keywords).items()))
        return cls(core)._with_title(name)._with_apps(app_requests)

    @classmethod
    @renamed_arguments(tiles="replica_placement")
    def from_recording(
        cls,
        recording: str | os.PathLike[str],
        path: str | os.PathLike[str],
        *,
        plugins: Plugins = (),
        overrides: Mapping[str, Any] | None = None,
        replica_placement: str = "",
        **keywords: Any,
    ) -> Platform:
        """The fabric of a configuration with a recording in the place of its GPUs and their software (see `record()`).

        `run()` plays it and ends with outcome "power_off"; its one region of interest has the label and the statistics
        of the fabric that the measured part of the software has. ``plugins``, ``overrides`` and keywords are those
        of `from_config()`. Where the machine has several times as many GPUs as the recording (up to 4,096), each as
        many play it: neighbours (``replica_placement`` "contiguous", as without it), or GPU n of all of them together
        ("interleaved").

        Raises `InputError` with one line if the recording is of another version, cut short or corrupted, or if it does
        not fit: no multiple of its GPUs, GPUs with other parameters, a fabric that trims (those change what GPUs ask
        for); `RuntimeError` if the process has had a platform."""
        check_value("replica_placement", replica_placement, {"beside": "contiguous", "across": "interleaved"})
        _check_single_platform()
        load_plugins(plugins)
        return cls(
            _fabricvp.Session.from_recording(
                os.fspath(recording),
                resolve_config(path),
                list(flatten(overrides, keywords).items()),
                replica_placement,
            )
        )

    def record(self, file: str | os.PathLike[str], max_bytes: int = 1 << 30) -> None:
        """Records what the GPUs of node 0 send to each other in the first region that its firmware marks, into a file
        that `finish_recording()` writes. Call it before the first `run()`. Work-groups that begin when the file has
        ``max_bytes`` are left out. Raises `InputError` if no GPUs are linked, if the fabric trims, or if the file
        cannot be made."""
        self._core.record(os.fspath(file), max_bytes)

    def finish_recording(self) -> str:
        """Writes the recording, and gives one line about it. Raises `InputError` if nothing is being recorded, if no
        region has ended, or if the file cannot be written."""
        return self._core.finish_recording()

    def _with_title(self, title: str) -> Platform:
        self._title = title
        return self

    def _with_apps(self, app_requests: list[dict[str, Any]]) -> Platform:
        for app_request in app_requests:
            self.load_app(**app_request)
        return self

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes (computers) of the machine."""
        return [Node(self, index) for index in range(self._core.node_count())]

    # Images --------------------------------------------------------------------------------------------------------

    def load_images(
        self,
        node: int = 0,
        *,
        firmware: str | os.PathLike[str] = "",
        kernel: str | os.PathLike[str] = "",
        initrd: str | os.PathLike[str] = "",
        append: str = "",
        tohost: bool = False,
    ) -> None:
        """Replaces images of a node that the configuration names. Call it before the first `run()`.

        ``firmware`` is an ELF file or raw binary at the reset address, ``kernel`` an ELF file or raw Linux `Image`,
        ``append`` the kernel's command line; ``tohost`` watches the kernel's `tohost` symbol for a verdict. Empty ones
        stay as configured. Raises `InputError` for files that cannot be loaded, and once the machine has run.
        """
        self._core.load_images(node, os.fspath(firmware), os.fspath(kernel), os.fspath(initrd), append, tohost)

    def load_app(
        self,
        name: str,
        *,
        size: int | None = None,
        gpus: int | None = None,
        placement: str = "",
        dispatch: str = "",
        initrd: str | os.PathLike[str] = "",
        option: str = "",
        node: int | str = 0,
    ) -> None:
        """Lets a node run one of the GPU applications (`fabricvp.apps()`). Call it before the first `run()`.

        ``size`` is in the application's unit (None: its default), ``gpus`` how many of the node's GPUs take part (None:
        all), ``placement`` and ``dispatch`` name policies for pages and work-groups, as `fabricvp run --help` lists
        them, ``initrd`` is a file that it works on (`spmv`: Matrix Market) instead of making its input, ``option`` what
        it can be told beside that, as `fabricvp apps` lists it: ``"density=0.02"``, with commas between several. When
        the node has ended, its `app_ok` is the verdict. Raises `InputError` for an unknown name, policy or option, for
        an option that would have no effect, and if the node has no GPU or fewer than ``gpus``."""
        check_app(name, size, gpus, placement, dispatch, os.fspath(initrd), option)
        _fabricvp.load_app(
            self._core, node_index(node), name, size or 0, gpus or 0, placement, dispatch, os.fspath(initrd), option
        )

    @property
    def app_ok(self) -> bool | None:
        """Whether the applications of all nodes computed what an independent reference on the host says: False as soon
        as one is wrong, True when all have ended, None before. A node's own is `Node.app_ok`."""
        verdict = self.statistics.snapshot().get("app.ok")
        return None if verdict is None else verdict == 1

    def load_elf(self, path: str | os.PathLike[str], node: int = 0) -> int:
        """Copies an ELF file's segments to their physical addresses and gives its entry point. Raises `InputError`."""
        return self._core.load_elf(node, os.fspath(path))

    def load_binary(self, path: str | os.PathLike[str], address: int, node: int = 0) -> None:
        """Copies a file to a physical address. Raises `InputError` if the file or the memory is not there."""
        self._core.load_binary(node, os.fspath(path), address)

    # Running -------------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return self._core.now() / PICOSECONDS

    @property
    def now_ps(self) -> int:
        """Simulated time in picoseconds, exact."""
        return self._core.now()

    @property
    def running(self) -> bool:
        """True inside of `run()`, that is for callbacks."""
        return self._core.running()

    def run(self, time: Time | None = None, until: Any = None) -> RunResult:
        """Runs for ``time`` of simulated time from now ("10 ms" or seconds; None: without limit), or until something
        ends it.

        ``until`` is one condition or several: text or a compiled regular expression (console of node 0), or objects
        such as `ConsoleText`, `Breakpoint`, `Watchpoint` and `Marker`; a mapping such as ``{1: "login:"}`` names the
        node of texts. The GIL is released while the machine runs.

        A node that powers off or fails rests, while others run on; the parameter ``simulation.until`` ("all", "any" or
        a node's path) says whose end is that of the run. The result's ``nodes`` tells how far each has come.

        The result's outcome says what happened. Ctrl-C ends the run at a slice's border and raises `KeyboardInterrupt`
        then; the machine can be looked at and run on. An exception of a Python device or callback ends the run and is
        raised here. Raises `RuntimeError` when called from a callback, `InputError` for a bad time.
        """
        limit = NEVER if time is None else min(self._core.now() + to_picoseconds(time), NEVER - 1)
        return self._run_to(limit, as_conditions(until))

    def run_until_console(
        self, pattern: str | re.Pattern[str], timeout: Time | None = None, node: int = 0, *, at_line_start: bool = False
    ) -> RunResult:
        """Runs until a node's console has shown a text, or something that a compiled regular expression matches.

        Output that `Console.expect()` or an earlier call has consumed does not count. ``at_line_start`` is for prompts
        and wants text. Raises `ExpectTimeout` when
        ``timeout`` of simulated time passes first, `GuestStopped` when the guest ends before.
        """
        condition = ConsoleText(pattern, node, at_line_start=at_line_start)
        limit = NEVER if timeout is None else min(self._core.now() + to_picoseconds(timeout), NEVER - 1)
        result = self._run_to(limit, [condition])
        if result.match is not None:
            return result
        seen = self.nodes[node].console.unread
        tail = repr(seen[-200:])
        if result.outcome == Outcome.TIME_LIMIT:
            raise ExpectTimeout(
                f"the console did not show {condition.description} within {timeout}; it ends with {tail}", seen
            )
        if result.outcome in (Outcome.BREAKPOINT, Outcome.INTERRUPTED):
            return result
        raise GuestStopped(
            f"{result.outcome} ({result.detail}) before the console showed {condition.description}; it ends with"
            f" {tail}",
            result,
        )

    def _run_to(self, limit: int, conditions: Iterable[Condition]) -> RunResult:
        armed: list[Condition] = []
        try:
            self._core.check_not_running()
            for condition in conditions:
                self._check_node(getattr(condition, "node", 0))
                armed.append(condition)
                if condition.arm(self):  # true already
                    return RunResult(
                        Outcome.EVENT, 0, condition.description, self.now, condition.match, self._outcomes()
                    )
            with progress.shown() as listener:
                outcome, status, detail = self._core.run_until(limit, listener)
        finally:
            for condition in armed:
                condition.disarm(self)
        match = next((c.match for c in armed if c.match is not None), None)
        return RunResult(Outcome(outcome), status, detail, self.now, match, self._outcomes())

    def _check_node(self, index: int) -> None:
        if not -len(self.nodes) <= index < len(self.nodes):
            raise IndexError(f"until: there is no node{index}: the machine has node0 to node{len(self.nodes) - 1}")

    def _outcomes(self) -> tuple[NodeOutcome, ...]:
        return tuple(node.outcome for node in self.nodes)

    def request_stop(self) -> None:
        """Ends a `run()` soon, with outcome "interrupted". May be called from any thread and from callbacks."""
        self._core.request_stop()

    def reset(self) -> None:
        """Power-on reset of the whole machine (of one node: `Node.reset()`); images are loaded anew, statistics and
        time go on."""
        self._core.reset(None)

    def call_at(self, time: Time, function: Callable[[], Any]) -> Timer:
        """Calls a function at an absolute simulated time, once. It must not block; its exception ends `run()`."""
        return Timer(self._core.call_at(to_picoseconds(time), _callable(function)))

    def call_in(self, delay: Time, function: Callable[[], Any]) -> Timer:
        """Calls a function after a simulated time, once. It must not block; its exception ends `run()`."""
        return Timer(self._core.call_at(self._core.now() + to_picoseconds(delay), _callable(function)))

    # Faults --------------------------------------------------------------------------------------------------------

    def inject(self, target: str, kind: str, at: Time | None = None, **arguments: Any) -> None:
        """Lets a fault happen at an absolute simulated time (None: as soon as the machine runs).

        ``target`` is the path of a block ("node0.pcie.gpu3.link"), or of one around it if only one block inside offers
        ``kind`` ("node0.pcie.gpu3"). Keywords are the kind's arguments; quantities are text with a unit. `faults()`
        lists what there is. It may be called from callbacks too.

        Raises `InputError` with one line that names what is allowed.
        """
        when = self._core.now() if at is None else to_picoseconds(at)
        self._core.inject(target, kind, when, list(flatten(arguments, {}).items()))

    def faults(self, target: str = "") -> list[FaultKind]:
        """What can be injected into the blocks whose path contains ``target``, with the arguments it takes."""
        return [
            FaultKind(path, kind, help, tuple(FaultArgument(*a) for a in arguments))
            for path, kind, help, arguments in self._core.faults()
            if target in path
        ]

    # Branches ------------------------------------------------------------------------------------------------------

    def fork(self) -> RemotePlatform:
        """Branches the machine: a child process continues from exactly this state and gives a handle with this
        interface.

        The machine here is not changed, and any number of children may be made; memory that is not written is shared. A
        child can run for other times, with other input, software or memory contents, and be forked again. In the child
        consoles are detached from terminal and sockets, and no debugger listens. Objects of this platform are used in
        the child through the handle (``child.nodes[0].memory``).

        Raises `RuntimeError` when called from a callback of a running simulation.
        """
        from .serving import fork_and_serve

        self._core.check_not_running()
        parent_end, child_end = Pipe()
        pid = fork_and_serve(self, child_end, parent_end)
        return RemotePlatform(parent_end, pid, reap_child(pid))

    def close(self) -> None:
        """Writes out what is buffered and detaches consoles. The process still cannot have another platform."""
        while self._at_close:
            self._at_close.pop()()
        self._core.close()

    def __enter__(self) -> Platform:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # Looking -------------------------------------------------------------------------------------------------------

    @cached_property
    def config(self) -> ConfigGroup:
        """Resolved parameters as attributes: ``platform.config.node0.host.harts``. Values are in base units
        (seconds, hertz, bytes, bytes per second, cycles)."""
        return build_config(self._core.parameters())

    @property
    def resolved_config(self) -> str:
        """YAML with every parameter and its value; `from_text()` makes the same machine of it."""
        return self._core.resolved_config()

    @cached_property
    def statistics(self) -> Statistics:
        """Statistics by path, as they are now: a mapping with `to_pandas()`, regions of interest and time series."""
        return Statistics(self._core)

    @cached_property
    def spans(self) -> Spans:
        """Where the time of accesses went, per component: a ``with`` block records, then `to_pandas()`, `plot()`."""
        return Spans()

    def region_of_interest(self, prefix: str = "") -> Region:
        """A ``with`` block whose statistics count from zero: ``with platform.region_of_interest() as roi: …``;
        then ``roi.statistics`` is a dict of what the block did."""
        return Region(self._core, prefix)

    def regions(self) -> pandas.DataFrame:
        """Statistics of the regions of interest that firmware has marked so far: one column a node and label, as
        `read_results()` gives them with ``regions=True``."""
        import pandas

        found = region_columns(
            (node, label, (end - start) / PICOSECONDS, values)
            for node, label, start, end, values in self._core.regions()
        )
        columns = pandas.MultiIndex.from_arrays(
            [[node for node, _ in found], [label for _, label in found]], names=["node", "region"]
        )
        return pandas.DataFrame(
            {key: pandas.Series(each, dtype=float) for key, each in found.items()}, columns=columns
        ).rename_axis("path")

    def write_results(self, folder: str | os.PathLike[str]) -> None:
        """Writes stats.json, stats.csv, topology.json, config.resolved.yaml, what was recorded, and run.json with the
        outcome of each node; then pictures: machine.svg, and fabric.svg where GPUs are linked. Results of an earlier
        run in that folder go. Raises `InputError` if it cannot, where a run is still leaving its results there for
        instance."""
        where = os.fsdecode(folder)
        self._core.write_results(where)
        draw_run(Path(where))

    @renamed_arguments(most_bytes="max_bytes")
    def start_trace(
        self,
        start: Time = 0,
        end: Time | None = None,
        filter: str = "",
        max_bytes: int = 64 << 20,
        format: str = "json",
        region: str = "",
    ) -> None:
        """Records a Perfetto trace of a window of simulated time, or with a ``region`` only while software has one with
        that label open, for components whose path contains ``filter``, up to ``max_bytes``; `write_results()` writes
        it: `trace.json`, or with the ``format`` "protobuf" `trace.pftrace`, which is many times smaller and has times
        in whole nanoseconds. Raises `InputError` for other formats, and for a region with a window."""
        if region and (start or end is not None):
            raise InputError("a trace of a region has no window: give region, or start and end")
        until = NEVER if end is None else to_picoseconds(end)
        self._core.start_trace(to_picoseconds(start), until, region, filter, max_bytes, format)

    def add_symbols(self, file: str | os.PathLike[str]) -> None:
        """For profiles and coverage: looks into this ELF file with debug information before it looks into those that
        nodes have loaded. Needed for what guests load themselves: kernels of one's own, programs on Linux. Before the
        first `run()`. Raises `InputError` if it is no ELF file."""
        self._core.add_symbols(os.fspath(file))

    def start_profile(self, period: Time = "1 us") -> None:
        """Samples where harts, command processors and wavefronts spend simulated time, from now on, once in each
        ``period``. Results and times stay the same. Raises `InputError` for a period of 0."""
        self._core.start_profile(to_picoseconds(period))

    def profile(self) -> dict[tuple[str, ...], int]:
        """What `start_profile()` has sampled until now: stacks, the block's path and the outermost function first, and
        how many samples found it. A frame in brackets says what is waited for. Raises `InputError` if no profile was
        started."""
        return {tuple(stack.split(";")): samples for stack, samples in self._core.profile_stacks().items()}

    def write_profile(self, page: str | os.PathLike[str]) -> None:
        """Writes the profile as a flame graph, one page whose name ends in ``.html``, and beside it as folded stacks
        (``.folded``). Raises `InputError` if no profile was started, or it cannot be written."""
        self._core.write_profile(os.fspath(page))

    def start_coverage(self) -> None:
        """Counts how often instructions of guests are executed, from now on. Results and times stay the same."""
        self._core.start_coverage()

    def write_coverage(self, file: str | os.PathLike[str]) -> None:
        """Writes which source lines were executed since `start_coverage()`, and how often, as a tracefile for lcov and
        genhtml. Raises `InputError` if that was not called."""
        text = self._core.coverage()
        try:
            Path(file).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{os.fspath(file)}: cannot write: {error.strerror}") from None

    def start_capture(self, file: str | os.PathLike[str], filter: str = "", max_bytes: int = 1 << 30) -> None:
        """Writes packets of the network between nodes into ``file`` as they leave ports, from now on: as a capture for
        Wireshark (pcap with ERF records), or as a table of header fields if the name ends in ``.csv``. ``filter`` is a
        glob over paths of ports, or text that they contain; without it, packets are captured where they leave channel
        adapters and generators. Packets that would make the file larger than ``max_bytes`` are left out. The file is
        complete whenever `run()` has returned. Raises `InputError` without a network, or if it cannot be written."""
        self._core.start_capture(os.fspath(file), filter, max_bytes)

    def stop_capture(self) -> None:
        """Ends what `start_capture()` began."""
        self._core.start_capture("", "", 0)

    def listen_gdb(self, port: int = 0, node: int = 0, *, wait: bool = False) -> int:
        """Listens for GDB on a loopback port (0: any free one) and gives the port. It is served while `run()` runs;
        with ``wait`` the next one begins when a debugger has come, and lets the machine go on. Raises `InputError` if
        the port cannot be had."""
        return self._core.listen_gdb(node, port, wait)

    def monitor(self, port: int = 0, *, wait: bool = False) -> Monitor:
        """Serves a page that shows runs of this machine while they go on, and steers them: links, consoles, GPUs, queue
        pairs, who waits for whom; pause, step, speed, faults. It is at ``url`` of the result, on a loopback ``port``
        (0: any free one) with a token in its address, until ``close()`` or the end of a ``with`` block.

        Without faults and typing, results are the same with it and without. While a page is open, a machine whose
        guests wait for input goes on at the pace of the wall clock. With ``wait`` a run waits for "continue" on the
        page. Raises `InputError` if the port cannot be had, or without the packages of ``fabricvp[monitor]``."""
        from .monitor.page_server import Monitor

        self._check_unshown("monitor")
        run = self._core.monitor()
        page = Monitor(run, Path(sys.argv[0]).name, port)
        if wait:  # only where there is a page on which one continues
            run.pause()
        self._shown = os.getpid(), page
        return page

    @runs_in_caller
    def view(self) -> RunView:
        """A widget for notebooks (anywidget) that shows what the page of `monitor()` shows, and steers as it does. It
        needs no port. Runs of this machine update it while they go on, four times a second of wall time at most, and
        have the results that they would have without. Every call gives the same widget until its ``close()``.

        Buttons act while a cell runs where the notebook handles messages of widgets meanwhile (JupyterLab from 4.4 with
        ipykernel from 7), and everywhere on a machine of `spawn()` that runs by ``run.start()``. Raises `InputError`
        without the package of ``fabricvp[notebook]``, and while `monitor()` shows the machine."""
        from .monitor.notebook_view import open_view

        return open_view(self)

    def _local_run(self) -> LocalRun:
        """Frames of this machine, for one that takes them."""
        from .monitor.frame_pump import LocalRun

        self._check_unshown("view")
        run = LocalRun(self._core)
        self._shown = os.getpid(), run
        return run

    def _check_unshown(self, what: str) -> None:
        """Frames go to one place."""
        if self._shown is None or self._shown[0] != os.getpid() or not self._shown[1].is_open():
            return
        raise InputError(f"{what}: a page or a view shows this machine already; close() that one before")

    def __repr__(self) -> str:
        return f"<Platform with {len(self.nodes)} node{'s' * (len(self.nodes) != 1)} at {self.now:.9g} s>"


def _check_single_platform() -> None:
    require_main_guard("Platform.from_config()")
    if _fabricvp.Session.exists():
        raise RuntimeError(
            "this process has a platform already (SystemC elaborates once a process); "
            "use fabricvp.spawn() for another machine, or Platform.fork() for a branch of this one"
        )
