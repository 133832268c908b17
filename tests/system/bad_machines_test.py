# SPDX-License-Identifier: Apache-2.0
"""Configurations whose parts do not fit each other end in one line, which names the line of the file."""

import command
from command import CommandTest

PAYLOAD = "a payload of 256 B, the larger max_payload of the link's two ends, needs that much, in units of 16 B"
GPU = "{below: switch0, compute_units: 1, memory: {capacity: 64 MiB}}"


def pcie_tree(*lines):
    return "node:\n  pcie:\n" + "".join(f"    {line}\n" for line in lines)


def fabric(*lines, gpus=2):
    return (
        pcie_tree("{switches: [{name: switch0}]}")
        + f"  gpus: [{', '.join([GPU] * gpus)}]\n  fabric:\n"
        + "".join(f"    {line}\n" for line in lines)
    )


PCIE_TREES = [
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
        [
            "switches:",
            *(f"  - {{name: s{i}, below: {f's{i - 1}' if i else 'root'}}}" for i in range(3000)),
            "endpoints: [{name: e, kind: virtio_blk, below: s2999}]",
        ],
        "machine.yaml:3003: pcie: 3000 switches and 1 devices make 6002 buses: 256 at most",
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
        ["endpoints:", "  - name: e", "    kind: virtio_blk", "    link: {width: 3}"],
        "machine.yaml:6: pcie: e.link.width is 3: give one of 1, 2, 4, 8, 12, 16, 32",
    ),
    (
        ["endpoints: [{name: e, kind: virtio_blk}]", "root: {root_port: {width: 7}}"],
        "machine.yaml:4: pcie: root.root_port.width is 7: give one of 1, 2, 4, 8, 12, 16, 32",
    ),
    (
        ["endpoints: [{name: e, kind: virtio_blk}]", "root: {completion_boundary: 100}"],
        "machine.yaml:4: pcie: root.completion_boundary is 100: give a power of two",
    ),
    (
        ["endpoints:", "  - name: e", "    kind: virtio_blk", "    completion_boundary: 65"],
        "machine.yaml:6: pcie: e.completion_boundary is 65: give a power of two",
    ),
    (
        ["endpoints: [{name: e, kind: virtio_blk}]", "root: {root_port: {posted_buffer: 128 B}}"],
        f"machine.yaml:4: pcie: root.root_port.posted_buffer is 128 B: {PAYLOAD}",
    ),
    (
        [
            "switches:",
            "  - name: a",
            "    downstream_port: {completion_buffer: 255 B}",
            "endpoints: [{name: e, kind: virtio_blk, below: a}]",
        ],
        f"machine.yaml:5: pcie: a.downstream_port.completion_buffer is 255 B: {PAYLOAD}",
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
]

VALUES = [
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
        "machine.yaml:5: host.caches.l2: size of 2000 bytes is not a multiple of ways x line = 1024",
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
        ["gpus:", "  - memory:", "      unit:", "        l1: {sectored: true,", "          line_pairs: true}"],
        "machine.yaml:6: line_pairs fetches two lines for one: a sectored cache fetches no lines",
    ),
    (
        ["gpus:", "  - memory:", "      unit:", "        l1: {sectored: true,", "          trim_predictor: true}"],
        "machine.yaml:6: trim_predictor chooses between a sector and its line: a sectored cache fetches no lines",
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
]

DEVICES = [
    (
        ["gpus:", "  - compute_units: 1", "    link: {completion_buffer: 128 B}"],
        f"machine.yaml:6: pcie: gpu0.link.completion_buffer is 128 B: {PAYLOAD}",
    ),
    (
        ["hcas:", "  - {link: {width: 5}}"],
        "machine.yaml:5: pcie: hca0.link.width is 5: give one of 1, 2, 4, 8, 12, 16, 32",
    ),
    (
        ["gpus:", "  - compute_units: 1", "    completion_boundary: 96"],
        "machine.yaml:6: pcie: gpu0.completion_boundary is 96: give a power of two",
    ),
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
]

LINKS = ["links:", "  - {from: gpu0, to: s}", "  - {from: gpu1, to: s}"]  # behind one line

FABRICS = [
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
        ["switches:", "  - name: s", "    stage: {kind: netcrafter, stitching: true}", *LINKS],
        "machine.yaml:8: fabric: s.stage of kind netcrafter needs a link to another cluster",
    ),
    (
        ["switches: [{name: s}]", *LINKS, "generators:", "  - {name: g}"],
        "machine.yaml:11: fabric: the generator 'g' has no link",
    ),
    (
        ["switches:", "  - {name: gpu1}", *LINKS],
        "machine.yaml:7: the name 'gpu1' is taken: a GPU has it, which stands there in the fabric",
    ),
]

MULTICAST_GROUPS = [
    ("{lid: 7}", "machine.yaml:5: network: 7 is no multicast LID (allowed: 49152 … 65534)"),
    ("{lid: 0xc000}\n    - lid: 0xc000", "machine.yaml:6: network: the multicast LID 49152 is taken twice"),
    (
        "lid: 0xc001\n      members: [node0.hca0, node2.hca0]",
        "machine.yaml:6: network: there is no adapter 'node2.hca0'; the first one is node0.hca0",
    ),
]


class BadMachines(CommandTest):
    def assert_error(self, text, error, *options):
        self.write("machine.yaml", text)
        with self.subTest(error):
            result = self.run_command("check", "machine.yaml", *options)
            self.assertEqual((result.returncode, result.errors), (2, f"fabricvp: {error}\n"))

    def test_pcie_trees(self):
        for lines, error in PCIE_TREES:
            self.assert_error(pcie_tree(*lines), error)

    def test_values(self):
        for lines, error in VALUES:
            self.assert_error("node:\n" + "".join(f"  {line}\n" for line in lines), error)

    def test_devices_below_nothing(self):
        tree = pcie_tree("{switches: [{name: switch0}], endpoints: [{name: disk, kind: virtio_blk, below: switch0}]}")
        for lines, error in DEVICES:
            self.assert_error(tree + "".join(f"  {line}\n" for line in lines), error)

    def test_fabrics(self):
        for lines, error in FABRICS:
            self.assert_error(fabric(*lines), error)

    def test_a_window_beyond_the_watchdog(self):
        lines = [
            "switches:",
            "  - {name: t, cluster: 1}",
            "  - name: s",
            "    stage: {kind: netcrafter, stitching: true, pooling: plain, window: 100000 cycles}",
            "links:",
            "  - {from: gpu0, to: s}",
            "  - {from: gpu1, to: t}",
            "  - {from: s, to: t}",
        ]
        self.assert_error(
            "simulation: {watchdog: 1 us}\n" + fabric(*lines),
            "machine.yaml:10: fabric: s.stage.window of 100000 cycles is not shorter than simulation.watchdog",
        )

    def test_overrides_are_named_as_the_place(self):
        self.assert_error(
            fabric("switches: [{name: s}]", *LINKS),
            "machine.yaml: --set 'node.fabric.links.1.to=u': fabric: a link goes to 'u', which is neither a switch nor"
            " a device (allowed: gpu0, gpu1, s)",
            "--set",
            "node.fabric.links.1.to=u",
        )

    def test_multicast_groups(self):
        for group, error in MULTICAST_GROUPS:
            self.assert_error(
                "nodes: 2\nnode: {hcas: [{below: root}]}\nnetwork:\n  multicast:\n    - "
                + group
                + "\n  links: [{from: node0.hca0, to: node1.hca0}]\n",
                error,
            )


if __name__ == "__main__":
    command.main()
