# SPDX-License-Identifier: Apache-2.0
"""Streams of launches and events in them.

copy, compute = gpu.stream(), gpu.stream()
program["a"](4096, 64, x, stream=copy)
ready = copy.record()
compute.wait(ready)
program["b"](4096, 64, x, y, stream=compute)
compute.synchronize()
print(compute.record().since(ready))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import InputError

if TYPE_CHECKING:
    from .launch import Jobs, PendingLaunch


class Stream:
    """Kernels that follow each other on a GPU, while those of other streams run. They begin when somewhere their end is
    waited for: 16 at a time, and of 8 streams of a GPU."""

    def __init__(self, jobs: Jobs, name: str, gpu: int) -> None:
        self._jobs, self._name, self._gpu = jobs, name, gpu
        self.number = jobs.new_stream()
        self.launches: list[PendingLaunch] = []
        self.after: list[PendingLaunch] = []  # that the next launch waits for

    def add(self, launch: PendingLaunch) -> None:
        """A launch, behind all others."""
        self.launches.append(launch)
        self.after = []

    def check_is_of(self, jobs: Jobs, gpu: int) -> None:
        """Raises `InputError` for another GPU's launches: what orders kernels is a queue of one GPU."""
        if jobs is not self._jobs or gpu != self._gpu:
            raise InputError(f"stream {self.number} is of {self._name}: take one of the GPU that launches")

    def record(self) -> Event:
        """An event behind the launches so far."""
        return Event(self, len(self.launches))

    def wait(self, event: Event) -> None:
        """Launches from here on begin when the event has happened. Raises `TypeError` for what is no event."""
        if not isinstance(event, Event):
            raise TypeError(f"{event!r} is no event: give what Stream.record() gives")
        if event.launch is not None:
            self.after.append(event.launch)

    def synchronize(self) -> None:
        """Returns when all launches have ended. Raises as `Gpu.launch()` where one went wrong."""
        for launch in self.launches:
            launch.outcome()

    @property
    def done(self) -> bool:
        """True if nothing waits."""
        return all(launch.done for launch in self.launches)

    def __repr__(self) -> str:
        return f"<Stream {self.number} of {self._name}: {len(self.launches)} launches>"


def require_stream(value: object) -> Stream:
    """``value``. Raises `TypeError` unless it is a stream."""
    if not isinstance(value, Stream):
        raise TypeError(f"stream={value!r}: must be what Gpu.stream() gives")
    return value


class Event:
    """A place in a stream."""

    def __init__(self, stream: Stream, index: int) -> None:
        self._stream, self._index = stream, index

    @property
    def launch(self) -> PendingLaunch | None:
        """The launch before it."""
        return self._stream.launches[self._index - 1] if self._index else None

    @property
    def done(self) -> bool:
        """True once it has happened."""
        return self.launch is None or self.launch.done

    @property
    def time(self) -> float:
        """Simulated time, in seconds, when the launch before it ended, or the first of its stream began. Waits for it.
        Raises `ValueError` if its stream has had no launch."""
        if self.launch is not None:
            return self.launch.times()[1]
        if not self._stream.launches:
            raise ValueError("the event's stream has no launch")
        return self._stream.launches[0].times()[0]

    def synchronize(self) -> None:
        """Returns when it has happened."""
        if self.launch is not None:
            self.launch.outcome()

    def since(self, other: Event) -> float:
        """Seconds of simulated time from another event to this one."""
        return self.time - other.time

    def __repr__(self) -> str:
        return f"<Event behind {self._index} launches of stream {self._stream.number}>"
