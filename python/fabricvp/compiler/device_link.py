# SPDX-License-Identifier: Apache-2.0
"""Device code of several sources as one module of IR. Functions and variables that another source defines are found
there, while those that C++ keeps inside a source get names of their own."""

from __future__ import annotations

import contextlib
import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import InputError
from . import toolchain
from .module import unquoted

#: What host halves carry in place of an image, before the name of their source's unit (runtime/hip/hip_registered.c).
MARK = b"FabricVP unit\0"
_FUNCTION = re.compile(r'^(define|declare) ([^@]*)@("[^"]+"|[\w$.\-]+)(\(.*)')
_VARIABLE = re.compile(r'^@("[^"]+"|[\w$.\-]+) = (.*?)\b(?:global|constant) ')
_SYMBOL = re.compile(r'(?<=[@$])("[^"]+"|[\w$.\-]+)')
_WEAK = re.compile(r"\b(?:(?:linkonce|weak)(?:_odr)?|available_externally|common|appending)\b")
_KEPT_INSIDE = re.compile(r"\b(?:internal|private)\b")
_CUID = "__hip_cuid_"  # by which clang 19 marks each source of HIP
#: Parts of mangled names that belong to one source: of anonymous namespaces, static names, lambdas, types.
_LOCAL_PART = re.compile(r"_GLOBAL__N_|L\d|U[lt]")


def unit_of(name: str) -> str:
    """What tells the static names of a source from another's."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def host_part(name: str) -> bytes:
    """What the host half of a source registers: names of static kernels and variables end with that of its unit."""
    return MARK + unit_of(name).encode() + b"\0"


@dataclass
class Object:
    """IR of a source, as the front end makes it, for wavefronts of ``lanes``."""

    name: str
    text: str
    lanes: int
    strong: set[str] = field(default_factory=set)  # definitions that no other source may have
    others: set[str] = field(default_factory=set)  # definitions that other sources may have, too
    declared: set[str] = field(default_factory=set)  # functions and variables of other sources, or of libraries
    renamed: dict[str, str] = field(default_factory=dict)  # static names of kernels and variables


@dataclass
class Linked:
    """A module of all sources, with the ``lanes`` of its kernels, and the ``files`` of those whose names are static."""

    text: str
    lanes: Mapping[str, int]
    files: Mapping[str, str]


def link(objects: Sequence[Object]) -> Linked:
    """Raises `InputError` for a name that two sources define, and for a function of a source whose wavefronts have
    another number of lanes. Names that none defines are left for the linker."""
    for one in objects:
        _read(one, len(objects) > 1, one.lanes != objects[0].lanes)
    origins = {name: one for one in objects for name in (*one.strong, *one.others)}
    files = {new: Path(one.name).name for one in objects for new in one.renamed.values()}
    lanes = {name: one.lanes for name, one in origins.items()}
    if len(objects) == 1:
        return Linked(objects[0].text, lanes, files)
    _check(objects)
    with tempfile.TemporaryDirectory() as scratch:
        paths = [Path(scratch, f"{number}.ll") for number in range(len(objects))]
        for path, one in zip(paths, objects):
            path.write_text(one.text, errors="surrogateescape")
        text = toolchain.run([toolchain.llvm_link(), "-S", "-o", "-", *map(str, paths)])
    return Linked(text, lanes, files)


def _symbols(text: str) -> Iterator[tuple[str, str, str, bool]]:
    """Name, "define", "declare" or "variable", linkage and other words before the name or type, and whether linkers
    keep one of several, of each symbol of a module."""
    for line in text.splitlines():
        if found := _FUNCTION.match(line):
            yield unquoted(found[3]), found[1], found[2], bool(re.search(r"\) [^%()]*\bcomdat\b", found[4]))
        elif found := _VARIABLE.match(line):
            yield unquoted(found[1]), "variable", found[2], False


def _read(one: Object, several: bool, other_lanes: bool) -> None:
    """Sorts the symbols of an object, and gives its static ones names of their own if there are ``several``."""
    renamed = dict[str, str]()
    for name, what, linkage, comdat in _symbols(one.text):
        if name.startswith("llvm.") or _KEPT_INSIDE.search(linkage):
            continue
        if what == "declare" or "external " in linkage:
            one.declared.add(name)
            continue
        shared = comdat or bool(_WEAK.search(linkage))
        kernel = "spir_kernel" in linkage
        if name.startswith(_CUID) or (shared and _LOCAL_PART.search(name)) or (what == "variable" and _is_static(name)):
            renamed[name] = f"{name}.{unit_of(one.name)}"
        elif shared and what == "define" and not kernel and other_lanes:
            renamed[name] = f"{name}.{one.lanes}"  # an inline function, which is another one there
        (one.others if shared else one.strong).add(name)
    if not several or not renamed:
        return
    one.text = _SYMBOL.sub(lambda found: renamed.get(found[0], found[0]), one.text)
    for names in (one.strong, one.others):
        known = {renamed.get(name, name) for name in names}
        names.clear()
        names.update(known)
    one.renamed = renamed


def _is_static(name: str) -> bool:
    """Whether a mangled name is one of a single source, `_ZL1x` or `_ZN5spaceL1xE` say."""
    at = 3 if name.startswith("_ZN") else 2
    while (length := re.match(r"\d+", name[at:])) and name.startswith("_ZN"):
        at += len(length[0]) + int(length[0])
    return name.startswith("_Z") and ("_GLOBAL__N_" in name or bool(re.match(r"L\d", name[at:])))


def _check(objects: Sequence[Object]) -> None:
    defined: dict[str, Object] = {}
    for one in objects:
        for name in sorted(one.strong):
            if name in defined:
                raise InputError(f"{one.name}: '{_plain(name)}' is defined in {defined[name].name}, too")
            defined[name] = one
    for one in objects:
        functions = {name for name, what, *_ in _symbols(one.text) if what == "declare"}
        for name in sorted(functions & defined.keys()):
            other = defined[name]
            if other.lanes != one.lanes:
                raise InputError(
                    f"{one.name}: '{_plain(name)}' is in {other.name}, whose wavefronts have {other.lanes} lanes and"
                    f" not {one.lanes}: give all files --wavefront 32 or 64"
                )


@contextlib.contextmanager
def naming(objects: Sequence[Object]) -> Iterator[None]:
    """While the linker runs: of names that it does not find, `InputError` says which sources want them."""
    try:
        yield
    except toolchain.Undefined as error:
        wanted = {one.name: [name for name in error.names if name in one.declared] for one in objects}
        known = {name for names in wanted.values() for name in names}
        said = [f"{file}: undefined: {', '.join(map(_plain, names))}" for file, names in wanted.items() if names]
        others = [_plain(name) for name in error.names if name not in known]
        raise InputError("; ".join([*said, *([f"undefined: {', '.join(others)}"] if others else [])])) from None


def _plain(name: str) -> str:
    """A name as the source has it."""
    filter_ = re.sub(r"gcc$", "c++filt", toolchain.gcc())
    return toolchain.run([filter_, name]).strip()
