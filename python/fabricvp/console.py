# SPDX-License-Identifier: Apache-2.0
"""A node's serial console, in the manner of pexpect but on simulated time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .results import Match
from .units import Time

if TYPE_CHECKING:
    from .node import Node

_ESCAPE = r"\x1b\[[0-9;?]*[A-Za-z]"
_CONTROLS = re.compile(rf"\r|{_ESCAPE}")


class Console:
    """Everything that the guest prints is kept; everything that is typed is recorded with its simulated time."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._core = node._platform._core
        self._position = 0  # bytes of output that expect() has consumed

    @property
    def output(self) -> str:
        """All output since the start, bytes that are no UTF-8 replaced."""
        return self.output_bytes.decode(errors="replace")

    @property
    def output_bytes(self) -> bytes:
        """All output since the start."""
        return self._core.console_output(self._node.index, 0)

    @property
    def unread(self) -> str:
        """Output that no `expect()` has consumed yet. Bytes that are no UTF-8 appear as surrogates."""
        return self._core.console_output(self._node.index, self._position).decode(errors="surrogateescape")

    def type(self, text: str | bytes) -> None:
        """Types text, as fast as the serial line carries it, from the present simulated time on."""
        self._core.console_type(self._node.index, text.encode() if isinstance(text, str) else text)

    def expect(self, pattern: str | re.Pattern[str], timeout: Time | None = "10 s") -> Match:
        """Runs until the output shows ``pattern``; consumes the output up to its end.

        Text is searched as it is; compile a regular expression for more. ``timeout`` is simulated time (None: for
        ever). Raises `ExpectTimeout`, and `GuestStopped` when the guest ends or a breakpoint stops it before."""
        return self._expect(pattern, timeout, False)

    def _expect(self, pattern: str | re.Pattern[str], timeout: Time | None, at_line_start: bool) -> Match:
        from .errors import GuestStopped

        result = self._node._platform.run_until_console(pattern, timeout, self._node.index, at_line_start=at_line_start)
        if result.match is None:
            raise GuestStopped(f"{result.outcome} ({result.detail}) before the console showed {pattern!r}", result)
        return result.match

    def command(self, line: str, prompt: str | re.Pattern[str], timeout: Time | None = "10 s") -> str:
        """Types a line and gives what is printed between its echo and the next ``prompt``, without carriage returns and
        the escape sequences of terminals. Raises as `expect()`.

        A prompt that is text stands at the start of a line, so "=> " is not found in "==> "; a compiled regular
        expression is searched as it is, with what no call has consumed yet."""
        self.type(line + "\n")
        before = _CONTROLS.sub("", self._expect(prompt, timeout, isinstance(prompt, str)).before)
        return before.removeprefix(line).removeprefix("\n")

    def skip(self) -> None:
        """Counts all output so far as seen, so that `expect()` looks at what comes after it."""
        self._position = len(self.output_bytes)

    def attach(self, where: str) -> None:
        """Connects the line to "stdio", "file:PATH", "tcp:PORT" (loopback; 0: any) or "none". Raises `InputError`."""
        self._core.console_attach(self._node.index, where)

    @property
    def port(self) -> int:
        """Loopback port of "tcp:…", 0 where the line is not on a socket."""
        return self._core.console_port(self._node.index)

    @property
    def recorded_input(self) -> str:
        """Input so far with its simulated time, as the platform records it."""
        return self._core.console_input(self._node.index)

    def _at_line_start(self, text: str) -> re.Pattern[str]:
        """A pattern that finds text in unread output at the start of a line, behind colours and the like."""
        last = self.output_bytes[max(self._position - 1, 0) : self._position]
        here = r"\A|" if last in (b"", b"\n", b"\r") else ""  # where unread output begins
        return re.compile(rf"(?:{here}(?<=[\r\n]))(?:{_ESCAPE})*{re.escape(text)}")

    def _consume(self, characters: int) -> None:
        self._position += len(self.unread[:characters].encode(errors="surrogateescape"))

    def __repr__(self) -> str:
        return f"<Console of node {self._node.index}, {len(self.output_bytes)} bytes>"
