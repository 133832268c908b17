# SPDX-License-Identifier: Apache-2.0
"""Results in what guests print."""

import fabricvp
import pytest

TEXT = """\
gpu0: 4 compute units\r
# reduce backend=compnet algorithm=ring nodes=4 bytes=65536 rounds=2 time_ps=41615250\r
# digest value=0x1f
reduce     ok
# reduce backend=ghn algorithm=tree nodes=2 bytes=12 rounds=1 time_ps=0
# kernels time_us=18.5
"""


def test_numbers_are_parsed_and_text_stays():
    lines = fabricvp.result_lines(TEXT)
    assert [line.name for line in lines] == ["reduce", "digest", "reduce", "kernels"]
    assert lines[0].values == {
        "backend": "compnet",
        "algorithm": "ring",
        "nodes": 4,
        "bytes": 65536,
        "rounds": 2,
        "time_ps": 41615250,
    }
    assert lines[1]["value"] == 0x1F and lines[3]["time_us"] == 18.5
    assert isinstance(lines[0]["bytes"], int) and isinstance(lines[3]["time_us"], float)


def test_one_name():
    assert [line["bytes"] for line in fabricvp.result_lines(TEXT, "reduce")] == [65536, 12]
    assert fabricvp.result_lines(TEXT, "rate") == []


@pytest.mark.parametrize(
    "line",
    [
        "reduce bytes=1",
        " # reduce bytes=1",
        "#reduce bytes=1",
        "# reduce",
        "# reduce bytes",
        "# reduce bytes=",
        "# reduce bytes=1 2 nodes",
        "# reduce bytes=1  nodes=2",
        "# echo processor 1 threads 1 groups 8 bytes 4075950 ps, slowest 4075950 ps",
        "# isa rv64imac",
        "# GB/s    to 0",
    ],
)
def test_other_lines_are_no_results(line):
    assert fabricvp.result_lines(line) == []


@pytest.mark.parametrize("text", ["1e", "e5", ".5", "5.", "1_000", "0x", "0xg", "+", "1.2.3", "nan", "rv64"])
def test_what_is_no_number_is_text(text):
    assert fabricvp.result_lines(f"# x key={text}")[0]["key"] == text


def test_a_missing_key_is_named():
    with pytest.raises(KeyError, match="bytes"):
        fabricvp.result_lines("# x nodes=1")[0]["bytes"]
