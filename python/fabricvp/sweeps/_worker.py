# SPDX-License-Identifier: Apache-2.0
"""What a point's process runs: `python -m fabricvp.sweeps._worker TASK RESULT PARENT`. Not for people."""

from __future__ import annotations

import os
import sys

from .process import begin_worker, write_result


def main() -> int:
    task, result_file = begin_worker()
    from .measure import measure

    record = measure(task)
    sys.stdout.flush()
    sys.stderr.flush()
    with open(result_file, "wb") as file:
        write_result(record, file)
    return 0


if __name__ == "__main__":
    status = main()
    os._exit(status)  # the machine is not taken apart: its end would cost more than its start
