# SPDX-License-Identifier: Apache-2.0
"""What users get wrong is an `InputError` of one line, and the machine is not harmed."""

import pytest

import fabricvp
import guests
from fabricvp.overrides import flatten


@pytest.mark.parametrize("text", [
    "nodes: 0", "nodes: many", "nodes: [1]", "nodse: 1", "{", "- 1", "node: {host: {memory: 64}}", "node: {host: {memory: 3 parsec}}",
    "node: {host: {hart: {clock: 0 Hz}}}", "node: {host: {harts: 65}}", "nodes: {}", "nodes: []", "node1: {}", "\0", "a: &a [*a]"])
def test_configurations(text):
    with pytest.raises(fabricvp.InputError) as caught:
        fabricvp.spawn(text=text)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_the_nearest_name_is_offered(tmp_path):
    config = tmp_path / "machine.yaml"
    config.write_text("nodes: 1\nnode:\n  host:\n    hart: {}\n    memry: 64 MiB\n")
    with pytest.raises(fabricvp.InputError, match=r"machine.yaml:5.*memry.*memory"):
        fabricvp.spawn(config)


@pytest.mark.parametrize("overrides", [{"node.host.hearts": 1}, {"": 1}, {"node..host": 1}, {"node.host.harts": "four"}, {"node.host.harts": -1},
                                       {"node.host.harts": 1.5}, {"node.host": 5}])
def test_overrides(overrides):
    with pytest.raises(fabricvp.InputError):
        fabricvp.spawn("bare", overrides=overrides)


def test_overrides_in_all_forms(tmp_path):
    assert flatten({"a.b": True, "c": {"d": 1.5, "e": {"f": "x"}}}, {"g__h": [1, 2], "i": tmp_path}) == {
        "g.h": "[1, 2]", "i": str(tmp_path), "a.b": "true", "c.d": "1.5", "c.e.f": "x"}
    with pytest.raises(fabricvp.InputError, match="no value of a configuration"):
        flatten({"a": object()}, {})


@pytest.mark.parametrize("contents", [b"", b"\x7fELF", b"\x7fELF" + bytes(60), b"\x7fELF\x02\x01\x01" + b"\xff" * 100])
def test_images(machine, tmp_path, contents):
    image = tmp_path / "image"
    image.write_bytes(contents)
    platform = machine()
    with pytest.raises(fabricvp.InputError) as caught:
        platform.load_elf(image)
    assert "\n" not in str(caught.value) and "image" in str(caught.value)
    assert platform.run("1 us").outcome in ("time_limit", "idle")


def test_images_that_do_not_fit(machine, tmp_path, assemble):
    platform = machine(guests.HELLO, node__host__memory="16 MiB")
    image = tmp_path / "image"
    image.write_bytes(bytes(4096))
    for address in (0x8100_0000 - 4095, 0, 2**64 - 100):
        with pytest.raises(fabricvp.InputError):
            platform.load_binary(image, address)
    with pytest.raises(fabricvp.InputError, match="no such file"):
        platform.load_images(kernel=tmp_path / "nothing")
    with pytest.raises(fabricvp.InputError, match="tohost"):
        platform.load_images(firmware=assemble(guests.HELLO), tohost=True)


def test_ports_and_consoles(machine):
    platform = machine()
    for where in ("carrier pigeon", "tcp:99999", "tcp:abc", "file:/nowhere/file"):
        with pytest.raises(fabricvp.InputError):
            platform.nodes[0].console.attach(where)
    port = platform.listen_gdb()
    assert 0 < port < 65536
    with pytest.raises(fabricvp.InputError):
        machine().listen_gdb(port)
