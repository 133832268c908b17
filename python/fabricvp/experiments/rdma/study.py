# SPDX-License-Identifier: Apache-2.0
"""Runs the firmware on every machine and reports."""

from __future__ import annotations

import pandas

from ..frame import Run
from . import plots, published
from .points import Point, Result, measure

US = 1e6
VERBS = ("write", "send", "read")
#: Where queues, completions, doorbell records and payload lie: what the firmware is told.
PLACES = {
    "all in the host": "",
    "payload in the GPU": "gpu_payload=1",
    "queue in the GPU": "gpu_queues=1",
    "completions in the GPU": "gpu_cqs=1",
    "doorbell records in the GPU": "gpu_records=1",
    "all in the GPU": "gpu_queues=1 gpu_cqs=1 gpu_records=1 gpu_payload=1",
}
#: How writes of 8 bytes are posted, for their rate.
RATES = {
    "plain: one a doorbell, all signalled, payload fetched": "batch=1 signal=1 inline=0",
    "the same, inline": "batch=1 signal=1 inline=28",
    "a completion for 16": "batch=1 signal=16 inline=28",
    "16 a doorbell": "batch=16 signal=1 inline=28",
    "16 a doorbell, a completion for 16": "batch=16 signal=16 inline=28",
    "…, payload fetched": "batch=16 signal=16 inline=0",
    "…, 2 queue pairs": "batch=16 signal=16 inline=28 qps=2",
    "…, 4 queue pairs": "batch=16 signal=16 inline=28 qps=4",
    "…, 8 queue pairs": "batch=16 signal=16 inline=28 qps=8",
}
ONE = "rate=64 batch=1 signal=1 window=1"  #: a message at a time
SPANS = {
    "write 8 B, inline": f"{ONE} inline=28",
    "write 8 B, payload fetched": f"{ONE} inline=0",
    "write 4 KiB": f"{ONE} inline=0 size=4096",
}


def study(run: Run) -> None:
    """Adds everything to the report of ``run``."""
    most, often, messages = (4096, 10, 500) if run.quick else (1 << 20, 50, 4000)
    sizes = f"latency={often} max={most}"
    small = f"latency={often} max={min(most, 4096)}"
    points = {
        "cable": Point("cable", sizes, cost=20),
        "not inline": Point("cable", f"latency={often} max=512 inline=0", cost=3),
        "network switch": Point("network switch", small, cost=5),
        "PCIe switch": Point("PCIe switch", small, cost=5),
        "bandwidth": Point("cable", f"bandwidth={messages} max={most}", cost=20),
        **{f"rate: {name}": Point("cable", f"rate={messages} {how}", cost=2) for name, how in RATES.items()},
        **{f"spans: {name}": Point("cable", how, spans=True) for name, how in SPANS.items()},
        **{
            f"place: {name}": Point("GPU", f"latency={often} min=8 max={min(most, 4096)} inline=28 {how}", cost=5)
            for name, how in PLACES.items()
        },
        **{
            f"GPU bandwidth: {name}": Point(
                "GPU", f"bandwidth={messages // 4} min=65536 max=65536 {PLACES[name]}", cost=4
            )
            for name in ("all in the host", "payload in the GPU")
        },
    }
    found = dict(
        zip(
            points,
            run.map(
                "machines", measure, list(points.values()), lambda p: p.cost, lambda p: f"{p.machine}, {p.options}"
            ),
        )
    )
    again = run.map("the same again", measure, [points["not inline"]], name=lambda p: p.options, fresh=True)[0]
    _latencies(run, found)
    _bandwidth(run, found["bandwidth"])
    _rates(run, found)
    _spans(run, found)
    _places(run, found)
    _checks(run, points, found, again)
    _conclude(run, found)


