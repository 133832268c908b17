# SPDX-License-Identifier: Apache-2.0
"""Memory elsewhere, and what two kernels make of one link or one memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .bench import CHUNK, Bench, ring
from .limits import Limits, link_rate

HOST = "host"
MAX_BYTES = 16 << 20  #: of a stream


def _places(b: Bench) -> list[int | str]:
    """Where buffers of node 0's first GPU can lie beside its own memory: on its neighbour, on the nearest GPU of each
    other cluster, in the host's memory over PCIe."""
    config = b.platform.config
    places: list[int | str] = []
    if "links" in config["node0.fabric"]:
        rates = {g: link_rate(config, 0, g) for g in range(1, len(b.node.gpus))}
        places = [next(g for g, r in rates.items() if r == rate) for rate in dict.fromkeys(rates.values()) if rate]
    return [*places, HOST] if config["node0.gpu0.below"] != HOST else places


def _name(place: int | str | None) -> str:
    return "own" if place is None else HOST if place == HOST else f"gpu{place}"


def far_latency(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """A chase in memory elsewhere, by bytes: what the L1 holds of it, and what has to be asked for."""
    for place in (None, *_places(b)):
        for size in (limits.l1_size // 2, 4 * limits.l1_size):
            stride = 64 if size <= limits.l1_size else 256
            hops = size // stride
            timed = min(hops, 64)
            # The L1 is warm as far as it reaches; beyond it, the first lap has brought translations.
            warm = min(hops, 256) if size <= limits.l1_size or place in (None, HOST) else hops
            done = b.run("chase", 1, 1, ring(size, stride), lanes=1, warm=warm, rounds=timed, place=place)
            yield {
                "memory": _name(place),
                "bytes": size,
                "fits_L1": size <= limits.l1_size,
                "cycles": done.cycles / timed,
            }


def links(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """Streams to memory elsewhere by compute units and wavefronts: reads bring data, writes take them there."""
    units = [limits.compute_units] if quick else [1, limits.compute_units]
    waves = [4] if quick else [1, 4, min(16, limits.wavefronts)]
    for place in _places(b):
        peak = limits.pcie_rate if place == HOST else link_rate(b.platform.config, 0, int(place)) / limits.clock
        for kind in "read", "write":
            for n in units:
                for w in waves:
                    total = n * w
                    size = max(1 << (19 if quick else 21), total * CHUNK)
                    done = b.run(f"stream_{kind}", total, w, size, place=place)
                    yield {
                        "memory": _name(place),
                        "kind": kind,
                        "compute_units": n,
                        "wavefronts": w,
                        "bytes": size,
                        "bytes_per_cycle": size / done.cycles,
                        "peak": peak,
                    }


def fairness(b: Bench, limits: Limits, quick: bool) -> Iterator[dict[str, Any]]:
    """Two kernels that read one memory at the same time: both of one GPU, in its own memory; and of two GPUs, over one
    link. ``alone`` is what the first one gets by itself."""
    config, gpus = b.platform.config, b.node.gpus
    fits = 2 * limits.l2_size > MAX_BYTES
    cases: dict[str, list[tuple[int, int | None]]] = {
        f"{'L2' if fits else 'own memory'}, one GPU": [(0, None), (0, None)]
    }
    if "links" in config["node0.fabric"] and len(gpus) > 2:
        far = min(range(2, len(gpus)), key=lambda g: link_rate(config, 0, g))
        cases[f"link to gpu{far}, two GPUs"] = [(0, far), (1, far)]
        cases["memory of gpu0, two GPUs"] = [(0, None), (1, 0)]
    size = 1 << (19 if quick else 21)
    for name, kernels in cases.items():
        total = 2 * limits.compute_units

        def start(gpu: int, place: int | None, total: int = total) -> Any:
            local = place is None
            bytes_read = max(2 * limits.l2_size, 2 * total * CHUNK) if local else max(size, total * CHUNK)
            bytes_read = min(bytes_read, MAX_BYTES)
            begun = b.start(
                "stream_read", total, 2, bytes_read, place=place, gpu=gpu, warm=int(local), stride=2 * CHUNK
            )
            return lambda: (bytes_read, begun())

        alone_bytes, alone = start(*kernels[0])()
        begun = [start(*kernel) for kernel in kernels]
        both = [one() for one in begun]
        rates = [n / done.cycles for n, done in both]
        overlap = min(done.end for _, done in both) - max(done.begin for _, done in both)
        yield {
            "shared": name,
            "alone": alone_bytes / alone.cycles,
            "first": rates[0],
            "second": rates[1],
            "overlap": overlap / max(done.cycles for _, done in both),
        }
