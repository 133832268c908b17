# SPDX-License-Identifier: Apache-2.0
"""Applications over all GPUs of all nodes, for odd counts of nodes, GPUs and sizes, with and without a fabric."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import command
from command import FABRICVP

#: Three nodes of three GPUs that no fabric joins.
UNLINKED = """node:
  host: {memory: 256 MiB}
  pcie:
    switches:
      - name: switch0
  gpus:
    - &gpu {below: switch0, compute_units: 4}
    - *gpu
    - *gpu
  hcas:
    - below: switch0
nodes: 3
network:
  switches:
    - name: switch0
"""
#: The second node has another number of GPUs.
UNEQUAL = """node:
  host: {memory: 256 MiB}
  pcie:
    switches:
      - name: switch0
  hcas:
    - below: switch0
nodes:
  - gpus: [{below: switch0, compute_units: 4}, {below: switch0, compute_units: 4}]
  - gpus: [{below: switch0, compute_units: 4}]
network:
  links:
    - {from: node0.hca0, to: node1.hca0}
"""


def run(machine, app, *arguments):
    return subprocess.run(
        [FABRICVP, "run", machine, "--app", app, *arguments], capture_output=True, text=True, timeout=command.TIMEOUT_S
    )


class Distributed(unittest.TestCase):
    def check(self, machine, app, nodes, gpus, *arguments):
        done = run(machine, app, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, rf"# {app} nodes={nodes} gpus={gpus} size=\d+ time_ps=\d+\n")
        self.assertRegex(done.stdout, rf"{app} +ok\n")

    def test_one_gpu_and_one_node(self):
        for app, size in ("allreduce", 1000), ("mm_ring", 33), ("halo", 5):
            self.check("gpu", app, 1, 1, "--size", str(size))
            self.check("netcrafter_quad", app, 1, 4, "--size", str(size))

    def test_nodes_with_a_fabric(self):
        for app, size in ("allreduce", 1001), ("mm_ring", 45), ("halo", 5):
            self.check("cluster", app, 2, 8, "--size", str(size))

    def test_many_nodes(self):
        """Neighbours run ahead of each other: what comes early must not be written over."""
        self.check("compnet_16", "halo", 16, 16, "--size", "7", "--option", "columns=33,steps=5")
        self.check("compnet_4", "allreduce", 4, 4, "--size", "777")

    def test_gpus_that_no_fabric_joins(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text, nodes, gpus in ("unlinked", UNLINKED, 3, 9), ("unequal", UNEQUAL, 2, 3):
                machine = pathlib.Path(folder, f"{name}.yaml")
                machine.write_text(text)
                for app, size in ("allreduce", 1001), ("mm_ring", 45), ("halo", 5):
                    self.check(machine, app, nodes, gpus, "--size", str(size))

    def test_sizes_smaller_than_the_ring(self):
        for app in "allreduce", "mm_ring", "halo":
            self.check("cluster", app, 2, 8, "--size", "1")

    def test_results(self):
        """Regions are those of the first node, and every node says whether its part is right."""
        with tempfile.TemporaryDirectory() as folder:
            done = run("compnet_pair", "allreduce", "--size", "1000", "--out", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('"allreduce"', pathlib.Path(folder, "regions.json").read_text())
            stats = pathlib.Path(folder, "stats.json").read_text()
            for node in "node0", "node1":
                self.assertRegex(stats, rf'"{node}\.app\.ok": 1')

    def test_seeds(self):
        """What nodes send to each other follows from the seed, and from nothing else."""
        with tempfile.TemporaryDirectory() as folder:
            for app, size in ("allreduce", 1000), ("mm_ring", 33), ("halo", 5):
                sent = []
                for n, seed in enumerate("441"):
                    file = pathlib.Path(folder, f"{app}{n}.pcap")
                    self.check("compnet_pair", app, 2, 2, "--size", str(size), "--seed", seed, "--capture", str(file))
                    sent.append(file.read_bytes())
                self.assertEqual(sent[0], sent[1])
                self.assertNotEqual(sent[0], sent[2])

    def test_a_run_that_is_cut(self):
        done = run("compnet_pair", "allreduce", "--time", "1 us")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("application allreduce has not ended", done.stderr)

    def test_bad_input(self):
        for machine, arguments, says in (
            ("two_nodes", ("allreduce",), "--app allreduce: node0 has no GPU"),
            ("cluster", ("allreduce", "--gpus", "2"), "--gpus has no effect: allreduce runs on all GPUs"),
            ("cluster", ("node1=halo",), "--app node1=halo: it runs on all nodes; give --app halo"),
            ("cluster", ("halo", "--size", "node1=4"), "--size node1=…: halo runs on all nodes alike"),
            ("cluster", ("halo", "--option", "steps=0"), "--option steps=0: must be a number from 1 to 1000"),
            ("cluster", ("allreduce", "--size", "400000000"), "allreduce needs 2.98 GiB of each GPU"),
            ("cluster", ("allredce",), "did you mean 'allreduce'?"),
        ):
            done = run(machine, *arguments)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(says, done.stderr)

    def test_nodes_without_adapters(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = pathlib.Path(folder, "alone.yaml")
            machine.write_text(re.sub(r"  hcas:\n    - below: switch0\n", "", UNLINKED.split("network:")[0]))
            done = run(machine, "halo")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn("node0 has no RDMA adapter to reach the other nodes", done.stderr)


if __name__ == "__main__":
    unittest.main()
