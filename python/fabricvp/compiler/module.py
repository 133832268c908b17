# SPDX-License-Identifier: Apache-2.0
"""What clang makes of OpenCL C, as the text of LLVM IR, and what has to change for the RISC-V back end: calling
conventions that it does not have, and address spaces, since all of memory is in one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .block import GRID, HEAP, check_initial, definitions
from .layout import Layout, split_list
from .output import Printing

_DEFINE = re.compile(r'^define (?P<head>[^@]*)@(?P<name>"[^"]+"|[\w$.\-]+)\((?P<rest>.*)$')
_GLOBAL = re.compile(r'^@(?P<name>"[^"]+"|[\w$.\-]+) = (?P<head>.*?)\b(?P<kind>global|constant) (?P<rest>.*)$')
_SYMBOL = re.compile(r'@("[^"]+"|[\w$.\-]+)')
_LOCAL = "addrspace(3)"
_CONSTANT = 'section ".rodata.constant"'  # of what is __constant__ in C++
_NOTHING = "DW_OP_constu, 0, DW_OP_mul"
_PROVIDED = (HEAP, GRID)  # by the package, where a source declares them
_IDENTIFIER = "__hip_cuid_"  # what clang 19 calls a source of HIP


def unquoted(name: str) -> str:
    return name[1:-1] if name.startswith('"') else name


@dataclass
class Function:
    """A definition: ``parameters`` as text, ``attached`` the metadata behind the list, ``uses`` the global names in its
    body, and lines ``first`` to ``last`` of the module."""

    name: str
    kernel: bool
    parameters: list[str]
    attached: dict[str, str]
    uses: set[str]
    first: int
    last: int = 0


@dataclass
class LocalVariable:
    """A variable of the local data share."""

    name: str
    size: int
    alignment: int
    dynamic: bool = False  # "extern __shared__": begins behind the others


class Module:
    """The text of a module, with what is known of its parts."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.types: dict[str, str] = {}
        self.functions: dict[str, Function] = {}
        self.locals: dict[str, LocalVariable] = {}
        self.metadata: dict[str, str] = {}
        self.annotations: dict[str, str] = {}  # of functions
        self.variables: dict[str, str] = {}  # that kernels may write: their metadata, or ""
        self.constants: dict[str, tuple[str, bool]] = {}  # __constant__: their metadata, or "", and whether const
        self.prints = self.heap = self.grid = False
        self.layout = Layout(self.types)
        self._read()

    def _read(self) -> None:
        current: Function | None = None
        pending = []
        for number, line in enumerate(self.lines):
            if current is not None:
                if line == "}":
                    current.last, current = number, None
                else:
                    current.uses.update(unquoted(name) for name in _SYMBOL.findall(line))
            elif found := _DEFINE.match(line):
                current = self._function(found, number)
                self.functions[current.name] = current
            elif found := re.match(r'^(%(?:"[^"]+"|[\w$.\-]+)) = type (.*)$', line):
                self.types[found[1]] = _without_spaces(found[2])
            elif found := re.match(r"^(![\w.]+) = (?:distinct )?(.*)$", line):
                self.metadata[found[1]] = found[2]
            elif found := _GLOBAL.match(line):
                pending.append(found)
            elif line.startswith("declare ") and "@printf(" in line:
                self.prints = True
            if line.startswith("@llvm.global.annotations"):
                self._annotate(line)
        for found in pending:
            self._global(found)

    def _annotate(self, line: str) -> None:
        texts = {}
        for other in self.lines:
            if text := re.match(r'^@([\w.]+) = private .*\bc"([^"]*)\\00"', other):
                texts[text[1]] = text[2]
        # clang 14: (TYPE @function to i8*), i8* getelementptr inbounds (TYPE, TYPE @.str, …)
        # clang 19: (ptr @function to ptr addrspace(1)), ptr addrspace(1) @.str, …
        plain = re.sub(r" ?addrspace\(\d+\)", "", line)
        for name, string in re.findall(
            rf"{_SYMBOL.pattern} to (?:i8\*|ptr)\), (?:i8\* getelementptr inbounds \([^@]*|ptr )@([\w.]+)", plain
        ):
            self.annotations[unquoted(name)] = texts.get(string, "")

    def _function(self, found: re.Match[str], number: int) -> Function:
        rest, depth = found["rest"], 1
        end = 0
        for end, c in enumerate(rest):  # noqa: B007 (used behind the loop)
            depth += (c == "(") - (c == ")")
            if not depth:
                break
        attached = dict(re.findall(r"!(\w+) (!\d+)", rest[end:]))
        return Function(
            unquoted(found["name"]), "spir_kernel" in found["head"], split_list(rest[:end]), attached, set(), number
        )

    def _global(self, found: re.Match[str]) -> None:
        name = unquoted(found["name"])
        if _LOCAL in found["head"]:
            type_ = _without_spaces(split_list(found["rest"])[0])
            type_ = re.sub(r" (undef|zeroinitializer|poison)$", "", type_)
            stated = re.search(r"\balign (\d+)", found["rest"])
            alignment = int(stated[1]) if stated else self.layout.alignment(type_)
            self.locals[name] = LocalVariable(
                name, self.layout.size(type_), alignment, found["head"].startswith("external")
            )
        elif _CONSTANT in found["rest"]:
            attached = re.search(r"!dbg (!\d+)", found["rest"])
            self.constants[name] = attached[1] if attached else "", found["kind"] == "constant"
        elif found["kind"] == "global" and not name.startswith(("llvm.", _IDENTIFIER)):
            if name in _PROVIDED:
                self.heap |= name == HEAP
                self.grid |= name == GRID
            elif not re.search(r"\bexternal\b", found["head"]):
                attached = re.search(r"!dbg (!\d+)", found["rest"])
                self.variables[name] = attached[1] if attached else ""

    def strings(self, reference: str) -> list[str]:
        """Strings or numbers of a list of metadata."""
        items = split_list(self.metadata.get(reference, "!{}")[2:-1])
        return [item[2:-1] if item.startswith('!"') else item.rpartition(" ")[2] for item in items]

    def place(self, reference: str) -> str:
        """ "FILE:LINE" of what `!dbg` of a call refers to; "" if that is not known."""
        here = self.metadata.get(reference, "")
        line, scope = (re.search(rf"\b{what}: (!?\d+)", here) for what in ("line", "scope"))
        file = re.search(r"\bfile: (!\d+)", self.metadata.get(scope[1], "")) if scope else None
        name = re.search(r'\bfilename: "([^"]*)"', self.metadata.get(file[1], "")) if file else None
        return f"{name[1]}:{line[1]}" if name and line else ""

    def reach(self, name: str) -> set[str]:
        """All global names that a function uses, directly or by what it calls."""
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            for used in self.functions[waiting.pop()].uses - seen:
                seen.add(used)
                if used in self.functions:
                    waiting.append(used)
        return seen


