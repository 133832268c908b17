# SPDX-License-Identifier: Apache-2.0
"""What was published, and figures of energy with their sources."""

from __future__ import annotations

from dataclasses import dataclass

SLIDES = "ComP-Net (PACT 2018), slides"
HOST_8_THREADS = (f"{SLIDES}: GPU host networking, 8 threads", 40.0)  #: µs
ENERGY_RATIO = (f"{SLIDES}: 2× less energy over all applications", 2.0)


@dataclass(frozen=True)
class Core:
    """Power of a core by its activity: watts while it is awake, joules an instruction, watts of leakage."""

    awake: float
    instruction: float
    leakage: float


MCPAT = "McPAT 1.3, 22 nm high performance, 350 K: lines through its runs at one and two instructions a cycle"
#: 8-wide, 4 GHz, 64 KB L1 caches; and 2-wide, 2 GHz, 16 KB + 32 KB. The part that does not depend on activity is the
#: same for both in that source, which is suspicious for cores of such different size; the study shows the ratio for 3
#: W, too.
HOST_CORE = Core(0.27, 0.29e-9, 0.47)
PROCESSOR_CORE = Core(0.27, 0.15e-9, 0.24)
HOST_AWAKE_MAX = 3.0