def _name(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def _latencies(run: Run, found: dict[str, Result]) -> None:
    cable = found["cable"].latency
    switched, behind, slow = (found[n].latency for n in ("network switch", "PCIe switch", "not inline"))
    for verb in VERBS:
        for (v, size), seconds in cable.items():
            if v != verb:
                continue
            known = published.LATENCY[published.MLX4].get(verb, {}).get(size)
            run.report.row(
                f"latency, {verb}, {_name(size)}",
                "µs",
                seconds * US,
                known,
                published.MLX4 if known else "cable, FDR 4x; inline up to 188 B",
            )
    for verb in ("fetch_add", "compare_swap"):
        run.report.row(f"latency, {verb.replace('_', ' and ')}", "µs", cable[verb, 8] * US, None, "to its completion")
    run.report.row(
        "latency, read, 2 B, beside ConnectX-3",
        "µs",
        cable["read", 2] * US,
        published.CX3_READ[1],
        published.CX3_READ[0],
    )
    run.report.row(
        "latency, write, 2 B, beside ConnectX-3",
        "µs",
        cable["write", 2] * US,
        published.CX3_WRITE[1],
        published.CX3_WRITE[0],
    )
    run.report.row(
        "latency, write, 8 B, beside ConnectX-5",
        "µs",
        cable["write", 8] * US,
        published.CX5_WRITE[1],
        published.CX5_WRITE[0],
    )
    run.report.row(
        "latency, send, 8 B, beside ConnectX-5",
        "µs",
        cable["send", 8] * US,
        published.CX5_SEND[1],
        published.CX5_SEND[0],
    )
    run.report.row(
        "what inline data save, write, 8 B",
        "µs",
        (slow["write", 8] - cable["write", 8]) * US,
        published.INLINE_SAVES[1],
        published.INLINE_SAVES[0],
    )
    run.report.row(
        "what a network switch adds, write, 8 B",
        "µs",
        (switched["write", 8] - cable["write", 8]) * US,
        published.SWITCH[1],
        published.SWITCH[0],
    )
    run.report.row(
        "what a PCIe switch on both sides adds, write, 8 B, inline",
        "µs",
        (behind["write", 8] - cable["write", 8]) * US,
        None,
        published.PCIE_SWITCH[0],
    )
    frame = pandas.DataFrame(
        [
            {
                "verb": verb,
                "bytes": size,
                "cable_us": s * US,
                "not_inline_us": _us(slow.get((verb, size))),
                "network_switch_us": _us(switched.get((verb, size))),
                "pcie_switch_us": _us(behind.get((verb, size))),
            }
            for (verb, size), s in cable.items()
        ]
    )
    run.report.plot(
        "latency",
        plots.latency(cable),
        "Latency by size: simulated (lines), published (marks). Reads are whole round trips.",
    )
    run.report.table(
        "latency",
        frame.round(6),
        "Latency by verb and size; write and send: half of the round trip of two messages; others: from posting to"
        " completion.",
        shown=90,
    )


def _us(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * US


def _bandwidth(run: Run, found: Result) -> None:
    lines = [
        {
            "verb": verb,
            "bytes": size,
            "messages": n,
            "million_messages_per_s": n / s / 1e6,
            "MB_per_s": size * n / s / 1e6,
        }
        for (verb, size), (n, s) in found.bandwidth.items()
    ]
    frame = pandas.DataFrame(lines)
    for verb in VERBS:
        here = frame[frame["verb"] == verb]
        known = published.CX3_WRITE_64K[1] / 1e6 if verb == "write" and 65536 in set(here["bytes"]) else None
        run.report.row(
            f"bandwidth, {verb}, at most",
            "MB/s",
            here["MB_per_s"].max(),
            None,
            "one queue pair, not inline, a request a doorbell; FDR 4x carries 6,818 MB/s",
        )
        if known:
            run.report.row(
                f"bandwidth, {verb}, 64 KiB, beside ConnectX-3 at 40 Gb/s",
                "MB/s",
                float(here[here["bytes"] == 65536]["MB_per_s"].iloc[0]),
                known,
                published.CX3_WRITE_64K[0],
            )
        run.report.row(
            f"message rate, {verb}, 64 B, not inline, a completion for 16",
            "M/s",
            float(here[here["bytes"] == 64]["million_messages_per_s"].iloc[0]),
            published.MLX4_WRITES[1] / 1e6 if verb == "write" else None,
            published.MLX4_WRITES[0] if verb == "write" else "one queue pair",
        )
    run.report.plot("bandwidth", plots.bandwidth(frame), "Bandwidth and message rate by size, one queue pair")
    run.report.table(
        "bandwidth",
        frame.round(6),
        "Requests one a doorbell, not inline, a completion for 16 of them, 128 in flight.",
        shown=90,
    )


def _rates(run: Run, found: dict[str, Result]) -> None:
    beside = {
        "plain: one a doorbell, all signalled, payload fetched": published.CONNECT_IB["plain"],
        "16 a doorbell, a completion for 16": published.CONNECT_IB["batched"],
        "…, 4 queue pairs": published.CONNECT_IB["pairs"],
    }
    for name in RATES:
        source, known = beside.get(name, ("writes of 8 bytes, one hart", None))
        run.report.row(
            f"rate of writes, {name}",
            "M/s",
            found[f"rate: {name}"].rate / 1e6,
            None if known is None else known / 1e6,
            source,
        )
    run.report.plot(
        "rates",
        plots.rates({name: found[f"rate: {name}"].rate / 1e6 for name in RATES}),
        "Writes of 8 bytes a second, from one hart, by how they are posted",
    )


def _spans(run: Run, found: dict[str, Result]) -> None:
    lines = []
    for name in SPANS:
        for component, stage, service, queueing in found[f"spans: {name}"].stages:
            lines.append(
                {
                    "message": name,
                    "component": component,
                    "stage": stage,
                    "service_ns": service * 1e9,
                    "queueing_ns": queueing * 1e9,
                }
            )
    frame = pandas.DataFrame(lines)
    for name, part in frame.groupby("message", sort=False):
        run.report.row(
            f"{name}: doorbell to completion",
            "µs",
            (part["service_ns"] + part["queueing_ns"]).sum() / 1e3,
            None,
            "sum of its spans",
        )
    run.report.plot(
        "spans",
        plots.spans(frame),
        "Where a message's time goes, from the store to its doorbell until its completion is in memory, one message at"
        " a time",
    )
    run.report.table(
        "spans",
        frame.round(6),
        "Mean over 64 messages. Stages of PCIe are those of the doorbell, of reads of the entry and of payload, and of"
        " the completion.",
        shown=120,
    )


def _places(run: Run, found: dict[str, Result]) -> None:
    lines = []
    for name in PLACES:
        latency = found[f"place: {name}"].latency
        for verb in ("write_completion", "read"):
            for size in sorted({s for v, s in latency if v == verb}):
                lines.append(
                    {"place": name, "verb": verb.replace("_", " to "), "bytes": size, "us": latency[verb, size] * US}
                )
        run.report.row(
            f"{name}: write of 8 B, to its completion",
            "µs",
            latency["write_completion", 8] * US,
            None,
            "the HCA and the GPU behind one PCIe switch; a hart posts and polls",
        )
        run.report.row(f"{name}: read of 4 KiB", "µs", latency["read", 4096] * US, None, "the same")
    for name in ("all in the host", "payload in the GPU"):
        bandwidth = found[f"GPU bandwidth: {name}"].bandwidth
        for verb in ("write", "read"):
            n, seconds = bandwidth[verb, 65536]
            run.report.row(
                f"{name}: bandwidth, {verb}, 64 KiB",
                "MB/s",
                65536 * n / seconds / 1e6,
                None,
                published.GPU_READ_NOTE if "GPU" in name else "the same machine",
            )
    run.report.table(
        "places",
        pandas.DataFrame(lines).round(6),
        "Queues, completions, doorbell records and payload in host memory or in the memory of a GPU beside the HCA.",
        shown=80,
    )


def _checks(run: Run, points: dict[str, Point], found: dict[str, Result], again: Result) -> None:
    check = run.report.check
    wrong = [name for name, f in found.items() if not f.correct]
    check(
        "both nodes find every byte that they look at as it should be",
        not wrong,
        ", ".join(wrong) or f"{len(found)} runs",
    )
    lost = [
        f"{name}: {f.retries:.0f} retries, {f.dropped:.0f} dropped"
        for name, f in found.items()
        if f.retries or f.dropped
    ]
    check("nothing is retransmitted or dropped", not lost, "; ".join(lost) or "in every run")
    check(
        "a second run is the same to the picosecond",
        again.latency == found["not inline"].latency,
        points["not inline"].options,
    )
    most = max(size * n / s for f in found.values() for (_, size), (n, s) in f.bandwidth.items())
    check(
        "no more than the link carries",
        most < 6.818e9,
        f"at most {most / 1e6:,.0f} MB/s of payload; FDR 4x has 54.54 Gb/s",
    )
    grows = [
        f"{verb}"
        for verb in VERBS
        if any(a > b * 1.05 for (_, a), (_, b) in _neighbours(found["not inline"].latency, verb))
    ]
    check(
        "latency grows with size where nothing is inline",
        not grows,
        ", ".join(grows) or "write, send, read, within 5 %",
    )


def _neighbours(latency: dict[tuple[str, int], float], verb: str) -> list[tuple[tuple[int, float], tuple[int, float]]]:
    series = sorted((size, s) for (v, size), s in latency.items() if v == verb)
    return list(zip(series, series[1:]))


def _conclude(run: Run, found: dict[str, Result]) -> None:
    cable, slow = found["cable"].latency, found["not inline"].latency
    plain, best = (
        found[f"rate: {n}"].rate / 1e6
        for n in ("plain: one a doorbell, all signalled, payload fetched", "16 a doorbell, a completion for 16")
    )
    many = found["rate: …, 8 queue pairs"].rate / 1e6
    host, gpu = (
        found[f"place: {n}"].latency["write_completion", 8] * US for n in ("all in the host", "all in the GPU")
    )
    run.report.conclude(
        f"A write of 2 bytes takes {cable['write', 2] * US:.2f} µs one way over a cable, a send"
        f" {cable['send', 2] * US:.2f}, a read {cable['read', 2] * US:.2f} and back (published: 0.81–0.93,"
        f" 0.92–0.97, 1.74–1.79). Without inline data 8 bytes take {slow['write', 8] * US:.2f} µs.",
        f"One hart posts {plain:.1f} million writes a second one by one with the payload fetched, {best:.1f} million"
        f" with 16 inline writes a doorbell and a completion for 16, and {many:.1f} million over eight queue pairs"
        " (published for a Connect-IB: 6.8, 17.6, and 27.4 over four).",
        "With queue, completions, doorbell records and payload in the memory of a GPU beside the HCA, a hart's write"
        f" of 8 bytes is complete after {gpu:.2f} µs instead of {host:.2f}: the hart polls the completion across PCIe.",
    )
