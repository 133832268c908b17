# SPDX-License-Identifier: Apache-2.0
"""Expressions over parameters of a point: `size * node.host.harts <= 4096 and app != "spmv"`."""

from __future__ import annotations

import ast
import difflib
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import InputError
from ..printable import printable

#: Levels of brackets, signs and operators: what has more is no expression that a person wrote.
_MAX_LEVELS = 100
#: Characters of an expression in a message.
_SHOWN = 100


def _of_numbers(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """For numbers alone: Python's `%` fills a text in, and its `*` repeats one until the memory is full."""

    def apply(left: Any, right: Any) -> Any:
        for value in (left, right):
            if not isinstance(value, (int, float)):
                raise TypeError(f"* and % take numbers, not {type(value).__name__}")
        return operation(left, right)

    return apply


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _of_numbers(operator.mul),
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: _of_numbers(operator.mod),
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


class Constraint:
    """An expression in Python's syntax: numbers, texts, lists, parameters by name, arithmetic, comparisons, `and`,
    `or`, `not`. A name that Python could not read stands in back quotes. Calling it tells whether a point may stay.

    Raises `InputError` for anything else; the call, for a name that the point does not have and for values that cannot
    be compared."""

    def __init__(self, text: str) -> None:
        self._quoted = list[str]()
        self._prefix = "__quoted_"
        while self._prefix in text:
            self._prefix = f"_{self._prefix}"
        self._shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the compiler's, of what a comparison may mean
                self._tree = ast.parse(re.sub(r"`([^`]*)`", self._placeholder, text), mode="eval").body
        except (SyntaxError, ValueError):
            raise self._error("is not an expression") from None
        except (RecursionError, MemoryError):  # the compiler's limits
            raise self._too_deep() from None
        self._check(self._tree)

    def __call__(self, point: Mapping[str, Any]) -> bool:
        try:
            return bool(self._value(self._tree, point))
        except InputError:  # it is a ValueError, too
            raise
        except (TypeError, ValueError, ArithmeticError) as error:
            raise self._error(str(error)) from None

    def _placeholder(self, found: re.Match[str]) -> str:
        self._quoted.append(found[1])
        return f"{self._prefix}{len(self._quoted) - 1}"

    def _error(self, text: str) -> InputError:
        return InputError(printable(f"constraint '{self._shown}': {text}"))

    def _too_deep(self) -> InputError:
        return self._error(f"has more than {_MAX_LEVELS} levels of operators and brackets")

    def _check(self, node: ast.expr, level: int = 1) -> None:
        if level > _MAX_LEVELS:
            raise self._too_deep()
        allowed = (ast.Constant, ast.Name, ast.Attribute, ast.List, ast.Tuple, ast.BoolOp, ast.UnaryOp)
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            pass
        elif isinstance(node, ast.Compare) and all(type(op) in _COMPARE for op in node.ops):
            pass
        elif not isinstance(node, allowed) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)):
            raise self._error("takes numbers, texts, lists, parameters, + - * / // %, comparisons, and, or, not")
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr) and not isinstance(node, ast.Attribute):
                self._check(child, level + 1)

    def _value(self, node: ast.expr, point: Mapping[str, Any]) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._parameter(self._name(node), point)
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self._value(item, point) for item in node.elts]
        if isinstance(node, ast.BoolOp):
            decide = all if isinstance(node.op, ast.And) else any
            return decide(self._value(each, point) for each in node.values)
        if isinstance(node, ast.UnaryOp):
            value = self._value(node.operand, point)
            return not value if isinstance(node.op, ast.Not) else -value if isinstance(node.op, ast.USub) else +value
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](self._value(node.left, point), self._value(node.right, point))
        assert isinstance(node, ast.Compare)  # _check() lets nothing else pass
        values = [self._value(each, point) for each in (node.left, *node.comparators)]
        return all(_COMPARE[type(op)](a, b) for op, a, b in zip(node.ops, values, values[1:]))

    def _name(self, node: ast.expr) -> str:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            raise self._error("a parameter's name stands in back quotes if it is no path")
        is_quoted = node.id.startswith(self._prefix)
        parts.append(self._quoted[int(node.id.removeprefix(self._prefix))] if is_quoted else node.id)
        return ".".join(reversed(parts))

    def _parameter(self, name: str, point: Mapping[str, Any]) -> Any:
        if name in point:
            return point[name]
        near = difflib.get_close_matches(name, point, 1)
        hint = f", did you mean '{near[0]}'?" if near else ""
        raise self._error(f"no parameter '{name}'{hint} (there are: {', '.join(point)})")
