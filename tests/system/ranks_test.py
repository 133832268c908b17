# SPDX-License-Identifier: Apache-2.0
"""Machines that are cut at their network and run as several processes."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

import command
from command import CommandTest

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
LIBRARY = pathlib.Path(command.FABRICVP).parent.parent / "python/fabricvp/libfabricvp_mpi.so"
WHY_NOT = ("the platform was built without MPI" if not LIBRARY.exists() else "mpirun is not installed" if not shutil.which("mpirun") else "")


class Refused(CommandTest):
    """What cannot be is said in one line, before anything runs."""

    def refused(self, words, *arguments):
        result = self.run_command("run", *arguments, "--out", "out")
        self.assertEqual(result.returncode, 2, result.text)
        self.assertEqual(len(result.text.strip().splitlines()), 1, result.text)
        self.assertIn(words, result.text)
        self.assertFalse((self.folder / "out/stats.json").exists())

    @unittest.skipIf(LIBRARY.exists(), "the platform was built with MPI")
    def test_without_mpi(self):
        self.refused("which this build of the platform lacks", CONFIGS / "rdma_pair.yaml", "--ranks", "2")

    def test_numbers(self):
        self.refused("must be a number from 1 to 1024", CONFIGS / "rdma_pair.yaml", "--ranks", "0")
        self.refused("must be a number from 1 to 1024", CONFIGS / "rdma_pair.yaml", "--ranks", "two")

    @unittest.skipIf(WHY_NOT, WHY_NOT)
    def test_machines_that_cannot_be_cut(self):
        self.refused("3 ranks: this machine has 2 parts", CONFIGS / "rdma_pair.yaml", "--ranks", "3")
        self.refused("2 ranks: this machine has 1 part", CONFIGS / "hello.yaml", "--ranks", "2")
        self.refused("no network between its nodes", CONFIGS / "two_nodes.yaml", "--ranks", "2")
        self.refused("marks of a node can only reach the node itself", CONFIGS / "rdma_pair.yaml", "--ranks", "2", "--set", "node0.host.marker.scope=network")

    @unittest.skipIf(WHY_NOT, WHY_NOT)
    def test_options_that_need_one_process(self):
        for option in (["--gdb", "0"], ["--console", "stdio"], ["--console", "node1=tcp:0"], ["--spans"], ["--capture", "x.pcap"]):
            self.refused("does not go with ranks", CONFIGS / "rdma_pair.yaml", "--ranks", "2", *option)

    @unittest.skipIf(WHY_NOT, WHY_NOT)
    def test_what_one_rank_finds_wrong(self):
        self.refused("no such file", CONFIGS / "rdma_pair.yaml", "--ranks", "2", "--set", "node1.images.firmware=nowhere.elf")
        self.refused("no fault can happen to 'node1.nothing'", self.write("bad.yaml", f"base: {CONFIGS}/rdma_pair.yaml\nfaults:\n  - {{target: node1.nothing, kind: down}}\n"), "--ranks", "2")


@unittest.skipIf(WHY_NOT, WHY_NOT)
class SameResults(CommandTest):
    """Statistics, consoles and regions are the same whatever the number of ranks."""

    def statistics(self, folder):
        lines = (self.folder / folder / "stats.json").read_text().splitlines()
        return "\n".join(line for line in lines if '"sim.' not in line)

    def compare(self, ranks, *arguments, status=0):
        for n in [1, *ranks]:
            result = self.run_command("run", *arguments, "--ranks", n, "--out", f"ranks{n}", "--quiet")
            self.assertEqual(result.returncode, status, result.text)
        first = self.folder / "ranks1"
        self.assertGreater(len(self.statistics("ranks1")), 1000)
        for n in ranks:
            other = self.folder / f"ranks{n}"
            self.assertEqual(sorted(p.name for p in first.iterdir()), sorted(p.name for p in other.iterdir()))
            self.assertEqual(self.statistics("ranks1"), self.statistics(f"ranks{n}"))
            for file in first.iterdir():
                if file.name.startswith("console.") or file.name in ("regions.json", "config.resolved.yaml"):
                    self.assertEqual(file.read_text(), (other / file.name).read_text(), file.name)
            ends = [json.loads((f / "run.json").read_text()) for f in (first, other)]
            for end in ends:
                end.pop("command")
            self.assertEqual(*ends)

    def test_a_pair_of_nodes(self):
        self.compare([2], CONFIGS / "rdma_pair.yaml", "--append", "nodes=2 latency=4 most=4096 bandwidth=64 rate=512")

    def test_four_nodes_with_gpus(self):
        self.compare([2, 4], CONFIGS / "rdma_cluster_4.yaml")

    def test_generators(self):
        self.compare([2, 4], CONFIGS / "network_fat_tree.yaml", "--time", "200us")


if __name__ == "__main__":
    unittest.main()
