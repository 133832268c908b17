# SPDX-License-Identifier: Apache-2.0
"""Sources of kernels, and how they are compiled."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import InputError
from . import languages

MAX_RECURSION = 100_000


@dataclass(frozen=True)
class Options:
    """How a source is compiled: ``defines`` as "NAME" or "NAME=VALUE", folders of ``includes``, ``optimize`` "0" to "3"
    or "s", further ``flags`` of the front end ("-cl-fast-relaxed-math", "-cl-std=CL1.2", "-Wall"), ``wavefront`` 32 or
    64 lanes (0: as the language has them), ``recursion`` how often a function can be active at the same time (0: no
    function calls itself)."""

    defines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    optimize: str = "2"
    flags: tuple[str, ...] = ()
    wavefront: int = 0
    recursion: int = 0

    @staticmethod
    def of(
        defines: Mapping[str, Any] | Sequence[str] = (),
        includes: Sequence[str | os.PathLike[str]] = (),
        flags: Sequence[str] = (),
        optimize: str = "2",
        wavefront: int | None = None,
        recursion: int = 0,
    ) -> Options:
        """From what users write: a mapping of names to values, None and True for a name alone."""
        if isinstance(defines, Mapping):
            defines = [n if v is None or v is True else f"{n}={_literal(v)}" for n, v in defines.items()]
        levels = [flag[2:] for flag in flags if re.fullmatch("-O[0-3s]", flag)]
        others = tuple(flag for flag in flags if not re.fullmatch("-O[0-3s]", flag))
        folders = tuple(os.fspath(include) for include in includes)
        if wavefront not in (None, 32, 64):
            raise InputError(f"wavefront {wavefront}: wavefronts have 32 or 64 lanes")
        if not isinstance(recursion, int) or not 0 <= recursion <= MAX_RECURSION:
            raise InputError(f"recursion {recursion}: a depth from 1 to {MAX_RECURSION}, or 0 for none")
        return Options(tuple(defines), folders, (levels or [optimize])[-1], others, wavefront or 0, recursion)


def _literal(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Source:
    """A source: ``name`` stands for it in messages, is searched beside for headers, and its suffix tells the language
    unless it is given ("opencl", "hip", "cuda")."""

    text: str
    name: str
    options: Options = field(default_factory=Options)
    language: str = ""

    def known(self) -> Source:
        """The same with its language, and the lanes of its wavefronts."""
        language = self.language or languages.language_of(self.name)
        lanes = self.options.wavefront or languages.WAVEFRONTS[language]
        return Source(self.text, self.name, replace(self.options, wavefront=lanes), language)
