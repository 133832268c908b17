# SPDX-License-Identifier: Apache-2.0
"""What users get wrong is an `InputError` of one line, and the machine is not harmed."""

import fabricvp
import guests
import pytest
from fabricvp.overrides import flatten


@pytest.mark.parametrize(
    "text",
    [
        "nodes: 0",
        "nodes: many",
        "nodes: [1]",
        "nodse: 1",
        "{",
        "- 1",
        "node: {host: {memory: 64}}",
        "node: {host: {memory: 3 parsec}}",
        "node: {host: {hart: {clock: 0 Hz}}}",
        "node: {host: {harts: 65}}",
        "nodes: {}",
        "nodes: []",
        "node1: {}",
        "\0",
        "a: &a [*a]",
    ],
)
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


@pytest.mark.parametrize(
    "overrides",
    [
        {"node.host.hearts": 1},
        {"": 1},
        {"node..host": 1},
        {"node.host.harts": "four"},
        {"node.host.harts": -1},
        {"node.host.harts": 1.5},
        {"node.host": 5},
    ],
)
def test_overrides(overrides):
    with pytest.raises(fabricvp.InputError):
        fabricvp.spawn("bare", overrides=overrides)


def test_overrides_in_all_forms(tmp_path):
    assert flatten({"a.b": True, "c": {"d": 1.5, "e": {"f": "x"}}}, {"g__h": [1, 2], "i": tmp_path}) == {
        "g.h": "[1, 2]",
        "i": str(tmp_path),
        "a.b": "true",
        "c.d": "1.5",
        "c.e.f": "x",
    }
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


GPU = "{below: switch0, compute_units: 1, memory: {capacity: 64 MiB}}"


def error_of(tmp_path, text, **options):
    """The refusal of a configuration that stands in machine.yaml, without the folder."""
    config = tmp_path / "machine.yaml"
    config.write_text(text)
    with pytest.raises(fabricvp.InputError) as caught:
        fabricvp.spawn(config, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(str(tmp_path) + "/", "")


def pcie_tree(*lines):
    return "node:\n  pcie:\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    "lines, refusal",
    [
        (
            [
                "switches: [{name: a}]",
                "endpoints:",
                "  - {name: d, kind: virtio_blk, below: a}",
                "  - {name: e, kind: virtio_blk,",
                "     below: b}",
            ],
            (
                "machine.yaml:7: pcie: endpoint 'e' is below 'b', which is neither root nor a switch listed before it"
                " (allowed: a, root)"
            ),
        ),
        (
            ["switches:", "  - {name: a, below: b}", "  - {name: b}"],
            (
                "machine.yaml:4: pcie: switch 'a' is below 'b', which is neither root nor a switch listed before it"
                " (allowed: root)"
            ),
        ),
        (
            [
                "switches:",
                "  - name: a",
                "    upstream_port: {max_payload: 384}",
                "endpoints: [{name: e, kind: virtio_blk, below: a}]",
            ],
            "machine.yaml:5: pcie: a.upstream_port.max_payload is 384: give a power of two",
        ),
        (
            [
                "switches:",
                "  - name: a",
                "",
                "    downstream_port: {max_payload: 384}",
                "endpoints: [{name: e, kind: virtio_blk, below: a}]",
            ],
            "machine.yaml:6: pcie: a.downstream_port.max_payload is 384: give a power of two",
        ),
        (
            ["switches:", "  - {name: a}", "  - {name: idle}", "endpoints: [{name: e, kind: virtio_blk, below: a}]"],
            "machine.yaml:5: pcie: switch 'idle' has 0 ports in use: 1 … 31",
        ),
        (
            ["endpoints:", "  - name: e", "    kind: virtio_blk", "    link: {max_payload: 384}"],
            "machine.yaml:6: pcie: e.link.max_payload is 384: give a power of two",
        ),
        (
            ["endpoints:", "  - {name: d, kind: virtio_blk}", "  - {name: e, kind: virtio_blk, queue_size: 6}"],
            "machine.yaml:5: pcie: e: queue_size is 6: give a power of two",
        ),
        (
            ["root: {peer_to_peer_payload: 384 B}", "endpoints: [{name: e, kind: virtio_blk}]"],
            "machine.yaml:3: pcie: root.peer_to_peer_payload is 384: give a power of two",
        ),
        (
            ["endpoints: [" + ", ".join(f"{{name: e{i}, kind: virtio_blk}}" for i in range(32)) + "]"],
            "machine.yaml:3: pcie: more than 31 links below the root complex",
        ),
    ],
)
def test_pcie_trees_are_refused_where_they_are_written(tmp_path, lines, refusal):
    assert error_of(tmp_path, pcie_tree(*lines)) == refusal


