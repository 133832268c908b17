# SPDX-License-Identifier: Apache-2.0
"""Applications over all GPUs of all nodes from Python, and that each of them sees what its GPUs get wrong."""

import re
import struct
from pathlib import Path

import fabricvp
import pytest
from fabricvp.errors import InputError

REPOSITORY = Path(__file__).resolve().parents[2]
SIZES = {"allreduce": 1001, "mm_ring": 45, "halo": 5}


@pytest.mark.parametrize("name", SIZES)
def test_from_python(name):
    with fabricvp.spawn("cluster") as machine:
        machine.load_app(name, size=SIZES[name])
        machine.run()
        assert machine.app_ok and [node.app_ok for node in machine.nodes] == [True, True]
        assert name in machine.regions().columns.get_level_values(-1)


def test_bad_input():
    machine = fabricvp.spawn("cluster")
    for arguments, says in (
        ({"gpus": 2}, "--gpus has no effect"),
        ({"node": 1}, "--app allreduce"),
        ({"size": 400_000_000}, "allreduce needs 2.98 GiB of each GPU"),
        ({"option": "steps=2"}, "has no such option"),
    ):
        with pytest.raises(InputError) as raised:
            machine.load_app("allreduce", **arguments)
        assert says in str(raised.value) and "\n" not in str(raised.value)
    machine.close()


def code_of_kernels(image):
    """Where in an image the machine code of the kernels is that it brings along: (offset, bytes) of each segment."""
    begin = b"\x7fELF\2\1\1"
    start = image.find(begin, 1)
    while start >= 0:
        (table,) = struct.unpack_from("<Q", image, start + 32)
        size, count = struct.unpack_from("<HH", image, start + 54)
        for n in range(count):
            kind, flags, offset, _, _, length = struct.unpack_from("<IIQQQQ", image, start + table + n * size)
            if kind == 1 and flags & 1:
                yield start + offset, length
        start = image.find(begin, start + 4)


def with_subtractions(image):
    """The image with kernels that subtract where they should add: fadd.s and fmadd.s become fsub.s and fmsub.s."""
    changed = bytearray(image)
    for offset, length in code_of_kernels(image):
        for at in range(offset, offset + length, 4):
            (word,) = struct.unpack_from("<I", image, at)
            if word & 0xFE00007F == 0x53:
                struct.pack_into("<I", changed, at, word | 4 << 25)
            if word & 0x0600007F == 0x43:
                struct.pack_into("<I", changed, at, word | 4)
    return bytes(changed)


@pytest.mark.parametrize("name", SIZES)
def test_wrong_results_of_one_node_are_seen(name, tmp_path):
    image = (REPOSITORY / "build/release/firmware/distributed_apps.elf").read_bytes()
    changed = tmp_path / "changed.elf"
    changed.write_bytes(with_subtractions(image))
    with fabricvp.spawn("cluster", app=name, size=SIZES[name]) as machine:
        machine.load_images(1, firmware=changed)
        machine.run()
        assert machine.nodes[1].outcome.status == 1
        assert re.search(rf"node1 gpu\d: \w+ \d+ is wrong\s+{name} +FAILED", machine.nodes[1].console.output)
