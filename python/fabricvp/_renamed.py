# SPDX-License-Identifier: Apache-2.0
"""Names of earlier versions: what was called by one of them ends in one line that gives the new name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from ._fabricvp import InputError

_P = ParamSpec("_P")
_R = TypeVar("_R")


def renamed_arguments(**new_names: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """A decorator for functions whose keyword arguments had other names: ``old="new"``."""

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def called(*arguments: _P.args, **keywords: _P.kwargs) -> _R:
            for old in keywords:
                if old in new_names:
                    raise TypeError(f"{function.__qualname__}(): {old}= is now called {new_names[old]}=")
            return function(*arguments, **keywords)

        return called

    return decorate


_C = TypeVar("_C")


def renamed_members(**new_names: str) -> Callable[[type[_C]], type[_C]]:
    """A decorator for classes whose attributes, methods or arguments had other names: ``old="new"``."""

    def decorate(cls: type[_C]) -> type[_C]:
        def get(self: _C, name: str) -> object:
            if name in new_names:
                raise AttributeError(f"{cls.__name__}.{name} is now called {new_names[name]}")
            raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}")

        made: Any = cls
        made.__getattr__ = get
        made.__init__ = renamed_arguments(**new_names)(made.__init__)
        return cls

    return decorate


def check_value(argument: str, value: str, new_values: Mapping[str, str]) -> None:
    """Raises `InputError` for a value that has another name now."""
    if value in new_values:
        raise InputError(f"{argument}={value!r} is now called {new_values[value]!r}")


def renamed_attributes(module: str, new_names: Mapping[str, str]) -> Callable[[str], object]:
    """The ``__getattr__`` of a module whose members had other names."""

    def get(name: str) -> object:
        if name in new_names:
            raise AttributeError(f"{module}.{name} is now called {new_names[name]}")
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get
