# SPDX-License-Identifier: Apache-2.0
"""The commands `fabricvp congestion` and `fabricvp congestion-search`."""

from __future__ import annotations

import dataclasses
import json
import re
import time
from typing import TYPE_CHECKING

from . import arguments, congestion
from .errors import InputError

if TYPE_CHECKING:
    from rich.table import Table


def main(argv: list[str]) -> int:
    """`fabricvp congestion`: the closed form for messages of the command line."""
    parser = arguments.ArgumentParser(
        "congestion",
        "Congestion factors and finishing times of messages on a machine's PCIe tree, in closed form.\n"
        "Each sender's k-th message starts in step k, and a step ends with its last message. A factor is a message's\n"
        "share of the bandwidth; it holds for a phase, the time between two starts or ends. --json prints the phases.",
        "fabricvp congestion cs_storm --tau 0.2 --bandwidth 11.86GB/s 0:2=300MB 1:4=300MB 3:2=300MB 6:4=300MB",
    )
    _add_common(parser)
    parser.add_argument(
        "messages", nargs="+", metavar="SRC:DST=SIZE", help="a message between two endpoints, e.g. 0:2=300MB"
    )
    options = parser.parse_args(argv)
    messages = [_message(text) for text in options.messages]
    solution = congestion.solve(options.config, messages, options.tau, options.bandwidth, options.form)
    if options.json:
        print(
            json.dumps(
                {
                    "phases": [{"factors": p.factors, "end_s": p.end} for p in solution.phases],
                    "finish_s": solution.finish,
                }
            )
        )
    else:
        print(_message_lines(solution))
    return 0


def search_main(argv: list[str]) -> int:
    """`fabricvp congestion-search`: the best order of a halo exchange."""
    parser = arguments.ArgumentParser(
        "congestion-search",
        "The order of messages that makes an exchange fastest, found among all orders in closed form.\n"
        "A sender's k-th message starts in step k, and a step ends with its last message.",
        "fabricvp congestion-search cs_storm --pattern 2d",
    )
    _add_common(parser)
    parser.add_argument(
        "--pattern",
        choices=("2d", "3d", "all"),
        required=True,
        help="4 x 2 grid, 2 x 2 x 2 cube, or all with all (up to 5)",
    )
    parser.add_argument(
        "--size", type=arguments.size, default=congestion.SIZE, help="bytes of every message (default: 300MB)"
    )
    options = parser.parse_args(argv)
    begin = time.perf_counter()
    found = congestion.search(
        options.config, options.pattern, options.tau, options.bandwidth, options.size, options.form
    )
    wall = time.perf_counter() - begin
    if options.json:
        print(json.dumps(dataclasses.asdict(found) | {"wall_s": wall}))
    else:
        _print(*_search_tables(found, options.pattern, wall))
    return 0


def _add_common(parser: arguments.ArgumentParser) -> None:
    parser.add_argument("config", metavar="CONFIG", help="YAML file, or name of a stock machine (cs_storm)")
    parser.add_argument(
        "--tau", type=_tau, default=congestion.TAU, help="penalty of crossing the root complex (default: %(default)s)"
    )
    parser.add_argument(
        "--bandwidth",
        type=arguments.bandwidth,
        default=congestion.BANDWIDTH,
        help="of a link without congestion (default: 11.86GB/s)",
    )
    parser.add_argument(
        "--form",
        choices=congestion.FORMS,
        default="martinasso2016",
        help="the paper's rules, or round robin per TLP with shared FIFOs (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _tau(text: str) -> float:
    value = arguments.number(text, "tau", 0, 0.5)
    if value == 0.5:
        raise InputError("tau: must be below 0.5")
    return value


def _message(text: str) -> congestion.Message:
    match = re.fullmatch(r"(\d{1,9}):(\d{1,9})=(.+)", text)
    if not match:
        raise InputError(f"'{text}' is no message: give SRC:DST=SIZE, e.g. 0:2=300MB")
    try:
        return congestion.Message(int(match[1]), int(match[2]), arguments.size(match[3]))
    except InputError as error:
        raise InputError(f"'{text}': {error}") from None


def _print(*tables: Table) -> None:
    from rich.console import Console

    console = Console()
    for table in tables:
        console.print(table)


def _message_lines(solution: congestion.Solution) -> str:
    """One line a message. Plain text, since tables of thousands of lines take seconds to lay out."""
    factors: dict[str, list[float]] = {name: [] for name in solution.finish}
    for phase in solution.phases:
        for name, factor in phase.factors.items():
            factors[name].append(factor)
    names = {name: name.replace(":", " → ") for name in factors}
    width = max(map(len, names.values()))
    count, phases = len(names), len(solution.phases)
    lines = [
        f"{count:,} message{'s' * (count != 1)} in {phases:,} phase{'s' * (phases != 1)}; --json has the phases",
        f"{'message':<{width}}  smallest factor  largest factor  finished in ms",
    ]
    for name, finish in solution.finish.items():
        own = factors[name]
        lines.append(f"{names[name]:<{width}}  {min(own):15.4f}  {max(own):14.4f}  {finish * 1e3:14.4g}")
    return "\n".join(lines)


def _search_tables(found: congestion.Search, pattern: str, wall: float) -> list[Table]:
    from rich.table import Table

    summary = Table(title=f"{found.orders:,} orders of the {pattern.upper()} exchange", show_header=False)
    for label, text in (
        ("best", f"{found.best_s * 1e3:.4g} ms"),
        ("natural order", f"{found.natural_s * 1e3:.4g} ms"),
        ("mean", f"{found.mean_s * 1e3:.4g} ms"),
        ("worst", f"{found.worst_s * 1e3:.4g} ms"),
        ("step graphs", f"{found.distinct_graphs:,}"),
        ("solved (different up to relabelling)", f"{found.solved_graphs:,}"),
        ("wall time", f"{wall:.3g} s"),
    ):
        summary.add_row(label, text)
    order = Table(title="a best order: destination of each GPU in each step")
    order.add_column("step")
    for sender in range(len(found.best_order)):
        order.add_column(f"GPU {sender}", justify="right")
    for index in range(max(map(len, found.best_order))):
        order.add_row(str(index + 1), *(str(d[index]) if index < len(d) else "" for d in found.best_order))
    return [summary, order]
