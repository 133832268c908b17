# SPDX-License-Identifier: Apache-2.0
"""Published figures of hardware, one way as perftest gives them (a read is the whole round trip)."""

from __future__ import annotations

MLX4 = "public perftest note: mlx4 QDR adapter, one InfiniScale-IV hop, MTU 4096, typical"
CX6 = "public cluster log: ConnectX-6 HDR200, MTU 4096, average"
_SIZES = (2, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 1 << 20)

#: µs by source, verb, size
LATENCY: dict[str, dict[str, dict[int, float]]] = {
    MLX4: {
        "write": dict(
            zip(_SIZES, (0.89, 0.93, 0.97, 1.10, 1.84, 2.09, 2.51, 3.35, 5.03, 6.20, 8.51, 13.14, 23.09, 310))
        ),
        "send": dict(zip(_SIZES, (0.97, 1.00, 1.06, 1.18, 1.92, 2.15, 2.59, 3.43, 5.09, 6.28, 8.63, 13.8, 23.4, 311))),
        "read": dict(zip(_SIZES, (1.74, 1.75, 1.76, 1.80, 1.94, 2.16, 2.59, 3.42, 5.18, 6.36, 8.68, 13.8, 23.4, 345))),
    },
    CX6: {
        "write": {
            2: 1.87,
            64: 1.91,
            128: 1.96,
            256: 2.87,
            1024: 3.05,
            4096: 3.85,
            16384: 4.39,
            65536: 6.76,
            1 << 20: 46.9,
        }
    },
}
#: One figure each: (source, µs)
CX3_READ = ("public perftest note 2023: ConnectX-3 FDR (MT4099), MTU 2048, typical", 1.79)
CX3_WRITE = ("public lab notes 2026: ConnectX-3, 40 Gb RoCEv2, direct cable, typical", 0.85)
CX5_WRITE = ("public note 2026: ConnectX-5, RoCE 100 G, direct cable, 8 B, typical", 0.99)
CX5_SEND = ("public note 2026: ConnectX-5, RoCE 100 G, direct cable, 8 B", 0.92)
INLINE_SAVES = ("perftest issue 131, 2022, mlx5: write 1.32 − 0.93 µs (with BlueFlame)", 0.39)
SWITCH = ("InfiniBand switches: < 130 ns (Quantum), < 150 ns (Quantum-2)", 0.13)
PCIE_SWITCH = (
    "PEX89048 product page: 115 ns a crossing; a write's request and payload cross it, and so do the responses",
    None,
)
#: Messages a second
CONNECT_IB = {
    "plain": ("Kalia, rdma_bench: Connect-IB, one core, base", 6.80e6),
    "batched": ("Kalia, rdma_bench: one core, doorbell batching", 17.6e6),
    "pairs": ("Kalia, rdma_bench: one core, doorbell batching, +3 queue pairs", 27.4e6),
}
MLX4_WRITES = ("public perftest note: mlx4 QDR, writes of 4–256 B not inline: 7.8–8.9 M/s", 8.9e6)
MLX4_ATOMICS = ("public perftest note: mlx4 QDR, fetch-and-add 2.22 M/s", None)
#: Bytes a second: one port FDR carries 54.5 Gb/s of data
CX3_WRITE_64K = ("public lab notes 2026: ConnectX-3, 40 Gb RoCEv2, 64 KB writes", 4554e6)
GPU_READ_NOTE = "MVAPICH2-GDR and GPUDirect guides: reading a GPU's memory across PCIe is the slow direction"
