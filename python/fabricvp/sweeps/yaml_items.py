# SPDX-License-Identifier: Apache-2.0
"""YAML whose every value knows its line and key, so that messages can name them."""

from __future__ import annotations

import difflib
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from ..errors import InputError
from ..printable import printable

_LARGEST = 16 << 20
#: Values of a file, those that aliases repeat included: a few lines of aliases of aliases would fill the memory.
_MAX_VALUES = 1_000_000
#: Of a whole number. Python makes no text of one with more than 4,300, as messages would need it.
_MAX_DIGITS = 1000
_NULLS = ("", "~", "null")
_TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True)
class Item:
    """A value: a scalar (text, number, truth, None), a list of items, or a mapping from keys to items."""

    value: Any
    where: str  #: "FILE:LINE"
    key: str  #: with dots between levels; empty for the whole file

    def fail(self, text: str) -> NoReturn:
        """Raises `InputError` with file, line and key."""
        raise InputError(printable(f"{self.where}: {self.key}{': ' if self.key else ''}{text}"))

    def mapping(self) -> dict[str, Item]:
        """The items of a mapping. Raises `InputError`."""
        if not isinstance(self.value, dict):
            self.fail("must be a group of keys")
        return self.value

    def items(self) -> list[Item]:
        """The items of a list. Raises `InputError`."""
        if not isinstance(self.value, list):
            self.fail("must be a list, such as [1, 2]")
        return self.value

    def text(self) -> str:
        """A scalar as text. Raises `InputError` for anything else, and where there is nothing."""
        if isinstance(self.value, (dict, list)) or self.value is None:
            self.fail("must be a single value")
        return str(self.value)

    def truth(self) -> bool:
        """`true` or `false`. Raises `InputError`."""
        if not isinstance(self.value, bool):
            self.fail("must be true or false")
        return self.value

    def whole(self) -> int:
        """A whole number. Raises `InputError`."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.fail("must be a whole number")
        return self.value

    def choice(self, allowed: Sequence[str]) -> str:
        """One of some texts. Raises `InputError`."""
        if self.text() not in allowed:
            self.fail(f"'{self.value}' is none of {', '.join(allowed)}")
        return self.text()

    def keys_of(self, allowed: Sequence[str]) -> dict[str, Item]:
        """The items of a mapping that has these keys at most. Raises `InputError` with the nearest name."""
        for name, item in self.mapping().items():
            if name not in allowed:
                near = difflib.get_close_matches(name, allowed, 1)
                hint = f", did you mean '{near[0]}'?" if near else ""
                inside = f" in {self.key}" if self.key else ""
                text = f"{item.where}: unknown key '{name}'{inside}{hint} (allowed: {', '.join(allowed)})"
                raise InputError(printable(text))
        return self.mapping()

    def plain(self) -> Any:
        """The same without lines."""
        if isinstance(self.value, dict):
            return {name: item.plain() for name, item in self.value.items()}
        return [item.plain() for item in self.value] if isinstance(self.value, list) else self.value


def read_yaml(path: str | os.PathLike[str]) -> Item:
    """The contents of a file. Raises `InputError` if it cannot be read, or is no YAML."""
    name = os.fspath(path)
    try:
        if Path(path).stat().st_size > _LARGEST:
            raise InputError(f"{name}: is larger than {_LARGEST >> 20} MiB")
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{name}: is no UTF-8") from None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{name}:{line}: not valid YAML: {error.problem}") from None
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise InputError(f"{name}:{line}: not valid YAML: {error.reason}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{name}: not valid YAML: {str(error).partition(chr(10))[0]}") from None
    if node is None:
        raise InputError(f"{name}:1: is empty")
    return _item(node, name, "", (), itertools.count(1))


def _item(node: yaml.Node, file: str, key: str, around: tuple[int, ...], number: Iterator[int]) -> Item:
    where = f"{file}:{node.start_mark.line + 1}"
    if next(number) > _MAX_VALUES:
        raise InputError(f"{where}: {key}: has more than {_MAX_VALUES} values with those of its aliases")
    if id(node) in around or len(around) > 100:
        raise InputError(f"{where}: {key}: contains itself, or has more than 100 levels")
    inner = (*around, id(node))
    if isinstance(node, yaml.SequenceNode):
        return Item([_item(each, file, key, inner, number) for each in node.value], where, key)
    if isinstance(node, yaml.ScalarNode):
        item = Item(_characters(node.value, where, key), where, key)
        return item if node.style else _scalar(item)
    found: dict[str, Item] = {}
    for name_node, value in node.value:
        line = f"{file}:{name_node.start_mark.line + 1}"
        if not isinstance(name_node, yaml.ScalarNode):
            raise InputError(f"{line}: a key must be text")
        name = _characters(name_node.value, line, key)
        if name in found:
            raise InputError(printable(f"{line}: {key}{'.' if key else ''}{name}: is there twice"))
        item = _item(value, file, f"{key}.{name}" if key else name, inner, number)
        found[name] = Item(item.value, line, item.key)
    return Item(found, where, key)


def _characters(text: str, where: str, key: str) -> str:
    """The text. Raises `InputError` for one that no file could hold: escapes can write halves of surrogate pairs."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        Item(text, where, key).fail("has half of a surrogate pair, which is no character")
    return text


def _scalar(item: Item) -> Item:
    """A plain scalar as YAML 1.2 has it: numbers and truths; the rest is text."""
    text = item.value
    value: Any = text
    if text in _NULLS:
        value = None
    elif text in _TRUTHS:
        value = _TRUTHS[text]
    elif re.fullmatch(r"[-+]?[0-9]+|0x[0-9a-fA-F]+", text):
        if len(text) > _MAX_DIGITS:
            item.fail(f"is a whole number of more than {_MAX_DIGITS:,} digits")
        value = int(text, 16 if text.startswith("0x") else 10)
    elif re.fullmatch(r"[-+]?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?", text):
        value = float(text)
    return Item(value, item.where, item.key)
