# SPDX-License-Identifier: Apache-2.0
"""Kinds of faults that a campaign draws from: where they can happen, and with which arguments."""

from __future__ import annotations

import enum
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...faults import FaultKind

#: Blocks by the structure that they belong to; the first pattern that matches counts.
STRUCTURES = {
    "InfiniBand link": re.compile(r"\.network\.link$|^network\.[^.]+\.to_"),
    "InfiniBand switch": re.compile(r"^network\.[^.]+$"),
    "GPU fabric": re.compile(r"\.fabric\."),
    "HBM": re.compile(r"\.memory\.hbm$"),
    "L2 cache": re.compile(r"\.memory\.l2\.bank\d+$"),
    "L1 cache": re.compile(r"\.memory\.(unit\d+\.l1|scalar_cache\d+)$"),
    "host memory": re.compile(r"\.host\.dram$"),
    "command processor": re.compile(r"\.processor$"),
    "lanes' registers": re.compile(r"\.compute_unit\d+$"),
    "GPU": re.compile(r"\.gpu\d+(\.dispatcher)?$"),
    "RDMA adapter": re.compile(r"\.hca\d+(\.requester)?$"),
    "PCIe": re.compile(r"\.link$|\.pcie\."),
    "node": re.compile(r"^node\d+$"),
}
#: Ends of links towards a GPU or an adapter, below which doorbells are.
PROCESSOR_BYTES = 256 << 10  #: of a command processor's memory, unless a machine says otherwise
_DOWNSTREAM = re.compile(r"\.(downstream_port\d+|root_port\d+)$")


class Place(enum.Enum):
    """What of a target is hit."""

    TARGET = enum.auto()  #: what the arguments say
    MEMORY = enum.auto()  #: a byte of a page that is in use: one with a byte that is not zero
    WAVEFRONT = enum.auto()  #: a register of a wavefront that is alive, of any GPU of the node, when there is one
    UNIT = enum.auto()  #: the cache of a compute unit with a wavefront that is alive: a kernel begins with empty ones


@dataclass(frozen=True)
class Step:
    """One fault of an injection: ``delay_ps`` after its time, ``arguments`` with their units."""

    kind: str
    delay_ps: int
    arguments: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Drawn:
    """An injection: what happens to ``target``. A step ``reset`` is `Node.reset()`, all others are faults. Where a
    ``place`` is to be found in the running machine, ``fraction`` says which one of those that there are."""

    target: str
    steps: tuple[Step, ...]
    place: Place = Place.TARGET
    fraction: float = 0.0


@dataclass(frozen=True)
class Kind:
    """A kind of injection of one structure. ``draw`` takes one of ``targets`` and its arguments."""

    name: str
    structure: str
    targets: tuple[str, ...]
    draw: Callable[[random.Random, str], tuple[Step, ...]]
    place: Place = Place.TARGET

    def drawn(self, draws: random.Random) -> Drawn:
        """One of this kind."""
        target = draws.choice(self.targets)
        return Drawn(target, self.draw(draws, target), self.place, draws.random())


def structure_of(target: str) -> str:
    """The structure that a block belongs to; "" if to none."""
    return next((name for name, pattern in STRUCTURES.items() if pattern.search(target)), "")


def _one(kind: str, **arguments: str) -> tuple[Step, ...]:
    return (Step(kind, 0, tuple(arguments.items())),)


def _log(draws: random.Random, low: float, high: float) -> float:
    """Between 10^low and 10^high, all decades alike."""
    return float(f"{10 ** draws.uniform(low, high):.3g}")


def _lasting(draws: random.Random) -> str:
    """For good, or 1 µs to 10 ms."""
    return "0 ps" if draws.random() < 0.5 else f"{_log(draws, 0, 4):g} us"


def _flow(draws: random.Random) -> str:
    return draws.choice(("posted", "non_posted", "completion"))