def _without_spaces(text: str) -> str:
    return re.sub(r" ?addrspace\(\d+\)", "", text)


def lowered(
    module: Module,
    header: str,
    inlined: bool,
    counts: bool = False,
    recursion: bool = False,
    places: Mapping[str, int] | None = None,
) -> str:
    """The module for the RISC-V back end; ``header`` has its data layout and triple. Where ``inlined``, what the source
    defines becomes part of its callers. ``counts``: printf() returns the number of its arguments. ``recursion``:
    functions may call themselves, which OpenCL C rules out. ``places`` are addresses of variables in the local data
    share, for debuggers."""
    printing = Printing(module.layout, counts, module.place)
    declared: set[str] = set()
    described: dict[str, int] = {}  # debug information of variables in the local data share: their addresses
    apart = {
        found[1]
        for line in module.lines
        if (found := re.match(r"attributes (#\d+) = .*\b(?:noinline|optnone)\b", line))
    }
    out = [header]
    for line in module.lines:
        if line.startswith(("target ", "; ModuleID")):
            continue
        if line.startswith("@") and _LOCAL in line and (found := _GLOBAL.match(line)):
            # External, with an address of our own choosing: passes take a variable of one function for its own else.
            rest = re.sub(r" (undef|zeroinitializer|poison)(?=,|$)", "", found["rest"])
            if places and (debug := re.search(r", !dbg (!\d+)", rest)) and unquoted(found["name"]) in places:
                described[debug[1]] = places[unquoted(found["name"])]
            rest = re.sub(r", !dbg !\d+", "", rest)
            line = f"@{found['name']} = external hidden global {rest}"
        if line.startswith("@") and (found := _GLOBAL.match(line)):
            line = _variable(module, found) or line
        if line.startswith("@") and _CONSTANT in line:
            line = _constant(line).replace(f", {_CONSTANT}", "")
        if line.startswith(("$", "@llvm.global.annotations", "@llvm.used", "@llvm.compiler.used")):
            continue  # functions become internal, and belong to no group; variables stay
        if line.startswith(("@", "define ")):
            line = re.sub(r"(,| )? ?\bcomdat\b(?=[ ,]|$)", "", line)
        if "addrspace" in line:
            line = re.sub(r"\baddrspacecast\b", "bitcast", _without_spaces(line))
        if described and "DIGlobalVariableExpression(" in line and (place := described.get(line.split(" ")[0])):
            # Of what has no definition compilers describe no place, so it is 0 times the address of a constant more.
            line = re.sub(r"expr: .*$", f"expr: !DIExpression({_NOTHING}, DW_OP_plus_uconst, {place}))", line)
        if "DW_OP_xderef" in line:  # GDB has no address spaces for RISC-V
            line = re.sub(r"DW_OP_constu, \d+, DW_OP_swap, DW_OP_xderef(?:, )?", "", line).replace(", )", ")")
        if "spir_" in line:
            line = re.sub(r"\bspir_(func|kernel) ", "", line)
        if "@llvm." in line:
            line = re.sub(r"@llvm\.[\w.]+", lambda m: re.sub(r"\.p\d+", ".p0", m[0]), line)
            if line.startswith("declare "):
                if line in declared:
                    continue
                declared.add(line)
        if inlined and line.startswith("define "):
            # A function that stays one is no local one: the back end would not even save its return address.
            found = _DEFINE.match(line)
            name = unquoted(found["name"]) if found else ""
            again = recursion and name in module.reach(name)
            linkage = "hidden" if again or apart & set(re.findall(r"#\d+", line)) else "internal"
            line = re.sub(
                r"^define (?:(?:available_externally|dso_local|internal|hidden|(?:weak|linkonce)(?:_odr)?|private) )*",
                f"define {linkage} ",
                line,
            )
        if module.prints and "@printf(" in line:
            if line.startswith("declare "):
                continue
            out += printing.changed(line)
            continue
        out.append(line)
    out += definitions(module) + printing.constants()
    if described:
        attached = "".join(f", !dbg {reference}" for reference in described)
        out.append(f"@fabricvp.described = hidden constant i8 0{attached}")
    text = re.sub(r'( asm (?:sideeffect )?"[^"\n]*?) #f", "=r', r'\1", "=f', "\n".join(out))
    if recursion:
        text = re.sub(r"^(attributes #\d+ = \{.*?) norecurse\b", r"\1", text, flags=re.MULTILINE)
    return _attributes(text, inlined)


