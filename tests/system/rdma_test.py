# SPDX-License-Identifier: Apache-2.0
"""RDMA between nodes, driven by the firmware's own verbs."""

import collections
import json
import os
import pathlib
import re

import command
from command import CommandTest

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
GOLDEN = pathlib.Path(__file__).parent / "golden"


def lines(text):
    """Without measured figures."""
    return [line.rstrip() for line in text.splitlines() if not line.startswith("# ")]


class Rdma(CommandTest):
    def consoles(self, folder, nodes):
        return [(self.folder / folder / f"console.node{i}.log").read_text() for i in range(nodes)]

    def test_a_pair_of_nodes(self):
        small = "latency=4 max=4096 bandwidth=64 rate=512"  # node 0 tells the other one
        self.succeed("run", CONFIGS / "rdma_pair.yaml", "--append", small, "--out", "out")
        golden = (GOLDEN / "rdma_pair.txt").read_text()
        for i, text in enumerate(self.consoles("out", 2)):
            self.assertEqual(lines(text), lines(golden.replace("node 0 of", f"node {i} of")))
        self.succeed("run", CONFIGS / "rdma_pair.yaml", "--append", small, "--out", "again", "--quiet")
        self.assertEqual(self.consoles("again", 2), self.consoles("out", 2))
        self.assert_same_statistics("out", "again")
        statistics = json.loads((self.folder / "out/stats.json").read_text())
        for hca in "node0.hca0", "node1.hca0":
            self.assertEqual(statistics[f"{hca}.retries"], 0)
            self.assertEqual(statistics[f"{hca}.bad_doorbells"], 0)
            self.assertGreater(statistics[f"{hca}.messages"], 400)

    def test_four_nodes(self):
        """From memory of GPUs to memory of GPUs, all at once, through a switch."""
        self.succeed("run", CONFIGS / "rdma_cluster_4.yaml", "--out", "out")
        for i, text in enumerate(self.consoles("out", 4)):
            self.assertEqual(
                lines(text),
                [f"node {i} of 4, MTU 2048", "exchange   ok", "additions  ok", "multicast  ok", "all ok, powering off"],
            )
        statistics = json.loads((self.folder / "out/stats.json").read_text())
        for i in range(4):  # a write and a read of 64 KiB with three others, each way
            self.assertGreater(statistics[f"node{i}.hca0.data_mover.bytes_written"], 6 * 65536)
            self.assertEqual(statistics[f"node{i}.hca0.retries"], 0)
        self.assertEqual(
            statistics["network.packets.copied"], 5 * 4 * 2
        )  # five multicast datagrams of each node, to three others
        self.assertEqual(
            statistics["network.packets.sent"] + statistics["network.packets.copied"],
            statistics["network.packets.delivered"],
        )

    def test_invalid_options_are_reported(self):
        result = self.run_command(
            "run",
            CONFIGS / "rdma_pair.yaml",
            "--append",
            "check=0 exchange=0 latency=0 bandwidth=0 rate=16 batch=65",
            "--out",
            "out",
        )
        self.assert_rejected(result, "node0: batch=65: 64 at most")
        result = self.run_command("run", CONFIGS / "rdma_pair.yaml", "--append", "batch=16 window=8")
        self.assert_rejected(result, "node0: batch=16: 8 at most, since as many are under way")

    def test_nodes_are_those_of_the_machine(self):
        """`nodes=` is needed nowhere; any other number than the machine's ends the run in one line."""
        nothing = "check=0 exchange=0 latency=0 bandwidth=0 rate=0"
        self.succeed("run", CONFIGS / "rdma_pair.yaml", "--append", f"nodes=2 {nothing}")
        for image, machine, options, says in (
            ("rdma", "rdma_pair", "nodes=1", "nodes=1: this machine has 2; leave it out"),
            ("rdma", "rdma_pair", "nodes=x", "nodes is no number"),
            ("compnet", "compnet_8", "nodes=3", "nodes=3: this machine has 8; leave it out"),
            ("rdma_topology", "rdma_cluster_4", "nodes=3", "nodes=3: this machine has 4; leave it out"),
            ("gpurdma", "gpurdma_pair", "nodes=4", "nodes=4: this machine has 2; leave it out"),
            ("pgas", "gpurdma_cluster_4", "nodes=2", "nodes=2: this machine has 4; leave it out"),
            ("cluster", "cluster", "nodes=1", "nodes=1: this machine has 2; leave it out"),
            ("ordering", "gpurdma_cluster_4", "", "this machine has too many nodes, 4: this program takes 2 at most"),
            ("pgas", "gpu", "", "this machine has too few nodes, 1: this program takes 2 at least"),
        ):
            with self.subTest(image=image, options=options):
                result = self.run_command(
                    "run",
                    CONFIGS / f"{machine}.yaml",
                    "--set",
                    f"node.images.firmware=firmware:{image}.elf",
                    "--set",
                    f"node.images.append={options}",
                    "--out",
                    "out",
                )
                self.assert_rejected(result, says)

    # What `ibnetdiscover` would say, made of the links of a configuration.

    FAT_TREE = [
        ("node0.hca0", "leaf0", "FDR"),
        ("leaf0", "spine0", "EDR"),
        ("node1.hca0", "leaf0", "SDR"),
        ("leaf1", "spine0", "DDR"),
        ("spine1", "leaf0", "EDR"),
        ("leaf1", "spine1", "EDR"),
        ("leaf1", "node2.hca0", "FDR"),
        ("node3.hca0", "leaf1", "FDR"),
    ]

    def topology_machine(self, links, manager):
        text = (
            "nodes: 4\nnode:\n  images: {firmware: 'firmware:rdma_topology.elf'}\n  host: {memory: 64"
            " MiB, hart: {clock: 1 GHz}}\n"
        )
        text += f"  hcas: [{{below: root}}]\nnetwork:\n  subnet_manager: {manager}\n  routing: up_down\n  switches:\n"
        text += "".join(f"    - {{name: {s}}}\n" for s in ("spine0", "spine1", "leaf0", "leaf1"))
        return text + "  links:\n" + "".join(f"    - {{from: {a}, to: {b}, rate: {rate}}}\n" for a, b, rate in links)

    @staticmethod
    def expected_topology(links):
        """By each port: the port that it leads to. Ports are numbered in the order of the links."""
        used = collections.Counter()
        found = {}
        for a, b, _ in links:
            ends = []
            for name in a, b:
                used[name] += 1
                ends.append((name if "." in name else "network." + name, used[name]))
            found[ends[0]], found[ends[1]] = ends[1], ends[0]
        return found

    @staticmethod
    def printed_topology(text):
        """The same of what is printed, and the rate that each end has."""
        names = {
            key: name
            for key, name in re.findall(r'^(?:Switch|Ca)\t\d+ "([SH]-[0-9a-f]{16})"\t\t# "([^"]*)"', text, re.M)
        }
        found, rates = {}, {}
        here = None
        for line in text.splitlines():
            if node := re.match(r'(?:Switch|Ca)\t\d+ "([SH]-[0-9a-f]{16})"', line):
                here = names[node[1]]
            elif port := re.match(r'\[(\d+)\](?:\([0-9a-f]+\) )?\t"([SH]-[0-9a-f]{16})"\[(\d+)\].* (\w+)$', line):
                found[here, int(port[1])] = names[port[2]], int(port[3])
                rates[here, int(port[1])] = port[4]
        return found, rates

    def test_the_topology_that_firmware_prints(self):
        expected = self.expected_topology(self.FAT_TREE)
        assert len(expected) == 16
        for manager in "configuration", "guest":  # without LIDs, directed routes lead everywhere as well
            config = self.write(f"{manager}.yaml", self.topology_machine(self.FAT_TREE, manager))
            self.succeed("run", config, "--out", manager, "--time", "100ms")
            for _i, text in enumerate(self.consoles(manager, 4)):
                found, rates = self.printed_topology(text)
                self.assertEqual(found, expected)
                self.assertRegex(text, r"# Initiated from node [0-9a-f]{16} port [0-9a-f]{16}\n")
                # Adapters say that they know FDR, switches do not.
                self.assertEqual([rates[f"node{n}.hca0", 1] for n in range(4)], ["4xFDR", "4xSDR", "4xFDR", "4xFDR"])
                self.assertEqual(rates["network.leaf0", 1], "4xQDR")
                self.assertEqual(rates["network.spine0", 2], "4xDDR")
                lids = {name: int(lid) for name, lid in re.findall(r'# "([^"]+)" base port 0 lid (\d+)', text)}
                spines = {"network.spine0": 5, "network.spine1": 6, "network.leaf0": 7, "network.leaf1": 8}
                self.assertEqual(lids, spines if manager == "configuration" else dict.fromkeys(spines, 0))
        # A cable less, and a node is not found: it is said, and the others are shown.
        few = self.write("few.yaml", self.topology_machine(self.FAT_TREE[:-1], "guest"))
        result = self.run_command("run", few, "--out", "few", "--time", "1s")
        self.assertEqual(result.returncode, 1, result.text)
        found, _ = self.printed_topology(self.consoles("few", 1)[0])
        self.assertEqual(found, self.expected_topology(self.FAT_TREE[:-1]))
        self.assertIn("3 of 4 adapters found", self.consoles("few", 1)[0])


if __name__ == "__main__":
    command.main()
