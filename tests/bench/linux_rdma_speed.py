# SPDX-License-Identifier: Apache-2.0
"""Wall time until Debian's Linux uses RDMA adapters with the driver that it comes with."""

import pathlib
import subprocess
import tempfile
import time

import tools
from boot_speed import LINUX, OPENSBI_DYNAMIC, need
from registry import Result, Unavailable, measurement

SCRIPT = """\
timeout 120 s
prompt "~ # "
expect "~ # "
command rdma
command sleep 0.05
type "ibv_devinfo\\n"
expect PORT_ACTIVE
expect PORT_ACTIVE
"""


@measurement(
    "linux_rdma_up_s", "reset to ib_mthca's having two adapters up and `ibv_devinfo` answered", "s", goal="under 20 s"
)
def up():
    if (reason := LINUX / "unavailable").exists():
        raise Unavailable(reason.read_text().strip())
    need(LINUX / "Image", LINUX / "initramfs_rdma.cpio", OPENSBI_DYNAMIC)
    times = []
    for _ in range(tools.sized(3, 1)):
        with tempfile.TemporaryDirectory(dir=tools.WORK) as folder:
            script = pathlib.Path(folder, "up.script")
            script.write_text(SCRIPT)
            start = time.monotonic()
            done = subprocess.run(
                tools.fabricvp(
                    "linux_rdma.yaml",
                    "--script",
                    script,
                    "--console",
                    "none",
                    "--quiet",
                    out=pathlib.Path(folder, "out"),
                ),
                capture_output=True,
                text=True,
                timeout=300,
            )
            times.append(time.monotonic() - start)
            if done.returncode:
                raise RuntimeError(done.stderr.strip())
    return Result(sorted(times)[len(times) // 2], None, "s")
