# SPDX-License-Identifier: Apache-2.0
"""Runs all cases and reports."""

from __future__ import annotations

import pandas
from matplotlib.figure import Figure

from ..frame import Run
from .points import COMMITS, FLAGS, READS, Point, Result, measure

APART = FLAGS["a write of its own"]
PAPER = "the paper: reverse order only under very high load, all data arrive in the end, parallel CRC32 as a remedy"


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    rounds = 30 if run.quick else 200
    loads = (0, 59) if run.quick else (0, 15, 30, 59, 89, 119)
    sizes = (64, 4096) if run.quick else (64, 256, 1024, 4096, 16384)
    points: dict[tuple[object, ...], Point] = {}
    for flag, options in FLAGS.items():
        for read in READS:
            points["quiet", flag, read] = Point(options, read, rounds=rounds)
        for commit in COMMITS:
            for read in ("acquire", "bypass L1"):
                points["busy", flag, read, commit] = Point(options, read, commit, 59, rounds)
        if "flag=same_write" not in options:
            for load in (0, 59):
                points["flushed", flag, load] = Point(f"{options} flush=1", "acquire", "at_bank", load, rounds)
                points["not flushed", flag, load] = Point(options, "acquire", "at_bank", load, rounds)
    for load in loads:
        points["load", load] = Point(APART, "acquire", "at_bank", load, rounds)
    for size in sizes:
        for check in (0, 1):
            points["size", size, check] = Point(
                f"bytes={size} flag=separate_write check={check}", "bypass L1", rounds=min(rounds, 100)
            )
    distinct = list(dict.fromkeys(points.values()))
    results = dict(
        zip(
            distinct,
            run.map(
                "machines",
                measure,
                distinct,
                lambda p: (1 + p.load / 10) * p.rounds,
                lambda p: f"{p.options} {p.read} {p.commit} load={p.load}",
            ),
        )
    )
    found = {key: results[point] for key, point in points.items()}
    again = run.map(
        "the same again",
        measure,
        [points["busy", "a write of its own", "acquire", "at_bank"]],
        name=lambda p: p.options,
        fresh=True,
    )[0]
    _quiet(run, found)
    _busy(run, found)
    _loads(run, found, loads)
    _repairs(run, found)
    _costs(run, found, sizes)
    _checks(run, points, found, again)


def _percent(found: Result, what: str) -> float:
    return 100 * float(getattr(found, what)) / found.rounds


def _quiet(run: Run, found: dict[tuple[object, ...], Result]) -> None:
    lines = []
    for flag in FLAGS:
        line: dict[str, object] = {"flag": flag}
        for read in READS:
            line[read] = _percent(found["quiet", flag, read], "stale")
            run.report.row(
                f"stale, {flag}, {read}",
                "%",
                _percent(found["quiet", flag, read], "stale"),
                None,
                "rounds in which L1 gives old words; nothing else runs",
            )
        lines.append(line)
    run.report.table(
        "stale",
        pandas.DataFrame(lines).round(6),
        "Rounds in which the kernel reads words of an earlier round that L1 has kept, %, by what tells it that data"
        " have come and how it reads them. The flag itself is read bypassing L1.",
    )


def _busy(run: Run, found: dict[tuple[object, ...], Result]) -> None:
    lines = []
    for flag in FLAGS:
        for read in ("acquire", "bypass L1"):
            here = {commit: found["busy", flag, read, commit] for commit in COMMITS}
            lines.append(
                {
                    "flag": flag,
                    "read": read,
                    **{commit: _percent(f, "early") for commit, f in here.items()},
                    "bank_wait_ns": here["at_bank"].bank_wait_ns,
                }
            )
            run.report.row(
                f"early, {flag}, {read}, busy bank, at_bank", "%", _percent(here["at_bank"], "early"), None, PAPER
            )
    run.report.table(
        "early",
        pandas.DataFrame(lines).round(6),
        "Rounds in which the flag is seen before the data, %, while 59 wavefronts keep the data's bank of L2 busy, by"
        " when writes from outside are seen (`host_interface.peer_writes`).",
    )


