# SPDX-License-Identifier: Apache-2.0
"""GPU workloads at small sizes: right on one GPU and on several, whatever the policies for pages and work-groups."""

import json
import os
import pathlib
import re

import command
from command import CommandTest

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
QUAD = CONFIGS / "netcrafter_quad.yaml"
SMALL = {"gups": 16384, "spmv": 2048, "pagerank": 1024, "mis": 1024, "syr2k": 48, "im2col": 2, "bitonicsort": 1024, "transpose": 96,
         "mm2": 48, "reduction": 50000, "atax": 130, "mvt": 130, "jacobi2d": 100, "hpgmg_like": 16}


class Workloads(CommandTest):
    def run_app(self, config, name, *options, size=None):
        result = self.run_command("run", config, "--app", name, "--size", size or SMALL[name], "--out", "out", "--quiet", *options)
        self.assertEqual(result.returncode, 0, f"{name} {options}: {result.text}{result.errors}")
        text = result.text.replace("\r\n", "\n")
        self.assertRegex(text, rf"(?m)^{name} +ok$")
        values = json.loads((self.folder / "out/stats.json").read_text())
        self.assertEqual(values["app.ok"], 1)
        return text, values

    def test_every_workload_on_one_gpu(self):
        for name in SMALL:
            with self.subTest(name):
                text, _ = self.run_app(CONFIGS / "gpu.yaml", name)
                self.assertRegex(text, r"# kernels \d+ us")

    def test_workloads_on_several_gpus(self):
        for name in ("gups", "pagerank", "mis", "transpose", "hpgmg_like"):
            for gpus in (2, 4):
                with self.subTest(name, gpus=gpus):
                    _, values = self.run_app(QUAD, name, "--gpus", gpus)
                    self.assertGreater(values["node0.fabric.cluster0.packets"], 0)
                    worked = [values[f"node0.gpu{g}.wavefront_instructions"] > 0 for g in range(4)]
                    self.assertEqual(worked, [g < gpus for g in range(4)])

    def test_the_measured_part_has_statistics_of_its_own(self):
        text, _ = self.run_app(CONFIGS / "gpu.yaml", "transpose")
        regions = json.loads((self.folder / "out/regions.json").read_text())
        self.assertEqual([r["label"] for r in regions], ["kernels"])
        kernels = regions[0]
        self.assertAlmostEqual((kernels["to_s"] - kernels["from_s"]) * 1e6, int(re.search(r"# kernels (\d+) us", text)[1]), delta=2)
        # 36 work-groups of four wavefronts, none of those that fill or check.
        self.assertEqual(kernels["statistics"]["node0.gpu0.dispatcher.work_groups"], 36)

    def test_the_number_of_gpus_changes_no_bit(self):
        """Size and rounds of the set depend on every state of every vertex, losses on every weight."""
        for name, size, pattern in (("mis", 4096, r"^set.*$"), ("lenet", 1, r"^loss.*$")):
            found = set()
            for gpus in (1, 3, 4):
                text, _ = self.run_app(QUAD, name, "--gpus", gpus, size=size)
                found.add("".join(re.findall(pattern, text, re.MULTILINE)))
            self.assertEqual(len(found), 1, found)
            self.assertNotIn("", found)

    def test_policies(self):
        shares = {}
        for placement in ("contiguous", "interleaved", "lasp", "first_touch"):
            for dispatch in ("contiguous", "round_robin", "lasp"):
                with self.subTest(placement, dispatch=dispatch):
                    _, values = self.run_app(QUAD, "jacobi2d", "--placement", placement, "--dispatch", dispatch)
                    shares[placement, dispatch] = values["node0.fabric.cluster0.to_cluster1.sent.packets"]
        # Contiguous pages beside contiguous work-groups leave little for the link between the clusters.
        self.assertLess(shares["contiguous", "contiguous"] * 2, shares["interleaved", "contiguous"])
        self.assertLess(shares["contiguous", "contiguous"] * 2, shares["contiguous", "round_robin"])

    def test_first_touch_moves_pages(self):
        _, values = self.run_app(QUAD, "transpose", "--placement", "first_touch", "--dispatch", "round_robin")
        self.assertGreater(sum(values[f"node0.gpu{g}.memory.gmmu.demands"] for g in range(4)), 0)

    def test_a_number_of_gpus_that_is_not_there(self):
        result = self.run_command("run", CONFIGS / "gpu.yaml", "--app", "transpose", "--gpus", 2, "--quiet")
        self.assertEqual(result.returncode, 1)
        self.assertIn("gpus=2: this machine has 1", result.text)

    def test_options_that_make_no_sense(self):
        for options, wrong in ((("--placement", "near"), "--placement 'near'"), (("--dispatch", "first_touch"), "--dispatch 'first_touch'"),
                               (("--gpus", "0"), "--gpus '0'"), (("--gpus", "x"), "--gpus 'x'")):
            with self.subTest(options):
                result = self.run_command("run", QUAD, "--app", "gups", *options)
                self.assertEqual(result.returncode, 2)
                self.assertIn(wrong, result.errors)
                self.assertEqual(len(result.errors.splitlines()), 1)


if __name__ == "__main__":
    command.main()
