# SPDX-License-Identifier: Apache-2.0
"""Resolved parameters as attributes, made from the machine's own description of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import _fabricvp


@dataclass(frozen=True)
class Parameter:
    """One parameter of the machine."""

    path: str  #: "node.host.harts", without the node's number
    value: Any  #: in base units: seconds, hertz, bytes, bytes per second, cycles; or bool, str, list of str
    text: str  #: as YAML would say it, with unit
    kind: str  #: boolean, integer, real, text, choice, text_list, duration, frequency, byte_size, bandwidth, cycles
    allowed: str  #: allowed values in words
    help: str


class ConfigGroup:
    """Parameters of one part of the machine as read-only attributes; parts of lists go by their names
    (``config.node0.gpu0``).

    ``describe("host.harts")`` gives a `Parameter` with unit, range and help; iterating gives the names.
    """

    def __init__(self, path: str = "") -> None:
        self.__dict__.update(_path=path, _members={})

    def __getattr__(self, name: str) -> Any:
        try:
            member = self.__dict__["_members"][name]
        except KeyError:
            raise AttributeError(
                f"no parameter '{self._dotted(name)}'; there are: {', '.join(map(str, self._members))}"
            ) from None
        return member.value if isinstance(member, Parameter) else member

    def __getitem__(self, key: int | str) -> Any:
        if isinstance(key, str) and "." in key:
            head, _, rest = key.partition(".")
            return self[head][rest]
        key = str(key)
        if key not in self._members:
            raise KeyError(f"no parameter '{self._dotted(key)}'")
        member = self._members[key]
        return member.value if isinstance(member, Parameter) else member

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"'{self._dotted(name)}' is fixed once the machine is built; give it to from_config() or spawn()"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __dir__(self) -> list[str]:
        return [*self._members, "describe", "parameters"]

    def _dotted(self, name: object) -> str:
        return f"{self._path}.{name}" if self._path else str(name)

    def describe(self, path: str) -> Parameter:
        """A parameter with unit, range and help. Raises `KeyError`."""
        for parameter in self.parameters():
            if parameter.path == self._dotted(path):
                return parameter
        raise KeyError(f"no parameter '{self._dotted(path)}'")

    def parameters(self) -> list[Parameter]:
        """All parameters of this part and the parts in it."""
        found: list[Parameter] = []
        for member in self._members.values():
            found += [member] if isinstance(member, Parameter) else member.parameters()
        return found

    def __repr__(self) -> str:
        return "\n".join(f"{p.path}: {p.text}" for p in self.parameters())


def build_config(records: list[_fabricvp.Parameter]) -> ConfigGroup:
    """The tree of all parameters."""
    top = ConfigGroup()
    for record in records:
        group = top
        *parts, name = record.path.split(".")
        for part in parts:
            group = group._members.setdefault(part, ConfigGroup(group._dotted(part)))
        group._members[name] = Parameter(
            record.path, record.value, record.text, record.kind, record.allowed, record.help
        )
    return top
