# SPDX-License-Identifier: Apache-2.0
"""What links did over time, from the statistics of the region of interest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...fabric import Direction
    from ...platform import Platform


def series(platform: Platform, paths: Mapping[str, str]) -> tuple[float, dict[str, list[float]]]:
    """Time series by name, cut or stretched to one window, and how long that is in seconds."""
    found = {name: platform.statistics.series(path) for name, path in paths.items()}
    windows = {name: float(starts[1] - starts[0]) for name, (starts, _) in found.items() if len(starts) > 1}
    widest = max(windows.values(), default=0.0)
    return widest, {
        name: _resampled([float(v) for v in values], round(widest / windows[name]) if name in windows else 1)
        for name, (_, values) in found.items()
    }


def _resampled(values: list[float], times: int) -> list[float]:
    """Sums of as many windows each."""
    return [sum(values[i : i + times]) for i in range(0, len(values), times)] if times > 1 else values


def lanes_over_time(direction: Direction) -> str:
    """Path of the series that says how many lanes served a direction, where they turn."""
    return direction.statistics["busy"].removesuffix(".busy") + ".lanes_over_time"


def reversal(paths: Iterable[str]) -> bool:
    """Whether lanes of a machine with these time series turn."""
    return any(path.endswith(".lanes_over_time") for path in paths)


def launches_over_time(platform: Platform, gpu: str) -> list[float]:
    """When kernels were launched on the GPU at this path, in seconds of the region, to a window."""
    starts, launches = platform.statistics.series(f"{gpu}.launches.over_time")
    return [float(start) for start, number in zip(starts, launches) if number]
