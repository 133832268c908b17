# SPDX-License-Identifier: Apache-2.0
"""Atomics whose old value the source ignores: clang gives each a register, for which lanes would wait."""

from __future__ import annotations

import re
from collections import Counter

#: A call of the instruction, with its result: sums of numbers are custom instructions (`abi/gpu_isa.h`).
_CALL = re.compile(
    r'^(?P<indent> +)(?P<result>%[\w.]+) = (?:tail )?call (?:noundef )?(?P<type>i32|i64) asm sideeffect "'
    r'(?P<instruction>amo[\w.]+|\.insn r 0x0b, 6, [01],) \$0, (?P<operands>\$[12], \(?\$[12]\)?)",'
    r' "=r,(?P<constraints>[^"]*)"'
    r"(?P<rest>.*)$",
    re.MULTILINE,
)
_VALUE = re.compile(r"%[\w.]+")
_FUNCTION = re.compile(r"^define .*?^\}", re.MULTILINE | re.DOTALL)
#: Tells debuggers where a variable's value is.
_DEBUG = re.compile(r"^ +(?:(?:tail )?call void @llvm\.dbg\.value|#dbg_value).*$", re.MULTILINE)


def without_results(ir: str) -> str:
    """The text of a module with atomics that keep no result."""
    return _FUNCTION.sub(lambda function: _in_function(function[0]), ir)


def _in_function(text: str) -> str:
    if not _CALL.search(text):
        return text
    uses = Counter(_VALUE.findall(_DEBUG.sub("", text)))
    unused = {call["result"] for call in _CALL.finditer(text) if uses[call["result"]] == 1}

    def call(found: re.Match[str]) -> str:
        if found["result"] not in unused:
            return found[0]
        operands = found["operands"].replace("$1", "$0").replace("$2", "$1")
        # A number that no instruction has would be an error, so one that does nothing takes the result's.
        return (
            f"{found['indent']}{found['result']} = add {found['type']} 0, 0\n"
            f'{found["indent"]}call void asm sideeffect "{found["instruction"]} zero, {operands}",'
            f' "{found["constraints"]}"{found["rest"]}'
        )

    text = _DEBUG.sub(lambda line: _VALUE.sub(lambda v: "undef" if v[0] in unused else v[0], line[0]), text)
    return _CALL.sub(call, text)
