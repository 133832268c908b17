# SPDX-License-Identifier: Apache-2.0
"""What `spawn()` starts: `python -m fabricvp._child DESCRIPTOR`. Not for people."""

from __future__ import annotations

import pickle
import sys
from multiprocessing.connection import Connection


def main() -> int:
    connection = Connection(int(sys.argv[1]))
    try:
        request = pickle.loads(connection.recv_bytes())
    except (EOFError, OSError):
        return 1
    sys.path[:] = request["sys_path"]
    sys.argv[:] = request["command"]
    try:
        from .platform import Platform
        from .serving import serve

        options = {"plugins": pickle.loads(request["plugins"]), "overrides": request["overrides"], **request["app"]}
        if request["text"] is not None:
            machine = Platform.from_text(request["text"], name=request["name"], **options)
        else:
            machine = Platform.from_config(request["path"], **options)
    except BaseException as error:
        _report(connection, error)
        return 1
    connection.send_bytes(pickle.dumps((True, None)))
    serve(machine, connection, request["main_path"])
    return 0


def _report(connection: Connection, error: BaseException) -> None:
    try:
        data = pickle.dumps((False, error))
        pickle.loads(data)
    except Exception:
        data = pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
    connection.send_bytes(data)


if __name__ == "__main__":
    sys.exit(main())
