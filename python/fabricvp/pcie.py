# SPDX-License-Identifier: Apache-2.0
"""Traffic between copy engines and GPUs of a node's PCIe tree.

result = platform.nodes[0].pcie.transfer([("gpu0", "gpu2", "1 MiB"), ("gpu1", "gpu4", "1 MiB"), ("gpu3", "gpu2", "1
MiB")]) result.arrived           # [0.0002, …] seconds result.to_pandas()"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _fabricvp
from .errors import InputError
from .units import Time, to_picoseconds

if TYPE_CHECKING:
    import pandas

    from .node import Node

_ANY_CHANNEL = -1


@dataclass(frozen=True)
class Delivery:
    """How one message went. Times are seconds after the call of `Pcie.transfer()`."""

    source: int
    destination: int
    bytes: int
    start: float
    sent: float | None  #: the last byte was handed to the sender's link; None: not within the limit
    arrived: float | None  #: the last byte was in the receiver's memory; None: not within the limit
    intact: bool  #: every byte is what was sent

    @property
    def bandwidth(self) -> float | None:
        """Bytes a second from start to arrival."""
        return None if self.arrived is None else self.bytes / (self.arrived - self.start)


@dataclass(frozen=True)
class Transfer:
    """What `Pcie.transfer()` gives."""

    deliveries: list[Delivery]  #: one a message
    tlp_hops: int  #: TLPs that links of the tree carried meanwhile
    events: int  #: calendar events meanwhile

    @property
    def arrived(self) -> list[float | None]:
        """Arrival of each message, in seconds."""
        return [d.arrived for d in self.deliveries]

    @property
    def intact(self) -> bool:
        """All messages have arrived as they were sent."""
        return all(d.intact for d in self.deliveries)

    def to_pandas(self) -> pandas.DataFrame:
        """One row a message, with columns as in `Delivery` and its bandwidth in bytes a second."""
        import pandas

        return pandas.DataFrame([{**vars(d), "bandwidth": d.bandwidth} for d in self.deliveries])


class Pcie:
    """A node's PCIe tree."""

    def __init__(self, node: Node) -> None:
        self._core, self._index = node._core, node.index

    @property
    def endpoints(self) -> list[str]:
        """Names of the copy engines, in the order of the configuration, and then of the GPUs."""
        return _fabricvp.pcie_endpoints(self._core, self._index)

    @property
    def devices(self) -> dict[str, Any]:
        """The devices in Python (`PcieDevice`), by name."""
        return dict(_fabricvp.endpoint_objects(self._core, self._index))

    def transfer(self, messages: Iterable[Sequence[Any]], *, limit: Time = 1.0) -> Transfer:
        """Sends messages between copy engines and GPUs at once, and waits until the last one has arrived, or for
        ``limit``.

        A message is (source, destination, bytes[, start[, channel]]): ends are names or numbers of endpoints, ``bytes``
        is a number or text ("1 MiB"), ``start`` a time after the call, ``channel`` one of the engine's DMA channels.
        Without a channel the messages of an engine take its channels in turn, and so are concurrent streams that share
        its link TLP by TLP; messages of one channel follow each other. Every byte is carried and compared; memories of
        engines and GPUs are overwritten, from offset 0 on. If firmware has not enumerated the tree, that is done first,
        without simulated time.

        A GPU reads its memory through L2, and has as many channels as its copy engine. Page tables and queues of a
        driver that runs there are lost.

        Raises `InputError` if an end or a channel does not exist, a message is empty or goes to its sender, or messages
        do not fit an engine's memory, and `RuntimeError` in callbacks.
        """
        names = {name: number for number, name in enumerate(self.endpoints)}
        plain = []
        for message in messages:
            if not 3 <= len(message) <= 5:
                raise InputError(f"message {message!r}: give (source, destination, bytes[, start[, channel]])")
            source, destination, size, start, channel = tuple(message) + (0, None)[len(message) - 3 :]
            first, last = self._endpoint(source, names), self._endpoint(destination, names)
            count = _fabricvp.parse_bytes(size) if isinstance(size, str) else int(size)
            if count < 0:
                raise InputError(f"message {message!r}: a negative number of bytes")
            plain.append((first, last, count, to_picoseconds(start), _ANY_CHANNEL if channel is None else int(channel)))
        deliveries, hops, events = _fabricvp.pcie_transfer(self._core, self._index, plain, to_picoseconds(limit))
        return Transfer(
            [
                Delivery(source, destination, size, start / 1e12, _seconds(sent), _seconds(arrived), intact)
                for (source, destination, size, start, _), (sent, arrived, intact) in zip(plain, deliveries)
            ],
            hops,
            events,
        )

    def _endpoint(self, end: int | str, names: dict[str, int]) -> int:
        if isinstance(end, str) and end not in names:
            raise InputError(f"no endpoint '{end}'; there are: {', '.join(names) or 'none'}")
        number = names[end] if isinstance(end, str) else int(end)
        if number < 0:
            raise InputError(f"no endpoint {number}")
        return number

    def __repr__(self) -> str:
        return f"<PCIe tree with {', '.join(self.endpoints) or 'no copy engines'}>"


def _seconds(time: int) -> float | None:
    return None if time == _fabricvp.NEVER else time / 1e12
