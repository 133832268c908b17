# SPDX-License-Identifier: Apache-2.0
"""Values of result caches: what is read back is what was written, and files name no code to run."""

import dataclasses
import enum
import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy
import pandas
import pytest
from fabricvp.sweeps.encoding import decode, encode


class Colour(enum.StrEnum):
    RED = "red"


class Pair(NamedTuple):
    left: int
    right: str


@dataclasses.dataclass(frozen=True)
class Inner:
    pair: Pair
    colour: Colour


@dataclasses.dataclass
class Outer:
    inner: tuple[Inner, ...]
    by_size: dict[tuple[int, str], list[float]]

    def __post_init__(self):
        self.derived = True


PACKAGES = {__name__.partition(".")[0]}


def there_and_back(value):
    return decode(json.loads(json.dumps(encode(value))), PACKAGES)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2.5,
        math.inf,
        "text",
        b"\x00\xff",
        [1, (2, [3])],
        {1: "a", (2, 3): {"!": "tuple"}, "!": 4},
        {1, 2},
        frozenset({"a"}),
        Path("a/b"),
        Colour.RED,
        Pair(1, "x"),
        Outer((Inner(Pair(1, "y"), Colour.RED),), {(4, "z"): [0.5]}),
    ],
)
def test_values_come_back(value):
    found = there_and_back(value)
    assert found == value and type(found) is type(value)


def test_arrays_and_frames_come_back():
    array = numpy.arange(6, dtype="<u2").reshape(2, 3)
    found = there_and_back([array, numpy.float64(1.5)])
    assert (found[0] == array).all() and found[0].dtype == array.dtype and found[1] == 1.5
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None]}, index=[5, 6])
    pandas.testing.assert_frame_equal(there_and_back(frame), frame)
    assert math.isnan(there_and_back(math.nan))


def test_what_cannot_be_read_back_is_not_written():
    for value in (object(), lambda: None, [Outer], {"a": open}, numpy.array([{}]), numpy.zeros(2, "i4,f8")):
        with pytest.raises(TypeError, match="cannot be kept in a result cache"):
            encode(value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"!": "dataclass", "class": "os:system", "fields": {}}, "os:system is of none of"),
        ({"!": "enum", "class": f"{__name__}:there_and_back", "name": "x"}, "is no class of values"),
        ({"!": "tuple", "class": f"{__name__}:Nothing", "items": []}, "Nothing"),
        ({"!": "dataclass", "class": f"{__name__}:Inner", "fields": {"pair": 1}}, "has other fields now"),
        ({"a": 1}, "no kind of value"),
    ],
)
def test_files_run_no_code(data, message):
    with pytest.raises(ValueError, match=message):
        decode(data, PACKAGES)
