# SPDX-License-Identifier: Apache-2.0
"""Nodes of one to eight GPUs from YAML: the same results whatever their number, and a picture of what travelled between
them."""

import json
import os
import pathlib
import re

import command
from command import CommandTest

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
GUIDE = CONFIGS.parent / "docs" / "reference" / "fabric.md"


def machine(gpus, clusters):
    """GPUs of four compute units each; in clusters of equal size, with slow links between neighbours. 0 clusters: no
    fabric."""
    lines = [
        "node:",
        "  host: {memory: 512 MiB, hart: {clock: 4 GHz}}",
        "  pcie:",
        "    switches: [{name: switch0}]",
        "  gpus:",
    ]
    lines += ["    - {below: switch0, compute_units: 4, memory: {capacity: 1 GiB}}"] * gpus
    if clusters:
        lines += (
            ["  fabric:", "    switches:"]
            + [f"      - {{name: s{c}, cluster: {c}}}" for c in range(clusters)]
            + ["    links:"]
        )
        lines += [f"      - {{from: gpu{g}, to: s{g * clusters // gpus}}}" for g in range(gpus)]
        lines += [f"      - {{from: s{c}, to: s{c + 1}, lane_rate: 2 GB/s}}" for c in range(clusters - 1)]
    return "\n".join(lines) + "\n"


class GpuCounts(CommandTest):
    def run_app(self, config, name, size, *options):
        result = self.run_command("run", config, "--app", name, "--size", size, "--out", "out", "--quiet", *options)
        self.assertEqual(result.returncode, 0, f"{config} {name}: {result.text}{result.errors}")
        self.assertRegex(result.text.replace("\r", ""), rf"(?m)^{name} +ok$")
        return result.text.replace("\r", ""), json.loads((self.folder / "out/stats.json").read_text())

    def test_results_do_not_depend_on_the_machine(self):
        eight = self.write("eight.yaml", machine(8, 2))
        sockets = self.write("sockets.yaml", machine(8, 1))
        machines = {
            "one": (self.write("one.yaml", machine(1, 1)), 1),
            "two": (self.write("two.yaml", machine(2, 2)), 2),
            "eight": (eight, 8),
            "eight sockets": (sockets, 8),
            "numa_quad": (CONFIGS / "numa_quad.yaml", 4),
        }
        for name, size, pattern in (("mis", 2048, r"^set.*$"), ("lenet", 1, r"^loss.*$"), ("spmv", 2048, r"^spmv.*$")):
            found = {}
            for kind, (config, gpus) in machines.items():
                with self.subTest(name, machine=kind):
                    text, values = self.run_app(config, name, size)
                    found[kind] = re.findall(pattern, text, re.MULTILINE)
                    self.assertTrue(found[kind])
                    for g in range(gpus):
                        self.assertGreater(values[f"node0.gpu{g}.wavefront_instructions"], 0)
                        if gpus > 1:
                            self.assertGreater(values[f"node0.fabric.gpu{g}.link.transmitter.bytes"], 0)
                    self.assertEqual(values.get("node0.fabric.inter_cluster.flits", 0) > 0, kind in ("two", "eight"))
            self.assertEqual(len(set(map(tuple, found.values()))), 1, found)

    def test_the_example_of_the_guide(self):
        example = next(
            block for block in re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL) if "gpu7" in block
        )
        _, values = self.run_app(self.write("eight.yaml", example), "gups", 1 << 18, "--option", "atomics=1")
        self.assertTrue(all(values[f"node0.gpu{g}.fabric.other_cluster.atomics"] > 0 for g in range(8)))

    def test_gpus_that_no_fabric_links_rest(self):
        text, values = self.run_app(self.write("apart.yaml", machine(2, 0)), "transpose", 96)
        self.assertIn("only the first 1 of 2 GPUs reach each other's memory", text)
        self.assertEqual([values[f"node0.gpu{g}.wavefront_instructions"] > 0 for g in (0, 1)], [True, False])

    def test_the_topology_has_what_links_carried(self):
        self.run_app(self.write("four.yaml", machine(4, 2)), "transpose", 192)
        fabric = self.fabric()
        whole, kernels = fabric["traffic"]
        self.assertEqual((whole["region"], kernels["region"], kernels["regions"]), (None, "kernels", 1))
        region = json.loads((self.folder / "out/regions.json").read_text())
        self.assertEqual([r["label"] for r in region], ["kernels"])
        values, passed = region[0]["statistics"], region[0]["to_s"] - region[0]["from_s"]
        self.assertAlmostEqual(kernels["seconds"], passed, delta=1e-12)
        carried = {
            direction["port"]: traffic
            for link, both in zip(fabric["links"], kernels["links"])
            for direction, traffic in zip(link["directions"], both)
        }
        self.assertEqual(len(carried), 2 * 5)
        for port in ("s0.to_s1", "s1.to_s0", "gpu2.link", "s1.to_gpu2"):
            with self.subTest(port):
                path = f"node0.fabric.{port}"
                self.assertGreater(values[f"{path}.transmitter.bytes"], 0)
                self.assertEqual(carried[path]["bytes"], values[f"{path}.transmitter.bytes"])
                self.assertEqual(
                    carried[path]["flits"],
                    sum(v for p, v in values.items() if re.fullmatch(re.escape(path) + r"\.sent\.\w+_re\w+\.flits", p)),
                )
                self.assertAlmostEqual(
                    carried[path]["busy"], values[f"{path}.transmitter.busy"] / 1e12 / passed, delta=1e-9
                )

    def fabric(self):
        topology = json.loads((self.folder / "out/topology.json").read_text())
        self.assertEqual(len(topology["nodes"]), 1)
        return topology["nodes"][0].get("fabric")

    def test_no_fabric_in_the_topology(self):
        self.run_app(CONFIGS / "gpu.yaml", "transpose", 96)
        self.assertIsNone(self.fabric())


if __name__ == "__main__":
    command.main()