def _flapping(kind: str) -> Callable[[random.Random, str], tuple[Step, ...]]:
    """Down for 1 to 100 µs, three to eight times, every 150 µs."""

    def draw(draws: random.Random, target: str) -> tuple[Step, ...]:
        return tuple(
            Step(kind, 150_000_000 * i, (("lasting", f"{_log(draws, 0, 2):g} us"),)) for i in range(draws.randint(3, 8))
        )

    return draw


def _bit_errors(low: float, high: float) -> Callable[[random.Random, str], tuple[Step, ...]]:
    return lambda d, t: _one("bit_errors", rate=f"{_log(d, low, high):g}", lasting=_lasting(d))


def _flip(draws: random.Random, bits: int) -> tuple[Step, ...]:
    return _one("flip", bit=str(draws.randrange(65 - bits)), bits=str(bits))


def _byte(bits: int) -> Callable[[random.Random, str], tuple[Step, ...]]:
    return lambda d, t: _one("flip", bit=str(d.randrange(8)), bits=str(bits))


def _processor(bits: int) -> Callable[[random.Random, str], tuple[Step, ...]]:
    return lambda d, t: _one("flip", offset=str(d.randrange(PROCESSOR_BYTES)), bit=str(d.randrange(8)), bits=str(bits))


def _register(bits: int) -> Callable[[random.Random, str], tuple[Step, ...]]:
    return lambda d, t: _one("flip", row=str(d.randint(1, 63)), bit=str(d.randrange(65 - bits)), bits=str(bits))


def _cached(bits: int) -> Callable[[random.Random, str], tuple[Step, ...]]:
    return lambda d, t: _one(
        "flip",
        line=str(d.randrange(1 << 20)),
        word=str(d.randrange(8)),
        bit=str(d.randrange(65 - bits)),
        bits=str(bits),
    )


#: By structure: what a kind is called, the fault that a block must offer, and what draws its arguments.
_CATALOGUE: dict[str, tuple[tuple[str, str, Callable[[random.Random, str], tuple[Step, ...]]], ...]] = {
    "PCIe": (
        ("bit errors", "bit_errors", _bit_errors(-7, -4)),
        ("link down", "link_down", lambda d, t: _one("link_down", lasting=_lasting(d))),
        ("link flapping", "link_down", _flapping("link_down")),
        (
            "lanes lost",
            "retrain",
            lambda d, t: _one("retrain", lanes=str(d.choice((1, 2, 4))), generation=str(d.randint(1, 3))),
        ),
        ("write lost", "drop", lambda d, t: _one("drop", flow="posted")),
        ("completion lost", "drop", lambda d, t: _one("drop", flow="completion")),
        ("request lost", "drop", lambda d, t: _one("drop", flow="non_posted")),
        ("TLP poisoned", "poison", lambda d, t: _one("poison", flow=_flow(d))),
        ("credits lost", "lose_credit", lambda d, t: _one("lose_credit", flow=_flow(d))),
        ("queue stuck", "stuck", lambda d, t: _one("stuck", flow=_flow(d), lasting=_lasting(d))),
    ),
    "GPU fabric": (
        ("bit errors", "bit_errors", _bit_errors(-7, -4)),
        ("link down", "down", lambda d, t: _one("down", lasting=_lasting(d))),
        ("link flapping", "down", _flapping("down")),
        ("lanes lost", "lanes", lambda d, t: _one("lanes", lanes=str(d.randint(1, 8)), lasting=_lasting(d))),
        (
            "queue stuck",
            "stuck",
            lambda d, t: _one("stuck", channel=d.choice(("request", "response")), lasting=_lasting(d)),
        ),
        ("packet poisoned", "poison", lambda d, t: _one("poison")),
        ("bit flip behind the CRC", "flip", lambda d, t: _one("flip", bit=str(d.randrange(576)))),
        ("dead", "dead", lambda d, t: _one("dead")),
    ),
    "InfiniBand link": (
        ("bit errors", "bit_errors", _bit_errors(-8, -4)),
        ("packets lost", "loss", lambda d, t: _one("loss", rate=f"{_log(d, -3, -0.3):g}", lasting=_lasting(d))),
        ("packet lost", "drop", lambda d, t: _one("drop", count=str(d.randint(1, 4)))),
        ("packet duplicated", "duplicate", lambda d, t: _one("duplicate", count=str(d.randint(1, 4)))),
        ("queue stuck", "stuck", lambda d, t: _one("stuck", lane="0", lasting=_lasting(d))),
        (
            "packet corrupted",
            "corrupt",
            lambda d, t: _one("corrupt", count=str(d.randint(1, 4)), where=d.choice(("link", "payload"))),
        ),
        ("link down", "down", lambda d, t: _one("down", lasting=_lasting(d))),
        ("link flapping", "down", _flapping("down")),
    ),
    "HBM": (("bit flip", "flip", lambda d, t: _flip(d, 1)), ("two bits flip", "flip", lambda d, t: _flip(d, 2))),
    "L2 cache": (("bit flip", "flip", _cached(1)), ("two bits flip", "flip", _cached(2))),
    "L1 cache": (("bit flip", "flip", _cached(1)), ("two bits flip", "flip", _cached(2))),
    "host memory": (("bit flip", "flip", _byte(1)), ("two bits flip", "flip", _byte(2))),
    "command processor": (
        ("firmware crash", "crash", lambda d, t: _one("crash")),
        ("bit flip", "flip", _processor(1)),
        ("two bits flip", "flip", _processor(2)),
    ),
    "lanes' registers": (("bit flip", "flip", _register(1)), ("two bits flip", "flip", _register(2))),
    "InfiniBand switch": (("dead", "dead", lambda d, t: _one("dead")),),
    "GPU": (
        ("removed", "surprise_removal", lambda d, t: _one("surprise_removal")),
        ("dispatcher stuck", "stuck", lambda d, t: _one("stuck", lasting=_lasting(d))),
    ),
    "RDMA adapter": (
        ("removed", "surprise_removal", lambda d, t: _one("surprise_removal")),
        ("send queue stuck", "stuck", lambda d, t: _one("stuck", lasting=_lasting(d))),
    ),
    "node": (("power off", "power_off", lambda d, t: _one("power_off")),),
}


