# SPDX-License-Identifier: Apache-2.0
"""Which family of built-in functions has a function: a file of `firmware/gpu/opencl`, and macros that it is compiled
with."""

from __future__ import annotations

import re

_WORK_ITEM = (
    "get_(?:local|group|global)_id get_(?:global|local|enqueued_local)_size get_global_offset get_num_groups"
    " get_work_dim get_(?:global|local)_linear_id"
)
_SYNC = (
    "barrier work_group_barrier (?:read_|write_)?mem_fence atomic_work_item_fence async_work_group_(?:strided_)?copy"
    " prefetch wait_group_events"
)
_ATOMIC = "atom(?:ic)?_(?:add|sub|xchg|inc|dec|cmpxchg|min|max|and|or|xor)"
_ATOMIC_2 = "atomic_(?:load|store|exchange|compare_exchange_(?:strong|weak)|fetch_\\w+|init|flag_\\w+)(?:_explicit)?"
_INTEGER = "abs abs_diff add_sat sub_sat hadd rhadd clz ctz mad_hi mad_sat mul_hi rotate upsample popcount mad24 mul24"
_COMMON = "clamp min max degrees radians mix step smoothstep sign"
_GEOMETRIC = "cross dot (?:fast_)?distance (?:fast_)?length (?:fast_)?normalize"
_RELATIONAL = (
    "is(?:equal|notequal|greater|greaterequal|less|lessequal|lessgreater|finite|inf|nan|normal|ordered|unordered)"
    " signbit any all bitselect select"
)
#: Families by the names of their functions. A call is looked up in this order.
FAMILIES = {
    family: re.compile("|".join(f"(?:{name})" for name in names.split()))
    for family, names in {
        "work_item": _WORK_ITEM,
        "sync": _SYNC,
        "atomic": _ATOMIC,
        "atomic2": _ATOMIC_2,
        "integer": _INTEGER,
        "common": _COMMON,
        "geometric": _GEOMETRIC,
        "relational": _RELATIONAL,
        "vector": "vload\\d+ vstore\\d+ vloada?_half\\d* vstorea?_half\\d*(?:_rt[ezpn])? shuffle2?",
        "math": "(?:half_|native_)?[a-z]+[0-9a-z]*(?:_r)?",
    }.items()
}


_CONVERSION = re.compile(r"convert_(u?(?:char|short|int|long)|float|double)(?:\d+)?(?:_|$)")


def families_of(declared: str) -> list[str]:
    """Families of the functions that the text of a module declares."""
    names = {
        rest[: int(length)] for length, rest in re.findall(r"^declare [^@]*@_Z(\d+)(\w+)\(", declared, re.MULTILINE)
    }
    return sorted({family for name in names if (family := family_of(name))})


def family_of(name: str) -> str:
    """The family of one function, "" if there is none."""
    if conversion := _CONVERSION.match(name):
        return f"convert_{conversion[1]}"
    return next((family for family, pattern in FAMILIES.items() if pattern.fullmatch(name)), "")


def source_of(family: str) -> tuple[str, list[str]]:
    """The file of a family, and macros."""
    if not family.startswith("convert_"):
        return f"{family}.cl", []
    type_ = family.removeprefix("convert_")
    letter = {"float": "s", "double": "d"}.get(type_)
    macros = ["-DINTEGER"] if letter is None else [f'-DOF_TO="{letter}"', *(["-DDOUBLE"] if letter == "d" else [])]
    return "convert.cl", [f"-DTO={type_}", *macros]