@pytest.mark.parametrize(
    "lines, refusal",
    [
        (
            ["host:", "  harts: 1", "  hart: {instruction_cache: {size: 5 KiB, ways: 3}}"],
            "machine.yaml:4: size of 5120 bytes is not a multiple of ways x 64 = 192",
        ),
        (
            ["host:", "  hart:", "    instruction_cache:", "      size: 16 KiB", "      ways: 2"],
            "machine.yaml:5: size of 16384 bytes with 2 ways: a way is at most 4096 bytes",
        ),
        (
            ["host:", "  memory_timing: caches", "  caches:", "    line: 48 B"],
            "machine.yaml:5: line is 48: give a power of two",
        ),
        (
            ["host:", "  memory_timing: caches", "  caches:", "    l2: {size: 2000 B, ways: 16}"],
            "machine.yaml:5: l2: size of 2000 bytes is not a multiple of ways x line = 1024",
        ),
        (
            ["gpus:", "  - memory:", "      l2:", "        size: 100 KiB", "        ways: 16"],
            "machine.yaml:5: size of 102400 bytes is not a multiple of banks x ways x 64 = 16384",
        ),
        (
            ["gpus:", "  - memory: {l2: {ways: 8,", "       locked_ways: 8}}"],
            "machine.yaml:4: locked_ways is 8: give less than the 8 ways",
        ),
        (
            ["gpus:", "  - memory: {unit: {l1: {size: 2000 B, ways: 16}}}"],
            "machine.yaml:3: size of 2000 bytes is not a multiple of ways x 64 = 1024",
        ),
        (
            ["gpus:", "  - memory:", "      hbm:", "        row: 64 B", "        interleave: 128 B"],
            "machine.yaml:5: row of 64 bytes is shorter than the interleave of 128",
        ),
        (
            ["gpus:", "  - instruction_cache: {size: 48 KiB}"],
            "machine.yaml:3: size of 49152 bytes with 4 ways: give a power of two of sets, size / 64 / ways",
        ),
        (
            ["gpus:", "  - processor: {bus: {data_cache: {size: 1000 B}}}"],
            "machine.yaml:3: size of 1000 bytes is not a multiple of ways x 64 = 512",
        ),
    ],
)
def test_inconsistent_values_are_rejected_at_their_line(tmp_path, lines, refusal):
    assert error_of(tmp_path, "node:\n" + "".join(f"  {line}\n" for line in lines)) == refusal


@pytest.mark.parametrize(
    "lines, refusal",
    [
        (
            ["gpus:", "  - compute_units: 1", "    below: switch9"],
            (
                "machine.yaml:6: pcie: device 'gpu0' is below 'switch9', which is neither root nor a switch listed"
                " before it (allowed: root, switch0)"
            ),
        ),
        (
            ["hcas:", "  - {below: root}", "  - {below: switch9}"],
            (
                "machine.yaml:6: pcie: device 'hca1' is below 'switch9', which is neither root nor a switch listed"
                " before it (allowed: root, switch0)"
            ),
        ),
        (
            ["hcas:", "  - {below: root}", "  - {below: root, name: disk}"],
            "machine.yaml:6: pcie: the name 'disk' is taken twice",
        ),
    ],
)
def test_devices_below_nothing_are_refused_where_they_are_written(tmp_path, lines, refusal):
    tree = pcie_tree("{switches: [{name: switch0}], endpoints: [{name: disk, kind: virtio_blk, below: switch0}]}")
    assert error_of(tmp_path, tree + "".join(f"  {line}\n" for line in lines)) == refusal


def fabric(*lines, gpus=2):
    return (
        pcie_tree("{switches: [{name: switch0}]}")
        + f"  gpus: [{', '.join([GPU] * gpus)}]\n  fabric:\n"
        + "".join(f"    {line}\n" for line in lines)
    )


LINKS = ["links:", "  - {from: gpu0, to: s}", "  - {from: gpu1, to: s}"]  # behind one line


