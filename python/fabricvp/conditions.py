# SPDX-License-Identifier: Apache-2.0
"""What `Platform.run(until=…)` can wait for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .nodes import node_index
from .results import Match

if TYPE_CHECKING:
    from .platform import Platform


class Condition:
    """Something that ends a run. `match` is set by console conditions."""

    description = ""
    match: Match | None = None

    def arm(self, platform: Platform) -> bool:
        """Prepares for a run; true if the condition holds already."""
        raise NotImplementedError

    def disarm(self, platform: Platform) -> None:
        """Takes back what arm() did."""


class ConsoleText(Condition):
    """Console output of a node: plain text, or a compiled regular expression searched in the output not yet consumed.

    The run ends at the character that completes the match, so a run is repeatable whatever the pattern. With
    ``at_line_start`` text counts at the start of a line only, as a prompt does.
    """

    def __init__(self, pattern: str | re.Pattern[str], node: int = 0, *, at_line_start: bool = False) -> None:
        if isinstance(pattern, str) and not pattern:
            raise ValueError("an empty text matches at once")
        if not isinstance(pattern, (str, re.Pattern)):
            raise TypeError("a console pattern is text or a compiled regular expression")
        if at_line_start and not isinstance(pattern, str):
            raise TypeError("a regular expression says itself where it matches: at_line_start is for text")
        self.pattern, self.node, self.at_line_start = pattern, node, at_line_start
        self.description = repr(pattern if isinstance(pattern, str) else pattern.pattern)

    def arm(self, platform: Platform) -> bool:
        self.match = None
        console = platform.nodes[self.node].console
        if self._search(console):
            return True
        if isinstance(self.pattern, str):
            self._watch = platform._core.watch_console_text(
                self.node, console._position, self.pattern.encode(), self.at_line_start, self.description
            )
        else:
            self._watch = platform._core.watch_console(self.node, lambda: self._search(console), self.description)
        return False

    def disarm(self, platform: Platform) -> None:
        if hasattr(self, "_watch"):
            platform._core.unwatch_console(self.node, self._watch)
            del self._watch
        if self.match is None:
            self._search(platform.nodes[self.node].console)

    def _search(self, console: Any) -> bool:
        unread = console.unread
        groups: tuple[str | Any, ...] = ()
        if isinstance(self.pattern, str) and not self.at_line_start:
            start = unread.find(self.pattern)
            end = start + len(self.pattern)
        else:
            pattern = console._at_line_start(self.pattern) if isinstance(self.pattern, str) else self.pattern
            found = pattern.search(unread)
            start, end, groups = (found.start(), found.end(), found.groups()) if found else (-1, -1, ())
        if start < 0:
            return False
        self.match = Match(unread[start:end], unread[:start], groups)
        console._consume(end)
        return True


class Breakpoint(Condition):
    """A hart is about to execute an address or a symbol ("main") of a loaded ELF file; outcome "breakpoint"."""

    def __init__(self, where: int | str, node: int = 0) -> None:
        self.where, self.node = where, node
        self.description = where if isinstance(where, str) else hex(where)

    def arm(self, platform: Platform) -> bool:
        self._address = platform.nodes[self.node].address_of(self.where)
        platform._core.insert_breakpoint(self.node, self._address)
        return False

    def disarm(self, platform: Platform) -> None:
        if hasattr(self, "_address"):
            platform._core.remove_breakpoint(self.node, self._address)
            del self._address


class Watchpoint(Condition):
    """A hart has accessed memory; outcome "breakpoint". ``kind`` is "write", "read" or "access", ``size`` in bytes.

    Addresses are the ones that the program uses (virtual under translation).
    """

    def __init__(self, where: int | str, size: int = 8, kind: str = "write", node: int = 0) -> None:
        if kind not in ("write", "read", "access"):
            raise ValueError(f"kind is 'write', 'read' or 'access', not {kind!r}")
        self.where, self.size, self.kind, self.node = where, size, kind, node
        self.description = f"{kind} of {where if isinstance(where, str) else hex(where)}"

    def arm(self, platform: Platform) -> bool:
        self._address = platform.nodes[self.node].address_of(self.where)
        platform._core.insert_watchpoint(self.node, self._address, self.size, self.kind)
        return False

    def disarm(self, platform: Platform) -> None:
        if hasattr(self, "_address"):
            platform._core.remove_watchpoint(self.node, self._address, self.size, self.kind)
            del self._address


class Marker(Condition):
    """The guest gave a command to the marker device: with a given label, or any; outcome "event".

    ``kind`` narrows it to "reset", "dump" or "note".
    """

    def __init__(self, label: str | None = None, kind: str | None = None, node: int = 0) -> None:
        if kind not in (None, "reset", "dump", "note"):
            raise ValueError(f"kind is 'reset', 'dump' or 'note', not {kind!r}")
        self.label, self.kind, self.node = label, kind, node
        self.description = " ".join(
            ["marker", *([kind] if kind else []), *([repr(label)] if label is not None else [])]
        )

    def arm(self, platform: Platform) -> bool:
        self._watch = platform._core.watch_marker(self.node, self.label, self.kind)
        return False

    def disarm(self, platform: Platform) -> None:
        if hasattr(self, "_watch"):
            platform._core.unwatch_marker(self.node, self._watch)
            del self._watch


def as_conditions(until: Any, node: int = 0) -> list[Condition]:
    """Conditions from what users write; texts are for the console of ``node``. Raises `TypeError` for anything else."""
    if until is None:
        return []
    if isinstance(until, (str, re.Pattern)):
        return [ConsoleText(until, node)]
    if isinstance(until, Mapping):
        return [condition for key, item in until.items() for condition in as_conditions(item, node_index(key))]
    if isinstance(until, Condition):
        return [until]
    if isinstance(until, (list, tuple)):
        return [condition for item in until for condition in as_conditions(item, node)]
    raise TypeError(f"until= takes text, a compiled regular expression or conditions, not {type(until).__name__}")
