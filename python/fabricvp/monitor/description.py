# SPDX-License-Identifier: Apache-2.0
"""What a page and a notebook's widget have in common: what there is to see, and the files that show it."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any, NamedTuple, Protocol

from ..overview import overview_svg

PERIOD = 0.25  #: seconds of wall time between frames
MAX_KEPT = 1 << 18  #: characters of each console for those who look later


class Described(Protocol):
    """A `RunMonitor`, here or in another process."""

    def description(self) -> str: ...


class Description(NamedTuple):
    values: dict[str, Any]  #: title, links, nodes and faults (platform/run_monitor.h has the format)
    drawing: str  #: SVG, whose links are marked


def describe(run: Described, title: str) -> Description:
    """Of a machine, once."""
    values = json.loads(run.description())
    topology = values.pop("topology")
    return Description({"title": title, **values}, overview_svg(topology, title, named=True))


def text_of(file: str) -> str:
    """A file beside this one."""
    return resources.files(__package__).joinpath(file).read_text()
