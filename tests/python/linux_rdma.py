# SPDX-License-Identifier: Apache-2.0
"""What tests of RDMA adapters under Debian's Linux share."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = ROOT / "configs"
IMAGES = [ROOT / "build" / "linux" / name for name in ("Image", "initramfs_rdma.cpio")]
MISSING = [str(path) for path in IMAGES if not path.exists()]
WITH_IMAGES = pytest.mark.skipif(bool(MISSING), reason=f"make linux has not made {', '.join(MISSING)}")
WITH_PROGRAM = pytest.mark.skipif(
    not (IMAGES[0].parent / "verbs_check").exists(),
    reason="make linux found no riscv64-linux-gnu-gcc to compile tests/linux with",
)
PROMPT = "~ # "

#: What the driver says when the adapter does not behave as it should.
BAD_SIGNS = re.compile(
    r"failed to generate interrupt|is old|couldn't map|Catastrophic error detected|Profile requires|unknown"
    r" QP|bogus|Unhandled event"
    r"|CQ overrun|modify QP .* returned|MAD_IFC returned|[RS]Q full|nobody cared|Missing|aborting|error -|WARNING"
)

#: Tool, its arguments, and what it must print.
TOOLS = [
    ("ibv_rc_pingpong", "-n 200 -s 5000 -c", "iters in"),
    ("ibv_uc_pingpong", "-n 200 -s 5000 -c", "iters in"),
    ("ibv_ud_pingpong", "-n 200 -s 2000", "iters in"),
    ("ibv_srq_pingpong", "-n 200 -s 5000 -q 4", "iters in"),
    ("ib_write_lat", "-n 100 -s 8", "BW average|t_avg"),
    ("ib_read_lat", "-n 100 -s 4096", "t_avg"),
    ("ib_send_lat", "-n 100 -s 64", "t_avg"),
    ("ib_atomic_lat", "-n 100", "t_avg"),
    ("ib_write_bw", "-n 100 -s 65536", "BW average"),
    ("ib_read_bw", "-n 100 -s 65536", "BW average"),
    ("ib_send_bw", "-n 100 -s 65536", "BW average"),
    ("ib_send_bw", "-n 100 -c UD -s 2048", "BW average"),
]


def shell_of(node):
    """A function that types a line into a node's shell and returns what it printed; waits for the prompt first."""
    node.console.expect(PROMPT, timeout="60 s")
    return lambda line, timeout="60 s": node.console.command(line, PROMPT, timeout=timeout)