def host_variables(module: Module) -> list[str]:
    """Variables and constants of program scope, which the host may know where kernels do not use them."""
    return [*module.variables, *module.constants]


def _variable(module: Module, found: re.Match[str]) -> str:
    """A variable that kernels write, as one behind the thread pointer; "" for others. It is not internal, so that it
    stays where only the host reads it."""
    name = unquoted(found["name"])
    if name in module.variables:
        rest = re.sub(r"(, (?:!dbg !\d+|section \"[^\"]*\"|comdat(?:\(\$[^)]*\))?))+(?=,|$)", "", found["rest"])
        check_initial(name, rest, module.variables)
        return f"@{found['name']} = hidden thread_local(localexec) global {rest}"
    if name in _PROVIDED:
        type_ = split_list(found["rest"])[0]
        return f"@{name} = hidden thread_local(localexec) global {type_} zeroinitializer, align 16"
    return ""


def _constant(line: str) -> str:
    """One that is `__constant__`. Unless it is const the host may give it other contents, also where it is static, so
    what it begins with is not put into the code."""
    found = _GLOBAL.match(line)
    if not found or found["kind"] == "constant":
        return line
    head = re.sub(r"\binternal ", "hidden ", found["head"]).replace("externally_initialized ", "")
    return f"@{found['name']} = {head}externally_initialized constant {found['rest']}"


def _attributes(text: str, inlined: bool) -> str:
    """Barriers of two arms stay two; registers of a lane are the same in all branches; functions become part of their
    callers unless the source says noinline."""
    calls = set(re.findall(r"call [^\n]*? asm [^\n]*?\) #(\d+)", text))
    effects = set(re.findall(r"call [^\n]*? asm sideeffect [^\n]*?\) #(\d+)", text))
    definitions = set(re.findall(r"^define [^\n]*?\) (?:local_unnamed_addr )?#(\d+)", text, re.MULTILINE))

    def change(found: re.Match[str]) -> str:
        number, words = found[1], found[2]
        if number in effects:
            words = f" nomerge{words}"
        elif number in calls:
            words = words.replace(" convergent", "")
        if number in definitions:
            words += '"no-jump-tables"="true" '
        if inlined and number in definitions and not re.search(r"\b(noinline|alwaysinline|optnone)\b", words):
            words = f" alwaysinline{words}"
        return f"attributes #{number} = {{{words}}}"

    return re.sub(r"^attributes #(\d+) = \{(.*)\}$", change, text, flags=re.MULTILINE)
