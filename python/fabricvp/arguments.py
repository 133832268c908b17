# SPDX-License-Identifier: Apache-2.0
"""Command lines of the commands that are written in Python."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from typing import Any, NoReturn

from . import _fabricvp
from .errors import InputError


class ArgumentParser(argparse.ArgumentParser):
    """As argparse's, but bad input is an `InputError` with one line, and options are not abbreviated."""

    def __init__(self, name: str, summary: str, example: str) -> None:
        super().__init__(
            prog=f"fabricvp {name}",
            description=summary,
            epilog=f"example: {example}",
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action:
        if "type" in settings:
            settings["type"] = _reported(settings["type"])
        return super().add_argument(*names, **settings)

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see {self.prog} --help)")


def _reported(convert: Callable[[str], Any]) -> Callable[[str], Any]:
    """The same conversion, with the text of its `InputError` in argparse's message instead of a general one."""

    def converted(text: str) -> Any:
        try:
            return convert(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        except ValueError:
            kind = "a whole number" if convert is int else "a value that this option takes"
            raise argparse.ArgumentTypeError(f"'{text}' is not {kind}") from None

    return converted


def pair(option: str, text: str, form: str = "KEY=VALUE") -> tuple[str, str]:
    """The value of an option such as `--set KEY=VALUE`, in two. Raises `InputError`."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InputError(f"{option} '{text}': must be {form}")
    return name, value


def add_jobs(parser: ArgumentParser, what: str) -> None:
    """Adds `--jobs`: how many of ``what`` run at a time."""
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=_jobs,
        default=len(os.sched_getaffinity(0)),
        help=f"{what} at a time (default: %(default)s); results do not depend on it",
    )


def add_executor(parser: ArgumentParser) -> None:
    """Adds `--executor` and `--scheduler`: where points run."""
    from .sweeps.api import EXECUTORS

    parser.add_argument(
        "--executor",
        choices=EXECUTORS,
        default="processes",
        help="where points run: processes of this machine (default), or dask: a local cluster of as many workers as"
        " --jobs says",
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="workers of this dask scheduler, such as tcp://10.0.0.1:8786"
    )


def add_result_cache(parser: ArgumentParser) -> None:
    """Adds `--result-cache`."""
    parser.add_argument(
        "--result-cache",
        metavar="DIR",
        help="folder where measured points are stored as they end, and found again by the same version of all that they"
        " come from (default: DIR/result_cache of --out)",
    )


def add_node(parser: argparse.ArgumentParser) -> None:
    """Adds `--node`: what is measured of a machine of several nodes."""
    parser.add_argument(
        "--node",
        metavar="NODE",
        help="which node of a machine is measured, such as node1 (default: the only one that can be)",
    )


def _jobs(text: str) -> int:
    if not is_whole(text) or not 1 <= int(text) <= 1024:
        raise InputError(f"'{text}' is not a number of 1 … 1024")
    return int(text)


def is_whole(text: str) -> bool:
    """Whether a text is digits alone, which `int()` takes: superscripts, say, are digits to `str.isdigit()`, too."""
    return text.isascii() and text.isdecimal()


def number(text: str, what: str, low: float, high: float) -> float:
    """A number of a range. Raises `InputError`."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise InputError(f"{what}: '{text}' is not a number of {low:g} … {high:g}")
    return value


def bandwidth(text: str) -> float:
    """Bytes a second, from a text with unit ("11.86 GB/s") or a plain number. Raises `InputError`."""
    if re.fullmatch(r"[0-9.eE+]+", text):
        value = number(text, "bandwidth", 0, 1e15)
        if value < 1e6:
            raise InputError(f"bandwidth: '{text}' are bytes a second; give a unit, such as 11.86GB/s")
        return value
    value = float(_fabricvp.parse_bandwidth(text))
    if value <= 0:
        raise InputError(f"bandwidth: '{text}' must be above 0")
    return value


def size(text: str) -> float:
    """Bytes, from a text with unit ("300 MB"). Raises `InputError`."""
    value = float(_fabricvp.parse_bytes(text))
    if value <= 0:
        raise InputError(f"size: '{text}' must be above 0")
    return value
