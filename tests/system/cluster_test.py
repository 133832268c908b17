# SPDX-License-Identifier: Apache-2.0
"""Two nodes of four GPUs each with everything at work, without U-Boot."""

import json
import os
import pathlib
import re

import command
from command import CommandTest

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
SMALL = "nodes=2 size=1024 bytes=16384 messages=64 rows=16 columns=64 iterations=3"


class Cluster(CommandTest):
    def run_cluster(self, folder, options, *more):
        settings = [
            part
            for setting in ("node.images.firmware=firmware:cluster.elf", f"node.images.append={options}", *more)
            for part in ("--set", setting)
        ]
        return self.run_command("run", CONFIGS / "cluster.yaml", *settings, "--out", folder)

    def console(self, folder, node):
        return (self.folder / folder / f"console.node{node}.log").read_text()

    def test_all_parts(self):
        """All parts on both nodes, and the same again."""
        for folder in "once", "again":
            result = self.run_cluster(folder, SMALL + " best=123023013012")
            self.assertEqual(result.returncode, 0, result.text + result.errors)
        for node in range(2):
            for part in "spmv", "exchange", "writes", "jacobi":
                self.assertRegex(self.console("once", node), rf"(?m)^{part} +ok$")
        self.assertRegex(self.succeed("diff", "once", "again").text, r"0 of \d+ statistics differ")
        settings = {
            name: int(ns)
            for name, ns in re.findall(r"(?m)^# spmv 1024 rows 4 gpus (\w+) (\d+) ns$", self.console("once", 0))
        }
        self.assertEqual(list(settings), ["plain", "netcrafter", "lanes", "netcrafter_lanes"])
        self.assertNotEqual(settings["plain"], settings["netcrafter"])  # what registers say is what links do
        orders = re.findall(r"(?m)^# exchange 4 gpus 16384 bytes (\w+) order \d+ ps$", self.console("once", 0))
        self.assertEqual(orders, ["natural", "best"])
        values = json.loads((self.folder / "once" / "stats.json").read_text())
        self.assertGreater(values["network.packets.sent"], 0)
        self.assertEqual(values["network.packets.delivered"], values["network.packets.sent"])
        for node in range(2):
            self.assertEqual(values[f"node{node}.fabric.packets_in_flight"], 0)

    def test_orders_of_an_exchange(self):
        """The same bytes in orders that the congestion model tells apart take times in that order."""
        result = self.run_cluster(
            "out", "nodes=2 size=0 messages=0 iterations=0 bytes=262144 best=123230301012 worst=321320310120"
        )
        self.assertEqual(result.returncode, 0, result.text + result.errors)
        times = {
            name: int(ps)
            for name, ps in re.findall(r"(?m)^# exchange .* (\w+) order (\d+) ps$", self.console("out", 0))
        }
        self.assertLess(times["best"] * 1.2, times["natural"])
        self.assertLess(times["natural"], times["worst"])

    def test_what_firmware_sets_is_what_links_do(self):
        """NetCrafter's controllers cut nothing and lanes stay unless firmware lets them, although the configuration
        does."""
        result = self.run_cluster(
            "out", "nodes=2 size=4096 bytes=0 messages=0 iterations=0", "node.fabric.links.4.reversible.threshold=0.3"
        )
        self.assertEqual(result.returncode, 0, result.text + result.errors)
        regions = json.loads((self.folder / "out" / "regions.json").read_text())
        for node in range(2):
            kernels = [r["statistics"] for r in regions if r["node"] == node and r["label"] == "kernels"]
            self.assertEqual(len(kernels), 4)
            self.assertEqual(
                [
                    sum(v for k, v in s.items() if k.startswith(f"node{node}.") and k.endswith("_egress.trimmed")) > 0
                    for s in kernels
                ],
                [False, True, False, True],
            )
            self.assertEqual(
                [s[f"node{node}.fabric.lanes_cluster0_cluster1.reversals"] > 0 for s in kernels],
                [False, False, True, True],
            )

    def test_without_anything_to_set(self):
        """Links that have neither are told, and nothing is multiplied."""
        result = self.run_cluster(
            "out",
            "nodes=2 size=1024 bytes=0 messages=0 iterations=0",
            *(
                f"node.fabric.switches.*.netcrafter.{key}"
                for key in ("stitching=false", "trimming=false", "pooling=none", "sequencing=none")
            ),
            "node.fabric.links.4.reversible.policy=none",
        )
        self.assertEqual(result.returncode, 1, result.text)
        self.assertIn("spmv: the links between the GPUs cannot be set", self.console("out", 0))

    def test_training(self):
        """Two nodes train one network on images of their own: the host finds the last loss, it fell as the sum of both
        gradients says, and both have the same parameters, whoever gives the gradients."""
        for backend in 2, 3:
            result = self.run_cluster(
                "out",
                f"nodes=2 work=3 rows=2 columns=16 steps=2 placement={backend - 1} scheme={backend}",
                "node.host.harts=2",
            )
            self.assertEqual(result.returncode, 0, result.text + result.errors)
            for node in range(2):
                self.assertRegex(
                    self.console("out", node),
                    r"\ndrop       \d+ % of rate times squared gradient\n# training \w+ 2 steps [1-9]\d+ ps, computing"
                    r" [1-9]\d+ ps\ntraining   ok\n",
                )

    def test_invalid_options_are_reported(self):
        for options, words in (
            ("best=123", "best=123 is no order of 4 GPUs' messages"),
            ("best=123023013022", "is no order"),
            ("bytes=1000", "bytes=1000: messages of whole pages"),
            ("scheme=4", "scheme=4: 3 at most"),
            ("rows=10 groups=4", "rows=10: a multiple of groups=4"),
            ("work=2 rows=48", "rows=48: a multiple of 32"),
            ("work=1 threads=2", "threads=2: 1 at most"),
            ("work=3 steps=8", "steps=8: 7 at most, of training"),
        ):
            with self.subTest(options):
                self.assert_rejected(self.run_cluster("out", f"nodes=2 size=0 messages=0 {options}"), words)


if __name__ == "__main__":
    command.main()
