# SPDX-License-Identifier: Apache-2.0
"""Launches of kernels of `firmware/gpu/kernels/microbenchmarks.c`: each wavefront notes its first and last cycle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from ...data import firmware_path
from ...platform import Platform
from ..machines import record_machine

if TYPE_CHECKING:
    from ...launch import Launch

LANES = 64
LINE = 64  #: bytes
CHUNK = 4096  #: bytes that a wavefront of a stream reads at once
REPEATS = 64  #: instructions of a round of arithmetic and LDS kernels


@dataclass(frozen=True)
class Launched:
    """What a launch took. ``cycles`` are the GPU's, from the first wavefront's first to the last one's last;
    ``seconds`` as the host sees the launch."""

    cycles: int
    interval: float  #: cycles from a wavefront's first to the next one's, over the second half of them
    begin: int  #: the first cycle of all; GPUs of one clock count the same
    end: int
    seconds: float
    statistics: dict[str, float]
    data: Any  #: what `data` holds afterwards, as bytes


class Bench:
    """A machine that runs nothing else; kernels run on its node 0's first GPU. Memory is not given back between
    launches, so a `Bench` is for some hundred small launches or some large ones."""

    def __init__(self, machine: str, overrides: dict[str, Any] | None = None) -> None:
        self.platform = Platform.from_config(machine, overrides=overrides or {})
        record_machine(machine, self.platform)
        self.node = self.platform.nodes[0]
        self.gpu = self.node.gpus[0]
        self._elf = firmware_path("microbenchmarks")

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.platform.close()

    def run(self, kernel: str, wavefronts: int = 1, group: int = 1, data: Any = LINE, **options: Any) -> Launched:
        """Runs one kernel; see `start()`."""
        return self.start(kernel, wavefronts, group, data, **options)()

    def start(
        self,
        kernel: str,
        wavefronts: int = 1,
        group: int = 1,
        data: Any = LINE,
        *,
        size: int | None = None,
        stride: int = 0,
        warm: int = 0,
        rounds: int = 1,
        lds: int = 0,
        lanes: int = LANES,
        place: int | str | None = None,
        back: bool = False,
        evict: int = 0,
        gpu: int = 0,
    ) -> Callable[[], Launched]:
        """Asks for ``wavefronts`` of ``lanes`` lanes, ``group`` of them a work-group; they run with all others that
        were asked for when the first of the values given is called. ``data`` is an array or a number of bytes, ``size``
        what the kernel is told of its size. ``back`` brings it back. What was written is in the L2; ``evict`` bytes
        that are filled behind it push it out."""
        held = data if isinstance(data, int) else data.nbytes
        pending = self.node.gpus[gpu].launch(
            self._elf,
            wavefronts * lanes,
            ["data", "times", "sum", held if size is None else size, stride, warm, rounds],
            {
                "data": data,
                "times": numpy.zeros(2 * wavefronts, numpy.uint64),
                "sum": max(LANES * wavefronts * 8, evict),
            },
            group=group * lanes,
            kernel=kernel,
            lds=lds,
            outputs=["times", "data"] if back else ["times"],
            places=None if place is None else {"data": place},
            max_job_bytes=64 << 20,
            wait=False,
        )
        return lambda: _launched(pending.result())


def _launched(done: Launch) -> Launched:
    times = done.buffers["times"].astype(numpy.int64).reshape(-1, 2)
    begin, end = int(times[:, 0].min()), int(times[:, 1].max())
    starts = numpy.sort(times[:, 0])
    # The first wavefronts of all wait for their code.
    late = starts[starts.size // 2 :]
    interval = float(late[-1] - late[0]) / max(1, late.size - 1)
    return Launched(end - begin, interval, begin, end, done.time, done.statistics, done.buffers.get("data"))


def ring(size: int, stride: int = LINE) -> numpy.ndarray:
    """An array of ``size`` bytes with a word every ``stride``: each is the offset of the next in a random order that
    visits all of them once, from 0 on."""
    count = size // stride
    order = numpy.concatenate(([0], 1 + numpy.random.default_rng(1).permutation(count - 1))) if count > 1 else [0]
    words = numpy.zeros(size // 8, numpy.uint64)
    words[numpy.asarray(order) * (stride // 8)] = numpy.roll(order, -1) * stride
    return words
