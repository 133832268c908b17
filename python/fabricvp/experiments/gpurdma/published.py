# SPDX-License-Identifier: Apache-2.0
"""Figures of GPUrdma on K40c, Connect-IB FDR and PLX switches."""

from __future__ import annotations

SLIDES = "GPUrdma slides (Silberstein, 2016), one-way transfer latency"
PAPER = "Daoud, Watad, Silberstein, ROSS 2016"
#: µs by (queue pair, completion queue)
PLACEMENT = {("host", "host"): 8.6, ("GPU", "host"): 6.2, ("host", "GPU"): 6.8, ("GPU", "GPU"): 4.8}
#: µs a message of one thread that does one after the other; the steps overlap by 0.4, which is the measuring
NAIVE = 5.8
STEPS = {"writing": 1.6, "ringing": 1.5, "polling": 3.1}
REUSE_SAVES = 0.76
#: Gb/s by (way, size)
GBPS = {
    ("one at a time", 32 << 10): 15.0,
    ("one at a time", 1 << 20): 43.0,
    ("pipelined", 32 << 10): 45.0,
    ("queue pair a warp", 16 << 10): 50.0,
    ("queue pair a block", 16 << 10): 50.0,
}
#: of many queue pairs over the CPU with as many, 2 B … 1 KB: introduction and abstract
SPEEDUP = (3.8, 4.5)
#: µs, one block against a CPU
ROUND_TRIP = 10.0
#: Gb/s, 180 MB from CPU memory to GPU memory and back, by who answers
PINGPONG = {"CPU": 38.0, "one kernel": 40.5, "each work-group by itself": 52.0}
#: Vectors a batch: (GPI-2, GPUrdma), M vectors/s
MATVEC = {
    480: (2.6, 11.7),
    960: (4.8, 18.8),
    1920: (8.4, 25.2),
    3840: (13.9, 29.1),
    7680: (19.9, 30.3),
    15360: (24.3, 31.5),
}
MATVEC_SOURCE = "GPUrdma slides: GPI-2, GPUrdma"
#: What the CPU's side of a batch cost in those years: name, options of the firmware, time of a launch, source. Each has
#: what the one before it has, but for launches, of which the last one counts.
CPU_COSTS = (
    ("a kernel for each batch", "", "0 us", ""),
    ("results through the host's memory", "staged=1", "0 us", "gaspi_gpu_write_notify() of GPI-2 1.1.1 above 32 KiB"),
    (
        "and 6 us a copy",
        "staged=1 copy_ns=6000",
        "0 us",
        "small cudaMemcpy 6 to 7 us (gdrcopy), cudaMemcpyAsync 5 to 7",
    ),
    (
        "and 9 us a launch",
        "staged=1 copy_ns=6000",
        "9 us",
        "GPUs of 2008 to 2010 (University of Virginia): launch and synchronise, from 3.0 us with two thirds hidden",
    ),
    ("and 20 us a launch", "staged=1 copy_ns=6000", "20 us", "ComP-Net slides"),
    ("and 25 us a launch", "staged=1 copy_ns=6000", "25 us", "K20c, mean kernel invocation (GPUnet, TOCS 2016)"),
)

MODERN = "Baydamirli et al., GPU-initiated communication on H200 and ConnectX-7, 200 Gb/s, tables 3 to 5"
#: By what stands in front of the doorbell: µs to issue a write of 8 bytes, until its completion is seen.
FENCES = {
    "no fence": (0.19, 3.46),
    "a fence of the GPU": (0.70, 4.03),
    "a fence of the GPU in front of the record, too": (0.93, 4.26),
    "a fence of system scope": (2.62, 5.92),
}
#: The same by other instructions, which kernels here do not have: a release store, and `__threadfence()`, which is
#: sequentially consistent. Set beside ours on the page alone.
OTHER_FENCES = {
    "a release store of the GPU": (0.70, 4.00),
    "`__threadfence()`": (1.22, 4.48),
    "a release store of system scope": (2.37, 5.66),
}
SEEN = 3.30  #: µs, from the doorbell's store to the completion
NOT_INLINE = 0.61  #: µs more
MODERN_ROUND_TRIP = 6.85  #: µs, between two threads
#: Million messages a second. What 64 queue pairs on 64 compute units reach (257 to 260) is the adapter's own ceiling:
#: an input of the machine, and no figure to compare.
MODERN_RATES = {
    "one lane": 1.79,
    "one lane, 16 entries a doorbell": 4.70,
    "32 lanes, one queue pair": 21.6,
    "64 queue pairs in one work-group": 206.0,
    "32 queue pairs in one work-group": 133.0,
    "16 queue pairs, a work-group each": 74.4,
    "16 queue pairs, a work-group each, an entry a doorbell": 27.9,
}
#: bytes from which on nine tenths of the line rate are reached, by NVSHMEM's IBGDA. GDAKI and UCCL-EP need 2 KiB,
#: proxies on CPUs 7 KiB; nothing is published of one queue pair.
NINE_TENTHS = 512
