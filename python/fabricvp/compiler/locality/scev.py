# SPDX-License-Identifier: Apache-2.0
"""What LLVM's scalar evolution says of the values of a module: the text that `opt` prints, as trees."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .. import toolchain

#: Loops stay as the source has them; what it calls becomes part of its caller.
_PASSES = (
    "function(sroa,early-cse),cgscc(inline),function(sroa,early-cse,{combine},simplifycfg,loop-simplify,lcssa),"
    "globaldce"
)
_NAME = r'%(?:"[^"]*"|[\w.$\-]+)'
_TOKEN = re.compile(
    rf'\s*(?P<token>{_NAME}|@(?:"[^"]*"|[\w.$\-]+)|-?\d+|,\+,|/u|umax_seq|umin_seq|smin_seq|\b[su](?:max|min)\b|'
    r"\b[sz]ext\b|\btrunc\b|\bptrtoint\b|\bto\b|\bnull\b|\bundef\b|\bpoison\b|true|false|[(){}+*<>]|[^\s(){}+*<>]+)"
)
_FLAGS = re.compile(r"(?:<(?:nuw|nsw|nw)>)+")
_LINE = re.compile(rf"^  ({_NAME}) = ")
_LOOP = re.compile(r"Loop at depth (\d+) containing: (.*)$")


@dataclass
class FunctionFacts:
    """Of one function: the expressions of its values, as texts, and the headers and depths of loops by block, outermost
    first."""

    values: dict[str, str] = field(default_factory=dict)
    loops: dict[str, list[str]] = field(default_factory=dict)


def optimized(ir: str) -> tuple[str, dict[str, FunctionFacts]]:
    """The module in the form in which the facts hold, and these by function. Raises `InputError` if the text is no
    module."""
    with tempfile.TemporaryDirectory() as folder:
        source, changed = Path(folder, "source.ll"), Path(folder, "changed.ll")
        source.write_text(ir, errors="surrogateescape")
        passes = _PASSES.format(combine=toolchain.combine_pass())
        toolchain.run(
            [toolchain.opt(), "-inline-threshold=1000000", f"-passes={passes}", "-S", str(source), "-o", str(changed)]
        )
        printed = toolchain.run_for_messages(
            [toolchain.opt(), "-passes=function(print<scalar-evolution>,print<loops>)", "-disable-output", str(changed)]
        )
        return changed.read_text(errors="surrogateescape"), _facts(printed)


def _facts(printed: str) -> dict[str, FunctionFacts]:
    found: dict[str, FunctionFacts] = {}
    own, name = FunctionFacts(), ""
    for line in printed.splitlines():
        if begin := re.match(r"Classifying expressions for: @(.*)$", line):
            own = found[begin[1].strip('"')] = FunctionFacts()
        elif value := _LINE.match(line):
            name = value[1]
        elif line.startswith("  -->  ") and name:
            own.values[name] = re.split(r"\s(?:U: |S: |\t\tExits)", line[7:])[0]
            name = ""
        elif loop := _LOOP.search(line):
            blocks = [re.sub(r"<\w+>", "", block) for block in loop[2].split(",")]
            for block in blocks:
                own.loops.setdefault(block, []).append(blocks[0])
    return found


@dataclass(frozen=True)
class Tree:
    """An expression: ``kind`` "number", "name", "+", "*", "/", "loop" (start and step of ``text``, the header),
    "narrow" (to ``text`` bits), "other" for other operations, or "unknown" for text of a form that is not known."""

    kind: str
    text: str = ""
    parts: tuple[Tree, ...] = ()


def parsed(text: str) -> Tree:
    """The tree of an expression as `opt` prints it. Extensions are left out: an index has no overflow here."""
    tokens = [found["token"] for found in _TOKEN.finditer(_FLAGS.sub("", text))]
    try:
        return _expression(iter(tokens).__next__)
    except StopIteration:
        return Tree("unknown", text)


def _expression(next_token: Callable[[], str]) -> Tree:
    token = next_token()
    if token == "{":
        return _recurrence(next_token)
    if token != "(":
        return Tree("number", token) if re.fullmatch(r"-?\d+", token) else Tree("name", token)
    ahead = next_token()
    if ahead in ("zext", "sext", "trunc", "ptrtoint"):
        return _cast(ahead, next_token)
    pushed = [ahead]

    def again() -> str:
        return pushed.pop() if pushed else next_token()

    parts, kind = [_expression(again)], ""
    while (token := again()) != ")":
        kind = {"+": "+", "*": "*", "/u": "/"}.get(token, "other")
        parts.append(_expression(again))
    return Tree(kind, "", tuple(parts)) if kind else parts[0]


def _cast(kind: str, next_token: Callable[[], str]) -> Tree:
    while True:  # the type, which may have several tokens: "i32", "float addrspace ( 1 ) *"
        token = next_token()
        if token == "addrspace":
            for _ in range(3):  # "(", its number, ")"
                next_token()
        elif token[0] in "%{" or token == "(" or re.fullmatch(r"-?\d+", token) or token[0] == "@":
            break
    first: Iterator[str] = iter([token])
    inner = _expression(lambda: next(first, None) or next_token())
    bits = 64
    while (token := next_token()) != ")":
        if width := re.fullmatch(r"i(\d+)", token):
            bits = int(width[1])
    return Tree("narrow", str(bits), (inner,)) if kind == "trunc" and bits < 32 else inner


def _recurrence(next_token: Callable[[], str]) -> Tree:
    parts = [_expression(next_token)]
    while next_token() != "}":
        parts.append(_expression(next_token))
    next_token()  # <
    header = next_token()
    next_token()  # >
    return Tree("loop", header, tuple(parts))
