# SPDX-License-Identifier: Apache-2.0
"""Hashes of what a result comes from: the simulator, and the code that measures, with all that it imports.

Code of a module counts with its source, and with the modules that its import statements name. Modules of Python itself
and of installed packages do not count, nor those that draw."""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import importlib.util
import io
import os
import pickle
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from importlib.util import resolve_name
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import cloudpickle

from ..errors import InputError
from .read_files import clear_files, read_bytes

PACKAGE = __name__.partition(".")[0]
#: Modules that machines in child processes run, which no import statement names.
_IN_CHILDREN = (f"{PACKAGE}._child",)
#: Modules of this package whose code changes no result: they draw, print, or arrange points.
_NOT_MEASURING = tuple(f"{PACKAGE}.{name}." for name in ("drawing", "overview", "plot", "progress", "sweeps"))

#: What `functools.cache` makes of a function.
CachedFunction = type(functools.cache(lambda: None))
#: What a class has that its code does not tell, or that other members repeat.
_NOT_OF_A_CLASS = ("__dict__", "__weakref__", "__module__", "__doc__", "_abc_impl")


@functools.cache
def simulator_hash() -> str:
    """One hash over the simulator, the firmware that comes with it, and its machines."""
    from .. import _fabricvp

    digest = hashlib.sha256()
    for file in (_fabricvp.__file__, _fabricvp.library_file()):
        digest.update(read_bytes(Path(file)))
    for folder, pattern in ((_fabricvp.firmware_folder(), "*.elf"), (_fabricvp.config_folder(), "*.yaml")):
        for path in sorted(Path(folder).glob(pattern)):
            digest.update(path.name.encode() + read_bytes(path))
    return digest.hexdigest()


@functools.cache
def modules_hash(*names: str) -> str:
    """A hash over the sources of modules and of all that they import."""
    found: dict[str, bytes] = {}
    waiting = [each for name in (*names, *_IN_CHILDREN) for each in _with_parents(name)]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        if name not in names and f"{name}.".startswith(_NOT_MEASURING):
            continue
        file = _source_file(name)
        if file is None:
            continue
        found[name] = read_bytes(file)
        waiting += _imports(name, found[name], file.name == "__init__.py")
    digest = hashlib.sha256()
    for name in sorted(found):
        digest.update(name.encode() + b"\0" + found[name] + b"\0")
    return digest.hexdigest()


def imports_hash(file: Path) -> str:
    """A hash over the modules that a Python file outside of all packages imports. Raises `OSError`."""
    return modules_hash(*sorted({*_imports("", read_bytes(file), False)}))


def function_hash(function: Callable[..., Any] | None) -> str:
    """A hash over a function and the code that it uses; empty for None. A function of a script or a notebook counts
    with the functions, classes, modules and values that it names, else with its module."""
    if function is None:
        return ""
    return _Hashes().of(function).hex()


def cannot_be_sent(error: Exception) -> InputError:
    """What to raise where a function or an argument cannot be pickled."""
    text = str(error).partition("\n")[0]
    return InputError(f"function: it or an argument cannot be sent to another process ({text})")


def clear_hashes() -> None:
    """Reads code and simulator again: they may have changed since an earlier sweep of this process."""
    modules_hash.cache_clear()
    simulator_hash.cache_clear()
    clear_files()


def _source_file(name: str) -> Path | None:
    """The source of a module that counts."""
    module = sys.modules.get(name)
    try:
        spec = module.__spec__ if module is not None else importlib.util.find_spec(name)
    except Exception:  # whatever a package around it raises
        return None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return None
    file = Path(spec.origin)
    return None if not file.is_file() or _is_installed(os.fspath(file), name) else file


def _is_installed(file: str, name: str) -> bool:
    if name.partition(".")[0] == PACKAGE:
        return False
    paths = sysconfig.get_paths()
    roots = [paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"], *site.getsitepackages()]
    return file.startswith(tuple(root + os.sep for root in roots))


def _imports(name: str, source: bytes, is_package: bool) -> Iterator[str]:
    """Modules that a module's import statements may mean, and the packages around them."""
    package = name if is_package else name.rpartition(".")[0]
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_parents(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, *([node.module] if node.module else [])])
            yield from _with_parents(base)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _with_parents(name: str) -> Iterator[str]:
    parts = name.split(".")
    yield from (".".join(parts[: n + 1]) for n in range(len(parts)))


def _imported(function: FunctionType, module: str, level: int, names: Iterable[str]) -> list[str]:
    """Modules that an import statement in a function may mean, and the packages around them."""
    try:
        base = resolve_name("." * level + module, function.__globals__.get("__package__"))
    except ImportError:  # as the statement will tell
        return []
    return [*_with_parents(base), *(f"{base}.{name}" for name in names)]


