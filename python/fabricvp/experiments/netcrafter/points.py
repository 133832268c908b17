# SPDX-License-Identifier: Apache-2.0
"""The design points of NetCrafter's evaluation, as parameters that differ from the baseline's."""

from __future__ import annotations

BASELINE, IDEAL = "baseline", "ideal"

Overrides = tuple[tuple[str, str], ...]


def _parts(**values: str) -> Overrides:
    stage = {"kind": "netcrafter", **values}
    return tuple((f"node.fabric.switches.*.stage.{name}", value) for name, value in stage.items())


def parts_of(point: str) -> Overrides:
    """Of a point's parameters those of the controllers, by their names in the `stage` group."""
    return tuple((key.rpartition(".")[2], value) for key, value in POINTS.get(point, ()) if ".stage." in key)


#: by name, in the order of the published figures; the ideal one is a machine of its own
POINTS: dict[str, Overrides] = {
    IDEAL: (),
    "sector-cache": (("node.gpus.*.memory.unit.l1.sectored", "true"),),
    "stitching": _parts(stitching="true"),
    "pooling": _parts(stitching="true", pooling="plain"),
    "selective-pooling": _parts(stitching="true", pooling="selective"),
    "trimming": _parts(trimming="true"),
    "sequencing": _parts(sequencing="page_tables"),
    "data-first": _parts(sequencing="data"),
    "all": _parts(stitching="true", pooling="selective", trimming="true", sequencing="page_tables"),
}

#: Pages of the workloads' buffers; the first is the machines' own.
PAGE_SIZES = ("4 KiB", "2 MiB")


def pages_of(size: str) -> Overrides:
    """Parameters of a machine whose software gives buffers pages of that size."""
    return () if size == PAGE_SIZES[0] else (("node.gpus.*.memory.page_size", size),)


#: those of the experiment unless others are asked for: the control of sequencing belongs to `netcrafter-sensitivity`
DEFAULT = tuple(at for at in POINTS if at != "data-first")

#: what a point is, for people
LABELS = {
    BASELINE: "the slow link as it is",
    IDEAL: "all links fast",
    "sector-cache": "L1 fetches 16-byte sectors from everywhere",
    "stitching": "stitching without pooling",
    "pooling": "stitching with plain pooling",
    "selective-pooling": "stitching with selective pooling",
    "trimming": "trimming alone",
    "sequencing": "page-table packets first, alone",
    "data-first": "the control: as many data packets first",
    "all": "stitching, selective pooling, trimming, sequencing",
}

#: Columns of the page whose title is not the point's name.
TITLES = {IDEAL: "all fast", "pooling": "plain pooling", "all": "all parts"}

#: Published speed-ups (NetCrafter, ISCA 2025): mean, largest.
PUBLISHED = {IDEAL: (1.5, 2.3), "all": (1.16, 1.64)}