@pytest.mark.parametrize(
    "lines, refusal",
    [
        (
            ["switches: [{name: s}]", *LINKS, "  - from: s", "    to: gpu7"],
            (
                "machine.yaml:11: fabric: a link goes to 'gpu7', which is neither a switch nor a device (allowed: gpu0,"
                " gpu1, s)"
            ),
        ),
        (
            ["switches: [{name: s}]", *LINKS, "  - from: gpu7", "    to: s"],
            (
                "machine.yaml:10: fabric: a link goes from 'gpu7', which is neither a switch nor a device (allowed:"
                " gpu0, gpu1, s)"
            ),
        ),
        (
            ["switches: [{name: s}]", *LINKS, "  - {from: gpu1, to: s}"],
            "machine.yaml:10: fabric: 'gpu1' has more than one link: devices have one, switches many",
        ),
        (
            ["switches: [{name: s}]", *LINKS, "  - {from: s, to: s}"],
            "machine.yaml:10: fabric: a link goes from 's' to itself",
        ),
        (
            ["switches: [{name: s}]", *LINKS, "  - {from: t, to: s}"],
            (
                "machine.yaml:10: fabric: a link goes from 't', which is neither a switch nor a device (allowed: gpu0,"
                " gpu1, s)"
            ),
        ),
        (
            [
                "switches: [{name: s}]",
                "links:",
                "  - {from: gpu1, to: s}",
                "  - from: gpu0",
                "    to: s",
                "    lanes: 4",
                "    forward_lanes: 8",
            ],
            (
                "machine.yaml:12: fabric: forward_lanes of 8 from 'gpu0' to 's': the link has 8 lanes, and one at least"
                " must lead back"
            ),
        ),
        (
            ["switches: [{name: s, input: {entries: 8}}]", *LINKS],
            "machine.yaml:6: fabric: s.input.entries of 8 flits leaves 4 for requests: the longest packet has 5",
        ),
        (
            ["device: {input: {entries: 8}}", "switches: [{name: s}]", *LINKS],
            "machine.yaml:6: fabric: device.input.entries of 8 flits leaves 4 for requests: the longest packet has 5",
        ),
        (
            ["switches:", "  - name: s", "    output_entries: 8", *LINKS],
            "machine.yaml:8: fabric: s.output_entries of 8 flits leaves 4 for requests: the longest packet has 5",
        ),
        (
            ["packet: {flit: 8 B, crc: 8 B}", "switches: [{name: s}]", *LINKS],
            "machine.yaml:6: fabric: packet.crc leaves no byte of a flit",
        ),
        (
            ["switches:", "  - name: s", "    netcrafter: {stitching: true}", *LINKS],
            "machine.yaml:8: fabric: s.netcrafter is on, but 's' has no link to another cluster",
        ),
        (
            ["switches: [{name: s}]", *LINKS, "generators:", "  - {name: g}"],
            "machine.yaml:11: fabric: the generator 'g' has no link",
        ),
        (
            ["switches:", "  - {name: gpu1}", *LINKS],
            "machine.yaml:7: the name 'gpu1' is taken: a GPU has it, which stands there in the fabric",
        ),
    ],
)
def test_fabrics_are_refused_where_they_are_written(tmp_path, lines, refusal):
    assert error_of(tmp_path, fabric(*lines)) == refusal


def test_a_window_beyond_the_watchdog_is_refused_where_it_is_written(tmp_path):
    lines = [
        "switches:",
        "  - {name: t, cluster: 1}",
        "  - name: s",
        "    netcrafter: {stitching: true, pooling: plain, window: 100000 cycles}",
        "links:",
        "  - {from: gpu0, to: s}",
        "  - {from: gpu1, to: t}",
        "  - {from: s, to: t}",
    ]
    refusal = error_of(tmp_path, "simulation: {watchdog: 1 us}\n" + fabric(*lines))
    assert (
        refusal
        == "machine.yaml:10: fabric: s.netcrafter.window of 100000 cycles is not shorter than simulation.watchdog"
    )


def test_overrides_are_named_as_the_place(tmp_path):
    refusal = error_of(tmp_path, fabric("switches: [{name: s}]", *LINKS), overrides={"node.fabric.links.1.to": "u"})
    assert "--set 'node.fabric.links.1.to=u': fabric: a link goes to 'u'" in refusal


@pytest.mark.parametrize(
    "group, refusal",
    [
        ("{lid: 7}", "machine.yaml:5: network: 7 is no multicast LID (allowed: 49152 … 65534)"),
        ("{lid: 0xc000}\n    - lid: 0xc000", "machine.yaml:6: network: the multicast LID 49152 is taken twice"),
        (
            "lid: 0xc001\n      members: [node0.hca0, node2.hca0]",
            "machine.yaml:6: network: there is no adapter 'node2.hca0'; the first one is node0.hca0",
        ),
    ],
)
def test_multicast_groups_are_refused_where_they_are_written(tmp_path, group, refusal):
    text = (
        "nodes: 2\nnode: {hcas: [{below: root}]}\nnetwork:\n  multicast:\n    - "
        + group
        + "\n  links: [{from: node0.hca0, to: node1.hca0}]\n"
    )
    assert error_of(tmp_path, text) == refusal