def _submodules(module: ModuleType) -> list[str]:
    """Modules of a package that have been imported, and may be reached through it, if their sources count."""
    begin = f"{module.__name__}."
    if begin.startswith(f"{PACKAGE}.") or not hasattr(module, "__path__"):
        return []
    return sorted(name for name in [*sys.modules] if name.startswith(begin) and _source_file(name) is not None)


class _Hashes:
    """Hashes of values that measuring code names, the same in every process: functions, classes and modules count with
    their code, sets by their members, everything else as it is pickled."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, bytes]] = {}  # by identity, with the value itself: identities stay its own

    def of(self, value: Any) -> bytes:
        """Raises `InputError` for what cannot be pickled: it could not reach the process of a point either."""
        try:
            try:
                return self._pickled(value, fast=True)
            except (ValueError, RecursionError):  # it contains itself
                return self._pickled(value, fast=False)
        except (TypeError, ValueError, AttributeError, RecursionError, pickle.PicklingError) as error:
            raise cannot_be_sent(error) from None

    def of_code(self, value: Any) -> bytes | None:
        """None for what is no function, class, module or set."""
        if isinstance(value, (set, frozenset)):
            return _combined(type(value).__name__, sorted(self.of(each) for each in value))
        if not isinstance(value, (FunctionType, type, ModuleType, CachedFunction)):
            return None
        if id(value) not in self._found:
            self._found[id(value)] = (value, value.__name__.encode())  # for itself, as in a recursive function
            self._found[id(value)] = (value, self._defined(value))
        return self._found[id(value)][1]

    def _defined(self, value: Any) -> bytes:
        if isinstance(value, CachedFunction):
            return self.of(value.__wrapped__)
        if isinstance(value, ModuleType):
            return _combined("module", modules_hash(value.__name__, *_submodules(value)))
        if _has_module(value):
            return _combined("of a module", modules_hash(value.__module__), value.__qualname__)
        if isinstance(value, type):
            names = sorted(name for name in vars(value) if name not in _NOT_OF_A_CLASS)
            parts = (type(value), value.__bases__, *(vars(value)[name] for name in names))
            return _combined("class", names, [self.of(each) for each in parts])
        return _combined(
            "function",
            self._compiled(value, value.__code__),
            [self.of(each) for each in (value.__defaults__, value.__kwdefaults__)],
            [self.of(each) for each in map(_contents, value.__closure__ or ())],
        )

    def _compiled(self, function: FunctionType, code: CodeType) -> list[Any]:
        constants = [self._compiled(function, c) if isinstance(c, CodeType) else self.of(c) for c in code.co_consts]
        parts: list[Any] = [code.co_code, code.co_exceptiontable, constants, code.co_names]
        instructions = [each for each in dis.get_instructions(code) if each.opname != "EXTENDED_ARG"]
        for place, instruction in enumerate(instructions):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") and instruction.argval in function.__globals__:
                parts.append(self.of(function.__globals__[instruction.argval]))
            elif instruction.opname == "IMPORT_NAME":
                level, names = (each.argval for each in instructions[place - 2 : place])
                parts.append(modules_hash(*_imported(function, str(instruction.argval), level, names or ())))
        return parts

    def _pickled(self, value: Any, fast: bool) -> bytes:
        file = io.BytesIO()
        pickler = _Pickler(file, self)
        pickler.fast = fast  # equal values in the same bytes, whether they are one object or several
        pickler.dump(value)
        return hashlib.sha256(file.getvalue()).digest()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it has no types
    def __init__(self, file: io.BytesIO, hashes: _Hashes) -> None:
        super().__init__(file, protocol=5)
        self._hashes = hashes

    def persistent_id(self, value: Any) -> bytes | None:
        """Stands in the place of a value, unless it is None."""
        return self._hashes.of_code(value)


def _combined(*parts: Any) -> bytes:
    return hashlib.sha256(repr(parts).encode()).digest()


def _contents(cell: CellType) -> Any:
    """What a closure has in one of its variables; nothing before it is assigned."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _has_module(value: Any) -> bool:
    """Whether a function or class belongs to a module whose source tells all of it."""
    module = sys.modules.get(value.__module__)
    if module is None or value.__module__ == "__main__" or "<" in value.__qualname__:
        return False
    return _source_file(value.__module__) is not None or _is_library(module)


def _is_library(module: ModuleType) -> bool:
    return getattr(module, "__spec__", None) is not None
