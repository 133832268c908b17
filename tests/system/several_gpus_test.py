# SPDX-License-Identifier: Apache-2.0
"""The result of every application on one, two and four GPUs."""

import json
import os
import pathlib

import command
from command import CommandTest

QUAD = pathlib.Path(os.environ["FABRICVP_CONFIGS"]) / "netcrafter_quad.yaml"
#: sizes of a fraction of a second, several of them no multiple of a work-group
SMALL = {
    "vectoradd": 5000,
    "transpose": 96,
    "fir": 5000,
    "spmv": 1500,
    "reduction": 50000,
    "histogram": 50000,
    "stencil": 60,
    "mm": 48,
    "gups": 65536,
    "bitonicsort": 4096,
    "atax": 520,
    "mvt": 520,
    "mm2": 45,
    "syr2k": 45,
    "im2col": 2,
    "jacobi2d": 100,
    "hpgmg_like": 16,
    "sp_like": 400,
    "euler3d_like": 1024,
    "amg_like": 8,
    "lulesh_like": 8,
    "comd_like": 3,
    "pagerank": 1000,
    "mis": 1024,
    "lenet": 1,
    "vgg16": 1,
    "resnet18": 1,
    "atax_wavefronts": 130,
    "mvt_wavefronts": 130,
    "mm2_tiled": 64,
    "syr2k_tiled": 64,
    "locks": 128,
}
ON_ALL = {"allreduce", "mm_ring", "halo"}  # take no number of GPUs: distributed_test.py runs them
GROUPS = {"locks": 2, "atax": 3, "mvt": 3}  # work-groups where they are fewer than GPUs
SLOW = {"vgg16", "resnet18"}  # in any size: on four GPUs only


class SeveralGpus(CommandTest):
    def run_on(self, name, gpus):
        result = self.run_command(
            "run",
            QUAD,
            "--app",
            name,
            "--size",
            SMALL[name],
            "--gpus",
            gpus,
            "--placement",
            "lasp",
            "--dispatch",
            "lasp",
            "--out",
            "out",
            "--quiet",
            timeout=500,
        )
        self.assertEqual(result.returncode, 0, f"{name} on {gpus}: {result.text}{result.errors}")
        self.assertRegex(result.text.replace("\r\n", "\n"), rf"(?m)^{name} +ok$")
        values = json.loads((self.folder / "out/stats.json").read_text())
        self.assertEqual(values["app.ok"], 1)
        worked = [values[f"node0.gpu{g}.wavefront_instructions"] > 0 for g in range(4)]
        self.assertEqual(sum(worked[gpus:]), 0)
        self.assertEqual(sum(worked), min(gpus, GROUPS.get(name, gpus)))
        if gpus == 4:
            self.assertGreater(values["node0.fabric.cluster0.packets"], 0)
        measured = json.loads((self.folder / "out/regions.json").read_text())
        copied = [r["statistics"][f"node0.gpu{g}.host_interface.sdma.bytes_copied"] for r in measured for g in range(4)]
        self.assertEqual(sum(copied), 0)  # inputs and kernels are there before time is taken

    def test_every_application_has_a_size_here(self):
        lines = self.succeed("apps").text.splitlines()
        self.assertEqual({line.split()[0] for line in lines[1 : lines.index("")]}, set(SMALL) | ON_ALL)

    def test_on_one(self):
        for name in SMALL.keys() - SLOW:
            with self.subTest(name):
                self.run_on(name, 1)

    def test_on_two(self):
        for name in SMALL.keys() - SLOW:
            with self.subTest(name):
                self.run_on(name, 2)

    def test_on_four(self):
        for name in SMALL:
            with self.subTest(name):
                self.run_on(name, 4)

    def test_code_of_kernels_crosses_no_link(self):
        self.succeed("run", QUAD, "--app", "bitonicsort", "--size", 4096, "--placement", "lasp", "--dispatch", "lasp",
                     "--out", "out", "--quiet")  # fmt: skip
        values = json.loads((self.folder / "out/stats.json").read_text())
        first = [values[f"node0.gpu{g}.launches.start_to_instruction.max"] for g in range(4)]
        self.assertEqual(first, 4 * first[:1])


if __name__ == "__main__":
    command.main()
