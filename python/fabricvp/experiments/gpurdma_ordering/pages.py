# SPDX-License-Identifier: Apache-2.0
"""Tables of the page on kernels that poll what RDMA writes."""

from __future__ import annotations

from ..page_layout import Frames, PageTable, fixed

#: Flags as the page calls them.
FLAGS = {
    "behind the data, same line": "in the line of the data",
    "behind the data, same write": "at the end of the same write, 4 KiB",
    "a write of its own": "a write of its own",
    "completion in the GPU": "a completion in the GPU's memory",
    "completion in the host": "a completion in the host's memory",
}


def _percent(value: float) -> str:
    return fixed(1)(value) if value else "0"


def kept_lines(frames: Frames) -> PageTable:
    """Rounds with old words, by flag and kind of load."""
    frame = frames["stale"]
    rows = [
        (FLAGS[line["flag"]], *(_percent(line[read]) for read in ("plain", "acquire", "bypass L1")))
        for _, line in frame.iterrows()
    ]
    return PageTable(("flag", "plain loads", "after an acquire", "bypassing L1"), rows)


def overtaking(frames: Frames) -> PageTable:
    """Rounds with the flag before the data, by flag, kind of load and when writes are seen."""
    frame = frames["early"]
    columns = (
        ("acquire", "on_arrival", "acquire, `on_arrival`"),
        ("acquire", "at_bank", "acquire, `at_bank`"),
        ("bypass L1", "at_bank", "bypassing L1, `at_bank`"),
    )
    rows = []
    for flag, part in frame.groupby("flag", sort=False):
        by = part.set_index("read")
        rows.append((FLAGS[str(flag)], *(_percent(by.loc[read, commit]) for read, commit, _ in columns)))
    return PageTable(("flag", *(label for *_, label in columns)), rows)


def load(frames: Frames) -> PageTable:
    """The same by the number of wavefronts that keep the bank busy."""
    frame = frames["load"]
    return PageTable(
        ("wavefronts", *(f"{int(n)}" for n in frame["wavefronts"])),
        [
            (
                "requests wait for the bank, µs",
                *(fixed(2)(ns / 1e3) if ns >= 5 else "0" for ns in frame["bank_wait_ns"]),
            ),
            ("rounds with the flag before the data, %", *map(_percent, frame["early_percent"])),
        ],
    )