def _loads(run: Run, found: dict[tuple[object, ...], Result], loads: tuple[int, ...]) -> None:
    here = {load: found["load", load] for load in loads}
    frame = pandas.DataFrame(
        [
            {
                "wavefronts": load,
                "bank_wait_ns": f.bank_wait_ns,
                "early_percent": _percent(f, "early"),
                "reads_until_right": f.tries,
            }
            for load, f in here.items()
        ]
    )
    figure = Figure(figsize=(6, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.plot(frame["wavefronts"], frame["early_percent"], marker="o", color="#b3541e")
    axes.set_ylim(bottom=0)
    axes.set(xlabel="wavefronts that keep the bank busy", ylabel="rounds with the flag before the data, %")
    run.report.plot("load", figure, "How often a flag written apart overtakes its data, by load on the data's bank")
    run.report.table(
        "load",
        frame.round(6),
        "The same in figures; mean wait of requests for the bank, and reads bypassing L1 until all words of such a"
        " round were right.",
    )


def _repairs(run: Run, found: dict[tuple[object, ...], Result]) -> None:
    lines = []
    for flag, options in FLAGS.items():
        if "flag=same_write" in options:
            continue
        for load in (0, 59):
            plain, flushed = found["not flushed", flag, load], found["flushed", flag, load]
            lines.append(
                {
                    "flag": flag,
                    "load": load,
                    "early_percent": _percent(plain, "early"),
                    "with_fence_percent": _percent(flushed, "early"),
                    "round_us": plain.round_us,
                    "with_fence_us": flushed.round_us,
                }
            )
            run.report.row(
                f"what the writer's fence adds to a round, {flag}, {'busy' if load else 'idle'} bank",
                "µs",
                flushed.round_us - plain.round_us,
                None,
                "a read of 8 bytes from the GPU's memory between data and flag, and the flag fenced behind it",
            )
    run.report.table(
        "fence",
        pandas.DataFrame(lines).round(6),
        "The repair at the writer: it reads from the GPU's memory between data and flag. A round goes from posting"
        " until the writer knows that the kernel has looked.",
    )


def _costs(run: Run, found: dict[tuple[object, ...], Result], sizes: tuple[int, ...]) -> None:
    lines = []
    for size in sizes:
        without, checked = found["size", size, 0].read_us, found["size", size, 1].read_us
        lines.append({"bytes": size, "read_us": without, "read_and_check_us": checked})
        run.report.row(
            f"what the CRC adds, {size} bytes",
            "µs",
            checked - without,
            None,
            "one wavefront of 64 lanes, issue as on a K40c",
        )
    run.report.table(
        "crc",
        pandas.DataFrame(lines).round(6),
        "Reading and comparing data without and with the CRC, bypassing L1, on an idle GPU.",
    )
    run.report.row(
        "acquire",
        "µs",
        found["quiet", "a write of its own", "acquire"].acquire_us,
        None,
        "empties L1 before data are read",
    )


def _checks(
    run: Run, points: dict[tuple[object, ...], Point], found: dict[tuple[object, ...], Result], again: Result
) -> None:
    def check(name: str, wrong: list[object], otherwise: str) -> None:
        run.report.check(name, not wrong, ", ".join(map(str, wrong)) or otherwise)

    wrong = sum(f.wrong for f in found.values())
    checked = {key for key, point in points.items() if "check=0" not in point.options}
    check(
        "the CRC finds every round with an old word",
        [k for k in checked if found[k].missed or found[k].found != found[k].wrong],
        f"{wrong} of {wrong}",
    )
    check(
        "it calls no right round wrong",
        [k for k in checked if found[k].alarms],
        f"{sum(found[k].rounds for k in checked)} rounds",
    )
    check(
        "nothing is stale after an acquire, or bypassing L1",
        [k for k, p in points.items() if p.read != "plain" and found[k].stale],
        "in every run",
    )
    check(
        "no flag is seen before its data where writes are seen on arrival",
        [k for k, p in points.items() if p.commit == "on_arrival" and found[k].early],
        "in every run",
    )
    check("nor behind the writer's fence", [k for k in found if k[0] == "flushed" and found[k].early], "in every run")
    check(
        "nor where one line holds both",
        [k for k in found if "behind the data, same line" in k and found[k].early],
        "in every run",
    )
    early = sum(f.early for k, f in found.items() if points[k].commit == "at_bank")
    run.report.check("it is seen where writes commit at a busy bank", early > 0, f"{early} rounds")
    check(
        "a second run is the same to the picosecond",
        [] if again == found["busy", "a write of its own", "acquire", "at_bank"] else ["it differs"],
        "a write of its own, acquire, busy bank",
    )
