# SPDX-License-Identifier: Apache-2.0
"""GPU workloads at small sizes: right on one GPU and on several, whatever the policies for pages and work-groups."""

import json
import os
import pathlib
import re

import command
from command import CommandTest
from fabricvp.guest_results import result_lines

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
QUAD = CONFIGS / "netcrafter_quad.yaml"
SMALL = {"transpose": 96, "jacobi2d": 100, "mm2": 256, "sp_like": 1024}


class Workloads(CommandTest):
    def run_app(self, config, name, *options, size=None):
        result = self.run_command(
            "run",
            config,
            "--app",
            name,
            "--size",
            size or SMALL[name],
            "--out",
            "out",
            "--quiet",
            *options,
            timeout=300,
        )
        self.assertEqual(result.returncode, 0, f"{name} {options}: {result.text}{result.errors}")
        text = result.text.replace("\r\n", "\n")
        self.assertRegex(text, rf"(?m)^{name} +ok$")
        values = json.loads((self.folder / "out/stats.json").read_text())
        self.assertEqual(values["app.ok"], 1)
        return text, values

    def test_the_measured_part_has_statistics_of_its_own(self):
        text, _ = self.run_app(CONFIGS / "gpu.yaml", "transpose")
        regions = json.loads((self.folder / "out/regions.json").read_text())
        self.assertEqual([r["label"] for r in regions], ["kernels"])
        kernels = regions[0]
        self.assertAlmostEqual(
            (kernels["to_s"] - kernels["from_s"]) * 1e6, result_lines(text, "kernels")[0]["time_us"], delta=2
        )
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
        self.assertGreater(sum(values[f"node0.gpu{g}.memory.gmmu.demand_faults"] for g in range(4)), 0)

    def test_the_old_name_of_a_placement(self):
        result = self.run_command("run", QUAD, "--app", "sp_like", "--placement", "first_touch_settled")
        self.assertEqual(result.returncode, 2, result.text)
        self.assertEqual(result.errors, "fabricvp: --placement first_touch_settled is now first_touch_recorded\n")

    def test_recorded_pages_do_not_move(self):
        """The pass that places pages is not measured, and leaves them where they were touched first."""
        _, moving = self.run_app(QUAD, "sp_like", "--placement", "first_touch")
        kernels = json.loads((self.folder / "out/regions.json").read_text())[0]
        text, settled = self.run_app(QUAD, "sp_like", "--placement", "first_touch_recorded")
        # The same kernels in the same time, to what is printed: whole microseconds of a clock that ticks every 100 ns.
        # A measured pass prints up to one more, since it marks its region between two readings of the clock.
        placement_pass = result_lines(text, "placement_pass")[0]
        late = (kernels["to_s"] - kernels["from_s"]) * 1e6 - placement_pass["time_us"]
        self.assertTrue(-0.2 < late < 1.2, late)
        self.assertGreater(sum(moving.get(f"node0.gpu{g}.memory.gmmu.demand_faults", 0) for g in range(4)), 0)
        regions = json.loads((self.folder / "out/regions.json").read_text())
        self.assertEqual([r["label"] for r in regions], ["kernels"])
        self.assertEqual(
            sum(regions[0]["statistics"].get(f"node0.gpu{g}.memory.gmmu.demand_faults", 0) for g in range(4)), 0
        )
        remote = [
            sum(
                values[f"node0.gpu{g}.fabric.{place}.reads"]
                for g in range(4)
                for place in ("same_cluster", "other_cluster")
            )
            for values in (settled, moving)
        ]
        self.assertAlmostEqual(remote[0] / remote[1], 1, delta=0.5)

    def test_narrow_columns_fall_to_all_gpus(self):
        """The second factors of mm2 and transpose's output are bound to columns, whose rows are shorter than a page
        here: they are spread over all GPUs, not heaped on the first."""
        for name, served in (("mm2_tiled", "incoming_reads"), ("transpose", "incoming_writes")):
            _, values = self.run_app(QUAD, name, "--placement", "lasp", "--dispatch", "lasp", size=256)
            of_each = [values[f"node0.gpu{g}.fabric.{served}"] for g in range(4)]
            self.assertLess(max(of_each), 2 * min(of_each), f"{name}: {of_each}")

    def test_tlbs_are_empty_when_the_measured_part_begins(self):
        """Filling the buffers has touched every page; each GPU walks for its own again."""
        for placement in ("contiguous", "lasp", "interleaved"):
            self.run_app(QUAD, "jacobi2d", "--placement", placement, size=512)
            kernels = json.loads((self.folder / "out/regions.json").read_text())[0]["statistics"]
            for gpu in range(4):
                self.assertGreaterEqual(kernels[f"node0.gpu{gpu}.memory.gmmu.walks"], 2 * 512 * 512 * 4 / 4096 / 4)

    def test_a_number_of_gpus_that_is_not_there(self):
        result = self.run_command("run", CONFIGS / "gpu.yaml", "--app", "transpose", "--gpus", 2, "--quiet")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--gpus 2", result.errors)

    def test_options_that_make_no_sense(self):
        for options, wrong in (
            (("--placement", "near"), "--placement 'near'"),
            (("--dispatch", "first_touch"), "--dispatch 'first_touch'"),
            (("--gpus", "0"), "--gpus '0'"),
            (("--gpus", "x"), "--gpus 'x'"),
        ):
            with self.subTest(options):
                result = self.run_command("run", QUAD, "--app", "gups", *options)
                self.assertEqual(result.returncode, 2)
                self.assertIn(wrong, result.errors)
                self.assertEqual(len(result.errors.splitlines()), 1)


if __name__ == "__main__":
    command.main()
