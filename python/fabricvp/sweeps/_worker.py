# SPDX-License-Identifier: Apache-2.0
"""What a point's process runs: `python -m fabricvp.sweeps._worker TASK RESULT PARENT`. Not for people."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import pickle
import signal
import sys


def main() -> int:
    task_file, result_file, parent = (int(text) for text in sys.argv[1:])
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: no point outlives its sweep
    if os.getppid() != parent:
        return 1
    with open(task_file, "rb") as file:
        sys_path, command, data = pickle.load(file)
    sys.path[:] = [*sys_path, *(path for path in sys.path if path not in sys_path)]  # of another machine, maybe
    sys.argv[:] = command
    from .measure import measure

    record = measure(pickle.loads(data))
    sys.stdout.flush()
    sys.stderr.flush()
    with open(result_file, "wb") as file:
        pickle.dump({f.name: getattr(record, f.name) for f in dataclasses.fields(record)}, file)
    return 0


if __name__ == "__main__":
    status = main()
    os._exit(status)  # the machine is not taken apart: its end would cost more than its start