#: Memories that a code can protect, in the order of the table, and what turns that on.
PROTECTION = {
    "HBM": ("node.gpus.*.memory.hbm.ecc",),
    "L2 cache": ("node.gpus.*.memory.l2.ecc",),
    "L1 cache": ("node.gpus.*.memory.unit.l1.ecc", "node.gpus.*.memory.scalar_cache.ecc"),
    "host memory": ("node.host.dram.ecc",),
    "command processor": ("node.gpus.*.processor.ecc",),
    "lanes' registers": ("node.gpus.*.compute_unit.register_file.ecc",),
}


#: Where what is hit follows from the running machine, by structure and fault.
_PLACES = {
    ("HBM", "flip"): Place.MEMORY,
    ("host memory", "flip"): Place.MEMORY,
    ("lanes' registers", "flip"): Place.WAVEFRONT,
    ("L1 cache", "flip"): Place.UNIT,
}


def kinds_of(faults: Sequence[FaultKind], nodes: int) -> tuple[Kind, ...]:
    """All kinds that a machine offers, in a fixed order."""
    offered: dict[tuple[str, str], list[str]] = {}
    for fault in faults:
        offered.setdefault((structure_of(fault.target), fault.kind), []).append(fault.target)
    found = [
        Kind(name, structure, tuple(sorted(targets)), draw, _PLACES.get((structure, fault), Place.TARGET))
        for structure, entries in _CATALOGUE.items()
        for name, fault, draw in entries
        if (targets := offered.get((structure, fault)))
    ]
    if down := [t for t in offered.get(("PCIe", "drop"), ()) if _DOWNSTREAM.search(t)]:
        found.append(Kind("doorbell lost", "PCIe", tuple(sorted(down)), lambda d, t: _one("drop", flow="posted")))
    hosts = tuple(f"node{i}" for i in range(nodes))
    return (*found, Kind("reset in mid-flight", "host", hosts, lambda d, t: _one("reset")))
