# SPDX-License-Identifier: Apache-2.0
"""The command `fabricvp`. Commands that need no Python are the C++ program's, in this process; others are listed
here."""

from __future__ import annotations

import codecs
import importlib
import io
import mmap
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from .printable import printable

if TYPE_CHECKING:
    from . import _fabricvp
    from .monitor.page_server import Monitor

#: Commands that are written in Python: name → (module:function(arguments) -> status, one line of help).
PYTHON_COMMANDS: dict[str, tuple[str, str]] = {
    "draw": ("fabricvp.draw_command:main", "Draws a machine, and what the links of a run carried."),
    "explain": ("fabricvp.explain.command:main", "Tells where the time of a run's region went, in ten lines."),
    "congestion": ("fabricvp.congestion_command:main", "PCIe congestion factors of messages, in closed form."),
    "congestion-search": ("fabricvp.congestion_command:search_main", "The best order of a halo exchange."),
    "cite": (
        "fabricvp.cite_command:main",
        "Prints what to cite for the mechanisms that a configuration uses, as BibTeX.",
    ),
    "linux": ("fabricvp.linux_command:main", "Fetches Debian's kernel and tools for the machines that boot Linux."),
    "cc": ("fabricvp.compiler.command:main", "Compiles kernels in OpenCL C, HIP or CUDA for the lanes of GPUs."),
    "new": (
        "fabricvp.new_command:main",
        "Makes a small project to start from: a kernel, a firmware or a device of your own.",
    ),
    "sdk": (
        "fabricvp.new_command:sdk_main",
        "Names the folder that firmware and kernels outside of the tree are built with.",
    ),
    "experiment": ("fabricvp.experiments.command:main", "Measures something and puts it beside what was published."),
    "reproduce": (
        "fabricvp.reproduce.command:main",
        "Runs all experiments of published systems, and sets every published figure beside ours on one page.",
    ),
    "sweep": ("fabricvp.sweeps.command:main", "Measures all points of a study that a YAML file describes."),
    "results": (
        "fabricvp.sweeps.results_command:main",
        "Lists, shows, compares and removes what sweeps have measured.",
    ),
    "docs": ("fabricvp.docs_command:main", "Writes the figures of an experiment into the pages that show them."),
}


#: `run` with a program for Linux.
_LINUX_RUN = ("fabricvp.linux_run:main", "")

#: Bytes of address space without which libraries do not start: what aborts there cannot be caught. Simulators say by
#: themselves what their machines lack; numpy's threads want more than they do.
MIN_ADDRESS_SPACE = {"experiment": 256 << 20, "reproduce": 256 << 20, "sweep": 256 << 20, "results": 256 << 20}
DEFAULT_MIN_ADDRESS_SPACE = 48 << 20


def _written_anyhow(error: UnicodeError) -> tuple[str | bytes, int]:
    """Names of files may hold any bytes, which stay as they are; what the output's encoding has not is a "?"."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    code = ord(error.object[error.start])
    return bytes([code - 0xDC00]) if 0xDC80 <= code <= 0xDCFF else "?", error.start + 1


def main(arguments: list[str] | None = None) -> int:
    """Runs the command. Gives 0 for success, 1 where the guest failed, 2 for bad input."""
    if sys.stdout is None:  # closed; writing to what stands for it fails
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("fabricvp", _written_anyhow)
        sys.stdout.reconfigure(errors="fabricvp")
    argv = sys.argv[1:] if arguments is None else list(arguments)
    usual, warnings.formatwarning = warnings.formatwarning, _warning_line
    try:
        _check_address_space(MIN_ADDRESS_SPACE.get(argv[0] if argv else "", DEFAULT_MIN_ADDRESS_SPACE))
        status = _main(argv)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of our output is gone; that is its business
        _discard_output()
        return 0
    except (OSError, ImportError, MemoryError) as error:
        _discard_output()
        print(f"fabricvp: {_error_text(error)}", file=sys.stderr)
        return 2
    finally:
        warnings.formatwarning = usual


def _warning_line(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning as users of a command read it: without the place in the package's source."""
    return f"fabricvp: {printable('; '.join(str(message).splitlines()))}\n"


