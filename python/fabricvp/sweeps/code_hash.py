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
import os
import pickle
import site
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import cloudpickle

PACKAGE = __name__.partition(".")[0]
#: Modules that machines in child processes run, which no import statement names.
_IN_CHILDREN = (f"{PACKAGE}._child",)
#: Modules of this package whose code changes no result: they draw, print, or arrange points.
_NOT_MEASURING = tuple(f"{PACKAGE}.{name}" for name in ("drawing", "overview", "plot", "progress", "sweeps"))


@functools.cache
def simulator_hash() -> str:
    """One hash over the simulator, the firmware that comes with it, and its machines."""
    from .. import _fabricvp

    digest = hashlib.sha256()
    for file in (_fabricvp.__file__, _fabricvp.library_file()):
        digest.update(Path(file).read_bytes())
    for folder, pattern in ((_fabricvp.firmware_folder(), "*.elf"), (_fabricvp.config_folder(), "*.yaml")):
        for path in sorted(Path(folder).glob(pattern)):
            digest.update(path.name.encode() + path.read_bytes())
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
        if name not in names and name.startswith(_NOT_MEASURING):
            continue
        file = _source_file(name)
        if file is None:
            continue
        found[name] = file.read_bytes()
        waiting += _imports(name, found[name], file.name == "__init__.py")
    digest = hashlib.sha256()
    for name in sorted(found):
        digest.update(name.encode() + b"\0" + found[name] + b"\0")
    return digest.hexdigest()


def function_hash(function: Callable[..., Any] | None) -> str:
    """A hash over a function and the code that it uses; empty for None. A function of a script or a notebook counts
    with the functions, classes, modules and values that it names, else with its module."""
    if function is None:
        return ""
    digest = hashlib.sha256()
    _add(digest, function, set())
    return digest.hexdigest()


def _source_file(name: str) -> Path | None:
    """The source of a module that counts."""
    module = sys.modules.get(name)
    try:
        spec = module.__spec__ if module is not None else importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
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


def _add(digest: Any, value: Any, seen: set[int]) -> None:
    """Adds a value that measuring code names."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, functools.partial):
        for each in (value.func, value.args, sorted(value.keywords.items())):
            _add(digest, each, seen)
    elif isinstance(value, ModuleType):
        digest.update(modules_hash(value.__name__).encode())
    elif isinstance(value, (FunctionType, type)) and _has_module(value):
        digest.update(f"{modules_hash(value.__module__)} {value.__qualname__}".encode())
    elif isinstance(value, FunctionType):
        _add_code(digest, value, value.__code__, seen)
        _add(digest, value.__defaults__, seen)
        _add(digest, value.__kwdefaults__, seen)
        for cell in value.__closure__ or ():
            _add(digest, cell.cell_contents, seen)
    elif isinstance(value, type):
        for name, member in sorted(vars(value).items()):
            if isinstance(member, (FunctionType, staticmethod, classmethod)):
                digest.update(name.encode())
                _add(digest, getattr(member, "__func__", member), seen)
    elif isinstance(value, (list, tuple)):
        for each in value:
            _add(digest, each, seen)
    elif value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        digest.update(f"{type(value).__name__} {value!r}".encode())
    else:
        digest.update(_pickled(value))


def _add_code(digest: Any, function: FunctionType, code: CodeType, seen: set[int]) -> None:
    digest.update(code.co_code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _add_code(digest, function, constant, seen)
        else:
            digest.update(repr(constant).encode())
    for name in code.co_names:
        digest.update(name.encode())
        if name in function.__globals__:
            _add(digest, function.__globals__[name], seen)
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            digest.update(modules_hash(*_with_parents(str(instruction.argval))).encode())


def _has_module(value: Any) -> bool:
    """Whether a function or class belongs to a module whose source tells all of it."""
    module = sys.modules.get(value.__module__)
    if module is None or value.__module__ == "__main__" or "<" in value.__qualname__:
        return False
    return _source_file(value.__module__) is not None or _is_library(module)


def _is_library(module: ModuleType) -> bool:
    return getattr(module, "__spec__", None) is not None


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:
        return bytes(cloudpickle.dumps(value))
