# SPDX-License-Identifier: Apache-2.0
"""Injections into two nodes with Debian's Linux that move data over RDMA, and check them."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ... import _fabricvp
from ...data import resolve_config
from ...errors import InputError
from ...linux_job import archive_of
from ...platform import Platform
from ...remote import RemotePlatform
from ...results import NodeState, Outcome, RunResult
from ...units import to_picoseconds
from ..machines import record_machine
from .kinds import Kind, kinds_of
from .linux_console import BOOT, ENDED, LinuxEnding, classify_linux, linux_lines, told, waiting_of
from .measure import WALL_LIMIT_S, Campaign, Injected, Window, drawn_plan, harts_of, inject_all
from .outcomes import counters_of

LINUX = "linux_rdma_pair"  #: a machine
PROMPT = "~ # "
#: Each node serves the other one's rping, whose client writes, reads back and compares (-V), and is a client itself.
#: Both wait for completions by interrupts, so a node whose programs wait is idle.
SCRIPT = """\
run() {
    rping -s -C $4 -V -S $3 -a 10.1.0.$1 2>&1 & server=$!
    sleep 0.02
    rping -c -C $4 -V -S $3 -a 10.1.0.$2 2>&1
    echo "client $3: status $?"
    wait $server
    echo "server $3: status $?"
}
"""
#: What a node is asked whose programs have not ended: threads, and the functions of the kernel that they sleep in.
QUERY = (
    "for p in $(pidof rping sleep); do for t in /proc/$p/task/*; do"
    r""" echo "waits: $(cat $t/comm) of $(tr '\0' ' ' <$t/cmdline): $(cat $t/wchan)"; done; done;"""
    " echo asked: $((6 * 7))"
)
REPLIED = "asked: 42"  #: the last line of the reply
REPLY_S = 10  #: simulated seconds for it: a processor that interrupts keep busy takes some
#: Linux names what keeps a processor busy after 4 s, and what does not wake after 30 s.
WATCHDOGS = "cd /proc/sys/kernel; echo 2 >watchdog_thresh; echo 30 >hung_task_timeout_secs; cd /"
#: From its begin on, the driver looks every 5 s, at a full second, whether its adapter has failed. Programs start
#: shortly before that, since a driver that waits for an adapter which is gone keeps its processor busy.
BEFORE_POLL = "4.5 s"
#: Queue pairs of programs, of all that an adapter has.
PAIR = "reliable connection"
#: What no driver is loaded for.
_UNUSED = re.compile(r"\.pcie\.net0|\.root_port0$")


@dataclass(frozen=True)
class LinuxInjections(Campaign):
    """A point of the machine `LINUX`."""

    machine: str = LINUX
    images: tuple[str, ...] = ()  #: kernel and initramfs, which results depend on
    messages: tuple[tuple[int, int], ...] = ((100, 20), (20_000, 10))  #: bytes, and how many each way
    watchdog: str = "100 ms"
    #: Time-outs end before: those of the driver's commands take 60 s, and those of requests of the connection manager,
    #: 16 of 4.3 s each, 69 s. An idle second costs a hundredth of what one at work does.
    limit: str = "100 s"
    work: float = 3e9  #: instructions: some 5 s of a processor that never sleeps, 30 times what all programs take
    grace: str = "100 ms"  #: after the first line that tells of an error


def images() -> tuple[str, ...]:
    """Kernel and initramfs of the machine. Raises `InputError` if `make linux` has not made them."""
    file = Path(resolve_config(LINUX))
    text = _fabricvp.resolved_parameters(file.read_text(encoding="utf-8"), str(file), [])
    found = []
    for name in dict.fromkeys(re.findall(r"^ +(?:kernel|initrd): (\S+)$", text, re.MULTILINE)):
        path, fetched = (file.parent / name).resolve(), Path(_fabricvp.linux_folder(), Path(name).name)
        if not path.is_file() and not fetched.is_file():
            raise InputError(f"{path}: no such file: `make linux`, or `fabricvp linux fetch`, makes it")
        found.append(str(path if path.is_file() else fetched))
    return tuple(found)


def measure_linux(point: LinuxInjections) -> Injected:
    """Runs a point. Raises `InputError` if the machine cannot be built or lacks such kinds, and `RuntimeError` if it
    fails without a fault."""
    with Platform.from_config(point.machine, overrides={"simulation.watchdog": point.watchdog}) as platform:
        record_machine(point.machine, platform)
        before = start(platform, point.messages)
        begin = platform.now_ps
        with platform.fork() as branch:
            undisturbed = run_branch(branch, point, before, None)
        if any(ENDED not in lines for lines in undisturbed.lines):
            raise RuntimeError(f"the run without a fault ended otherwise: {undisturbed.detail}: {undisturbed.lines}")
        planned = drawn_plan(point, used_kinds(platform), Window(platform, begin, undisturbed.time_ps))
        return inject_all(
            platform,
            planned,
            undisturbed,
            lambda branch: run_branch(branch, point, before, undisturbed),
            classify_linux,
        )


def used_kinds(platform: Platform) -> Sequence[Kind]:
    """Those of the machine, at the adapters that programs use."""
    return kinds_of([f for f in platform.faults() if not _UNUSED.search(f.target)], len(platform.nodes))


def start(platform: Platform, messages: tuple[tuple[int, int], ...]) -> list[int]:
    """Boots all nodes and starts their programs. Gives the characters on each console until then."""
    nodes = platform.nodes
    for node in nodes:
        initrd = Path(str(platform.config[f"node{node.index}.images.initrd"])).read_bytes()
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch, "initramfs.cpio")
            file.write_bytes(initrd + archive_of(100_000, ["job"], {"job/exchange": script(node.index, messages)}))
            platform.load_images(node.index, initrd=file)
    everywhere(platform, "")
    everywhere(platform, f"rdma; {WATCHDOGS}\n")
    loaded = platform.now_ps
    everywhere(platform, *(f"ipoib 10.1.0.{node.index + 1}; dmesg -n 8\n" for node in nodes))
    everywhere(platform, "\n", "ping -c 1 -w 10 10.1.0.1\n")
    platform.run(f"{loaded + to_picoseconds(BEFORE_POLL) - platform.now_ps} ps")
    for node in nodes:
        node.console.type("sh /job/exchange &\n")
    platform.run("5 ms")  # which the line takes
    return [len(node.console.output) for node in nodes]


def everywhere(platform: Platform, *lines: str) -> None:
    """Types a line on each node, the same or one for each, and waits for the prompts."""
    for node, line in zip(platform.nodes, lines * (len(platform.nodes) if len(lines) == 1 else 1)):
        node.console.type(line)
    for node in platform.nodes:
        node.console.expect(PROMPT, timeout="60 s")


def script(node: int, messages: tuple[tuple[int, int], ...]) -> bytes:
    """What a node runs."""
    runs = [f"run {node + 1} {2 - node} {size} {count}" for size, count in messages]
    return "\n".join([SCRIPT, *runs, f"echo {ENDED}", ""]).encode()


def run_branch(
    branch: RemotePlatform, point: LinuxInjections, before: Sequence[int], undisturbed: LinuxEnding | None
) -> LinuxEnding:
    """Runs until all programs have ended, to the limit, or so long after something has told of an error."""
    left, grace, step = to_picoseconds(point.limit), to_picoseconds(point.grace), 10_000_000_000
    work = point.work + _instructions(branch.statistics.totals())
    while True:
        result = branch.run.start(f"{min(step, left)} ps").result(WALL_LIMIT_S)
        left -= step
        ending = _ending(branch, result, before)
        over = [f or r or ENDED in lines for f, r, lines in zip(ending.failed, ending.restarted, ending.lines)]
        if result.outcome != Outcome.TIME_LIMIT or all(over):
            return ending
        if undisturbed and grace and told(undisturbed, ending):
            left, grace = min(left, grace), 0
        if left <= 0 or grace and ending.instructions > work:
            return _asked(branch, ending, over)
        step = min(step * 5 // 4, 1_000_000_000_000)


def _ending(branch: RemotePlatform, result: RunResult, before: Sequence[int]) -> LinuxEnding:
    outputs = [node.console.output[begin:] for node, begin in zip(branch.nodes, before)]
    totals = branch.statistics.totals()
    return LinuxEnding(
        result.outcome,
        result.detail,
        tuple(node.outcome.state == NodeState.FAILED for node in branch.nodes),
        tuple(map(linux_lines, outputs)),
        counters_of(totals),
        branch.now_ps,
        tuple(BOOT in output for output in outputs),
        _instructions(totals),
        ("",) * len(outputs),
    )


def _instructions(totals: Mapping[str, float]) -> float:
    return sum(value for path, value in totals.items() if path.endswith(".instructions") and ".host.hart" in path)


def _asked(branch: RemotePlatform, ending: LinuxEnding, over: Sequence[bool]) -> LinuxEnding:
    """With what Linux says of the programs that have not ended, and adapters of their queue pairs."""
    waits = []
    for node, is_over in zip(branch.nodes, over):
        if is_over:
            waits.append("")
            continue
        begin = len(node.console.output)
        node.console.type(QUERY + "\n")
        for _ in range(REPLY_S):
            branch.run.start("1 s").result(WALL_LIMIT_S)
            if REPLIED in node.console.output[begin:]:
                break
        pairs = [line for line in node.queue_pairs if PAIR in line]
        waits.append(waiting_of(f"node{node.index}", node.console.output[begin:], pairs))
    return replace(ending, detail=ending.detail or harts_of(branch), waits=tuple(waits))