def _check_address_space(required_bytes: int) -> None:
    """Raises `MemoryError` where there is less address space than that (`ulimit -v`)."""
    try:
        mmap.mmap(-1, required_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ).close()
    except OSError:
        raise MemoryError(f"{required_bytes >> 20} MiB of address space are needed to start") from None


def _error_text(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return f"out of memory{f': {error}' if str(error) else ''}"
    if isinstance(error, OSError) and error.filename is None and error.strerror:
        return f"standard output: cannot write: {error.strerror}"
    return printable(str(error).partition("\n")[0])


def _discard_output() -> None:
    """What is buffered has nowhere to go, at exit neither."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _pictured(arguments: list[str]) -> list[str]:
    """`describe CONFIG --svg FILE` is what `draw` does."""
    drawn = any(argument == "--dot" or argument.partition("=")[0] == "--svg" for argument in arguments)
    return ["draw", *arguments[1:]] if arguments[:1] == ["describe"] and drawn else arguments


def _sweeps_compared(arguments: list[str]) -> list[str]:
    """`diff A B` of folders that sweeps have left is what `results diff` does."""
    swept = any(os.path.isfile(os.path.join(argument, "points.parquet")) for argument in arguments[1:])
    return ["results", *arguments] if arguments[:1] == ["diff"] and swept else arguments


def _main(arguments: list[str]) -> int:
    arguments = _sweeps_compared(_pictured(arguments))
    if arguments and arguments[0] in PYTHON_COMMANDS:
        return _python_command(*arguments)
    if arguments[:1] == ["run"] and any(argument.endswith((".cl", ".hip", ".cu")) for argument in arguments):
        return _run_source(arguments)
    if arguments[:1] == ["run"] and any(argument.partition("=")[0] == "--program" for argument in arguments):
        from .linux_run import is_linux_program

        if is_linux_program(arguments):
            return _python_command("run", *arguments[1:])
    return _simulator_command(arguments)


def _run_source(arguments: list[str]) -> int:
    """`run --program FILE.cl`, where the simulator takes what the compiler made."""
    from .compiler.run_program import is_program, kernel_arguments
    from .errors import InputError

    if not is_program(arguments):
        return _simulator_command(arguments)
    try:
        with kernel_arguments(arguments) as compiled:
            return _simulator_command(compiled, arguments)
    except InputError as error:
        print(f"fabricvp run: {printable(str(error))}", file=sys.stderr)
        return 2


def _simulator_command(arguments: list[str], typed: list[str] | None = None) -> int:
    """``typed`` is what the user has, where ``arguments`` were made of that."""
    from . import _fabricvp

    sys.stdout.flush()
    others = [(name, text) for name, (_, text) in PYTHON_COMMANDS.items()]
    given, meant = ([os.fsencode(argument) for argument in each] for each in (arguments, typed or arguments))
    status = _fabricvp.cli_main(given, others, _serve_page, meant)
    _draw(_fabricvp.cli_results())
    return status


def _serve_page(run: _fabricvp.RunMonitor, title: str, port: int) -> Monitor:
    """Of `run --monitor`."""
    from .monitor.page_server import serve_command

    return serve_command(run, printable(title), port)


def _draw(folders: list[str]) -> None:
    """Pictures of runs that have just ended. Results stay as they are where that fails."""
    if not folders:
        return
    from .drawing import draw_run
    from .errors import InputError

    for folder in folders:
        try:
            draw_run(Path(folder))
        except InputError as error:
            print(f"fabricvp: {printable(str(error))}", file=sys.stderr)


def _is_text(argument: str) -> bool:
    """Whether an argument was UTF-8: other bytes stand in it as surrogates."""
    return not any("\ud800" <= c <= "\udfff" for c in argument)


def _python_command(name: str, *arguments: str) -> int:
    from .errors import InputError

    module, _, function = (PYTHON_COMMANDS.get(name) or _LINUX_RUN)[0].partition(":")
    try:
        return int(getattr(importlib.import_module(module), function)(list(arguments)))
    except InputError as error:
        print(f"fabricvp {name}: {printable(str(error))}", file=sys.stderr)
        return 2
    except (TypeError, UnicodeError):
        undecodable = next((text for text in arguments if not _is_text(text)), None)
        if undecodable is None:
            raise
        print(f"fabricvp {name}: '{printable(undecodable)}' is not UTF-8, which this command needs", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
