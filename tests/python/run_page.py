# SPDX-License-Identifier: Apache-2.0
"""Runs that are looked at: the command with `--monitor`, and a client of its page."""

import contextlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import websockets
from websockets.sync.client import connect

ADDRESS = re.compile(r"the run is shown at (http://127\.0\.0\.1:(\d+)/([\w-]+)/)")
TIMEOUT = 600  #: seconds of wall time for what takes less than one


class MonitoredRun:
    """`fabricvp run … --monitor`, with what it prints."""

    def __init__(self, arguments: list[str], folder: Path):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fabricvp", "run", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
        self.errors = ""
        found = None
        while found is None:
            line = self.process.stderr.readline()
            self.errors += line
            assert line, f"the run ended before its page was there: {self.errors}"
            found = ADDRESS.search(line)
        self.url, self.port, self.token = found[1], int(found[2]), found[3]
        self._rest = threading.Thread(target=self._read, daemon=True)
        self._rest.start()
        self.output = ""
        self._output = threading.Thread(target=self._read_output, daemon=True)
        self._output.start()

    def _read(self) -> None:
        self.errors += self.process.stderr.read()

    def _read_output(self) -> None:
        self.output += self.process.stdout.read()

    def wait(self) -> int:
        status = self.process.wait(TIMEOUT)
        self._rest.join()
        self._output.join()
        return status


@contextlib.contextmanager
def monitored(folder: Path, *arguments: Any) -> Iterator[MonitoredRun]:
    run = MonitoredRun([str(a) for a in arguments], folder)
    try:
        yield run
    finally:
        run.process.kill()
        run.process.wait()


class Client:
    """What the page does: frames and commands over a WebSocket."""

    def __init__(self, url: str):
        self._open = contextlib.ExitStack()
        self._socket = self._open.enter_context(connect(url.replace("http", "ws", 1) + "frames", max_size=None))
        self._number = 0
        self.frame: dict[str, Any] = {}
        self.consoles: list[str] = []

    def next(self) -> dict[str, Any]:
        """The next frame."""
        while True:
            message = json.loads(self._socket.recv(TIMEOUT))
            printed = message.get("consoles", [])
            self.consoles = [a + b for a, b in zip(self.consoles or [""] * len(printed), printed)] or self.consoles
            if "time_ps" in message:
                self.frame = message
                return message

    def until(self, holds: Any) -> dict[str, Any]:
        while not holds(frame := self.next()):
            pass
        return frame

    def until_the_end(self) -> dict[str, Any]:
        """The frame of a run that has ended; the one with the reply to the last command may have been it."""
        return self.frame if self.frame["state"] == "stopped" else self.until(lambda frame: frame["state"] == "stopped")

    def send(self, **command: Any) -> dict[str, Any]:
        """Sends a command; gives the frame with its reply, which tells of no error."""
        reply, frame = self.reply(**command)
        assert "error" not in reply, reply
        return frame

    def send_text(self, command: str) -> None:
        """Sends any text, and waits for nothing."""
        self._socket.send(command)

    def step_until(self, time: str, holds: Any) -> dict[str, Any]:
        """Steps, by a simulated time each, until a frame is so."""
        while True:
            frame = self.send(do="step", time=time)
            if frame["state"] == "running":
                frame = self.until(lambda frame: frame["state"] != "running")
            assert frame["state"] == "paused", "the run has ended before"
            if holds(frame):
                return frame

    def pause_often_and_run_to_the_end(self) -> None:
        """Pauses and continues a run that is so slow that it does not end meanwhile, then lets it go on to its end."""
        self.send(do="speed", time="1 us")  # a second
        for _ in range(3):
            assert self.send(do="continue")["state"] == "running"
            assert self.send(do="pause")["state"] == "paused"
        self.send(do="speed", time=None)
        self.send(do="continue")
        with contextlib.suppress(websockets.ConnectionClosedOK):  # the run has ended
            while True:
                self.next()
        assert self.frame["state"] == "stopped"

    def reply(self, **command: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        self._number += 1
        sent = {"id": self._number, **command}
        self._socket.send(json.dumps(sent))
        while True:
            frame = self.next()
            for reply in frame["replies"]:
                if reply["id"] == sent["id"]:
                    return reply, frame

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self._open.close()
