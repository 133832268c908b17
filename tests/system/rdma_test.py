# SPDX-License-Identifier: Apache-2.0
"""RDMA between nodes, driven by the firmware's own verbs."""

import json
import os
import pathlib

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
        small = "nodes=2 latency=4 most=4096 bandwidth=64 rate=512"  # node 0 tells the other one
        self.succeed("run", CONFIGS / "rdma_pair.yaml", "--append", small, "--out", "out")
        golden = (GOLDEN / "rdma_pair.txt").read_text()
        for i, text in enumerate(self.consoles("out", 2)):
            self.assertEqual(lines(text), lines(golden.replace("node 0 of", f"node {i} of")))
        self.succeed("run", CONFIGS / "rdma_pair.yaml", "--append", small, "--out", "again", "--quiet")
        self.assertEqual(self.consoles("again", 2), self.consoles("out", 2))
        self.assertRegex(self.succeed("diff", "out", "again").text, r"0 of \d+ statistics differ")
        statistics = json.loads((self.folder / "out/stats.json").read_text())
        for hca in "node0.hca0", "node1.hca0":
            self.assertEqual(statistics[f"{hca}.retries"], 0)
            self.assertEqual(statistics[f"{hca}.bad_doorbells"], 0)
            self.assertGreater(statistics[f"{hca}.messages"], 400)

    def test_four_nodes(self):
        """From memory of GPUs to memory of GPUs, all at once, through a switch."""
        self.succeed("run", CONFIGS / "rdma_cluster_4.yaml", "--out", "out")
        for i, text in enumerate(self.consoles("out", 4)):
            self.assertEqual(lines(text), [f"node {i} of 4, MTU 2048", "exchange   ok", "additions  ok", "all ok, powering off"])
        statistics = json.loads((self.folder / "out/stats.json").read_text())
        for i in range(4):  # a write and a read of 64 KiB with three others, each way
            self.assertGreater(statistics[f"node{i}.hca0.data.bytes_written"], 6 * 65536)
            self.assertEqual(statistics[f"node{i}.hca0.retries"], 0)
        self.assertEqual(statistics["network.packets.sent"], statistics["network.packets.delivered"])

    def test_what_does_not_fit_is_said(self):
        result = self.run_command("run", CONFIGS / "rdma_pair.yaml", "--append", "nodes=2 check=0 exchange=0 latency=0 bandwidth=0 rate=16 batch=65", "--out", "out")
        self.assertEqual(result.returncode, 1)
        self.assertIn("batches of 1 to 64", result.text)
        result = self.run_command("run", CONFIGS / "rdma_pair.yaml", "--append", "nodes=1", "--append", "node1=nodes=1", "--out", "out")
        self.assertEqual(result.returncode, 1)
        self.assertIn("nodes=1: 2 to 64", result.text)


if __name__ == "__main__":
    command.main()
