# SPDX-License-Identifier: Apache-2.0
"""Two nodes of four GPUs each with everything at work, without U-Boot."""

import json
import os
import pathlib

import command
from command import CommandTest
from fabricvp.guest_results import result_lines

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
SMALL = "entries=16384 size=1024 bytes=16384 messages=64 rows=16 columns=64 iterations=3"


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
            for part in "gups", "spmv", "exchange", "writes", "jacobi":
                self.assertRegex(self.console("once", node), rf"(?m)^{part} +ok$")
        self.assert_same_statistics("once", "again")
        for name, unit, size in ("gups", "entries", 16384), ("spmv", "rows", 1024):
            lines = result_lines(self.console("once", 0), name)
            self.assertEqual({(line[unit], line["gpus"]) for line in lines}, {(size, 4)})
            settings = {line["links"]: line["time_ns"] for line in lines}
            self.assertEqual(list(settings), ["plain", "netcrafter", "lanes", "netcrafter_lanes"])
            self.assertNotEqual(settings["plain"], settings["netcrafter"])  # what registers say is what links do
        lines = result_lines(self.console("once", 0), "exchange")
        self.assertEqual([line["order"] for line in lines], ["natural", "best"])
        self.assertEqual({(line["gpus"], line["bytes"]) for line in lines}, {(4, 16384)})
        values = json.loads((self.folder / "once" / "stats.json").read_text())
        self.assertGreater(values["network.packets.sent"], 0)
        self.assertEqual(values["network.packets.delivered"], values["network.packets.sent"])
        for node in range(2):
            self.assertEqual(values[f"node{node}.fabric.packets_in_flight"], 0)

    def test_orders_of_an_exchange(self):
        """The same bytes in orders that the congestion model tells apart take times in that order."""
        result = self.run_cluster(
            "out", "entries=0 size=0 messages=0 iterations=0 bytes=262144 best=123230301012 worst=321320310120"
        )
        self.assertEqual(result.returncode, 0, result.text + result.errors)
        times = {line["order"]: line["time_ps"] for line in result_lines(self.console("out", 0), "exchange")}
        self.assertLess(times["best"] * 1.2, times["natural"])
        self.assertLess(times["natural"], times["worst"])

    def test_what_firmware_sets_is_what_links_do(self):
        """NetCrafter's controllers cut nothing and lanes stay unless firmware lets them, although the configuration
        does."""
        result = self.run_cluster(
            "out", "entries=0 size=4096 bytes=0 messages=0 iterations=0", "node.fabric.links.4.reversible.threshold=0.3"
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
        """Links that have neither are told, and nothing is updated or multiplied."""
        result = self.run_cluster(
            "out",
            "entries=16384 size=1024 bytes=0 messages=0 iterations=0",
            *(
                f"node.fabric.switches.*.stage.{key}"
                for key in ("stitching=false", "trimming=false", "pooling=none", "sequencing=none")
            ),
            "node.fabric.links.4.reversible.policy=none",
        )
        self.assertEqual(result.returncode, 1, result.text)
        for name in "gups", "spmv":
            self.assertIn(f"{name}: the links between the GPUs cannot be set", self.console("out", 0))

    def test_training(self):
        """Two nodes train one network on images of their own: the host finds the last loss, it fell as the sum of both
        gradients says, and both have the same parameters, with each backend."""
        for backend, placement in ("gpu_native", "gpu"), ("hdn", "host"):
            result = self.run_cluster(
                "out",
                f"work=training rows=2 columns=16 steps=2 placement={placement} scheme={backend}",
                "node.host.harts=2",
            )
            self.assertEqual(result.returncode, 0, result.text + result.errors)
            for node in range(2):
                self.assertRegex(
                    self.console("out", node),
                    r"\ndrop       \d+ % of rate times squared gradient\n# iterate .*\ntraining   ok\n",
                )
                (line,) = result_lines(self.console("out", node), "iterate")
                self.assertEqual([line[key] for key in ("work", "backend", "steps")], ["training", backend, 2])
                self.assertGreater(line["time_ps"], line["computing_time_ps"])
                self.assertGreater(line["computing_time_ps"], 0)

    def test_invalid_options_are_reported(self):
        for options, words in (
            ("best=123", "best=123 is no order of 4 GPUs' messages"),
            ("best=123023013022", "is no order"),
            ("bytes=1000", "bytes=1000: messages of whole pages"),
            ("scheme=cpu", "scheme=cpu: one of compnet, ghn, gpu_native, hdn"),
            ("scheme=3", "scheme=3 is now scheme=hdn"),
            ("scheme=5", "scheme=5: one of compnet, ghn, gpu_native, hdn"),
            ("work=3", "work=3 is now work=training"),
            ("placement=2", "placement=2 is now placement=host"),
            ("policy=milic", "policy=milic: one of fixed, milic2017, symmetric, predictive"),
            ("parts=3", "parts=3 is now netcrafter=stitching,trimming"),
            ("parts=0", "parts=0 is now netcrafter=none"),
            ("netcrafter=27", "netcrafter=27 is now netcrafter=stitching,trimming,selective_pooling,sequencing"),
            ("netcrafter=stitching,", "netcrafter=stitching,: one or more of stitching, trimming, pooling, "),
            ("settings=12", "settings=12 is now link_modes=lanes,netcrafter_lanes"),
            ("link_modes=none", "link_modes=none: one or more of plain, netcrafter, lanes, netcrafter_lanes, with"),
            ("rows=10 groups=4", "rows=10: a multiple of groups=4"),
            ("work=spmv rows=48", "rows=48: a multiple of 32"),
            ("work=jacobi threads=2", "threads=2: 1 at most"),
            ("work=training steps=8", "steps=8: 7 at most, of training"),
        ):
            with self.subTest(options):
                self.assert_rejected(self.run_cluster("out", f"entries=0 size=0 messages=0 {options}"), words)


if __name__ == "__main__":
    command.main()
