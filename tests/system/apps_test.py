# SPDX-License-Identifier: Apache-2.0
"""GPU applications as people run them: right on every stock GPU, the same when run twice, and told apart when wrong."""

import concurrent.futures
import json
import os
import pathlib
import re

import command
from command import CommandTest

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
GPUS = ("gpu", "gpu_netcrafter", "gpu_compnet")

# Sizes that take a fraction of a second; what is not named here runs with the last one.
SIZES = {
    "transpose": 128,
    "spmv": 1024,
    "stencil": 64,
    "mm": 48,
    "atax": 128,
    "mvt": 128,
    "mm2": 48,
    "syr2k": 48,
    "im2col": 2,
    "jacobi2d": 64,
    "hpgmg_like": 16,
    "pagerank": 1024,
    "mis": 1024,
    "lenet": 2,
    "locks": 128,
    "atax_wavefronts": 128,
    "mvt_wavefronts": 128,
    "mm2_tiled": 48,
    "syr2k_tiled": 48,
    "sp_like": 256,
    "euler3d_like": 512,
    "amg_like": 8,
    "lulesh_like": 5,
    "comd_like": 3,
}
DEFAULT_SIZE = 8192
SLOW = {"vgg16", "resnet18"}  # in any size
DISTRIBUTED = {"allreduce", "mm_ring", "halo"}  # over all nodes: distributed_test.py
SEVERAL = {
    "vectoradd",
    "transpose",
    "fir",
    "spmv",
    "reduction",
    "histogram",
    "stencil",
    "mm",
    "gups",
    "bitonicsort",
    "locks",
}

LOSSES = """
  faults:
    - {when: kernels, at: 0 us, target: gpu0.link, kind: drop, flow: posted, count: 1000000}
"""


def statistics(folder):
    return json.loads((folder / "stats.json").read_text())


def without_wall_time(values):
    return {
        path: value
        for path, value in values.items()
        if not path.startswith("sim.wall") and not path.startswith("sim.speed")
    }


class Apps(CommandTest):
    def names(self):
        lines = self.succeed("apps").text.splitlines()
        self.assertRegex(lines[0], r"^name +default size +counts +device MiB +what it does$")
        end = lines.index("")
        self.assertRegex(lines[end + 1], r"^--option of +key +min +max +default +what it does$")
        names = [line.split()[0] for line in lines[1:end]]
        self.assertLessEqual({line.split()[0] for line in lines[end + 2 :]}, set(names))
        return names

    def run_app(self, config, name, *more, out=None, size=None):
        folder = out or f"{config}.{name}"
        size = size or SIZES.get(name, DEFAULT_SIZE)
        result = self.run_command(
            "run", CONFIGS / f"{config}.yaml", "--app", name, "--size", size, "--out", folder, *more
        )
        return result, self.folder / folder

    def test_the_check_of_mm_does_not_repeat_its_products(self):
        """Products with a random vector: the host's work grows with the elements, 16 times, not 64 times."""
        instructions = {}
        for size in 64, 256:
            result, folder = self.run_app("gpu", "mm", size=size, out=f"mm{size}")
            self.assertEqual(result.returncode, 0, result.errors)
            instructions[size] = statistics(folder)["node0.host.hart0.instructions"]
        self.assertLess(instructions[256], 20 * instructions[64])

    def test_every_app_on_every_gpu(self):
        names = self.names()
        self.assertGreaterEqual(set(names), SEVERAL | SLOW)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = {
                (c, n): pool.submit(self.run_app, c, n)
                for c in GPUS
                for n in names
                if n in SEVERAL or (c == "gpu" and n not in SLOW | DISTRIBUTED)
            }
        for (config, name), run in runs.items():
            with self.subTest(config=config, app=name):
                result, folder = run.result()
                self.assertEqual(result.returncode, 0, result.text + result.errors)
                self.assertRegex(result.text, rf"(?m)^{name} +ok\r?$")
                self.assertRegex(result.text, r"(?m)^# kernels time_us=[1-9]")
                self.assertIn("kernels", {r["label"] for r in json.loads((folder / "regions.json").read_text())})
                values = statistics(folder)
                self.assertEqual(values["app.ok"], 1)
                for figure in "wavefront_instructions", "l1.transactions":
                    self.assertGreater(values[f"node0.gpu0.{figure}"], 0)
                for stage in "doorbell_to_launch", "launch_to_start", "start_to_instruction", "doorbell_to_instruction":
                    self.assertGreater(values[f"node0.gpu0.launches.{stage}.count"], 0)

    def test_seeds_give_inputs_of_their_own(self):
        """Same seed, same bytes; without one it is 1. What an application makes is checked against its reference."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = {
                n: pool.submit(self.run_app, "gpu", n, "--seed", 7, out=f"s7.{n}")
                for n in self.names()
                if n not in SLOW | DISTRIBUTED
            }
        for name, run in runs.items():
            with self.subTest(app=name):
                self.assertEqual(run.result()[0].returncode, 0, run.result()[0].text + run.result()[0].errors)
        for name in "spmv", "gups", "pagerank":
            same = [self.run_app("gpu", name, *more, out=f"{name}{i}") for i, more in enumerate(((), ("--seed", 1)))]
            other = [runs[name].result(), self.run_app("gpu", name, "--set", "simulation.seed=7", out=f"{name}2")]
            first, again, seventh, set_so = (without_wall_time(statistics(folder)) for _, folder in same + other)
            self.assertEqual(first, again)
            self.assertEqual(seventh, set_so)
            hits = "node0.gpu0.memory.l2.bank0.hits"
            self.assertNotEqual(first[hits], seventh[hits], name)

    def test_the_gpus_differ(self):
        times = {c: statistics(self.run_app(c, "spmv", size=16384)[1])["sim.time_s"] for c in GPUS}
        self.assertEqual(len(set(times.values())), len(GPUS), times)

    def test_determinism(self):
        for name in "histogram", "locks":
            first, again = (self.run_app("gpu_compnet", name, out=f"{name}{i}") for i in range(2))
            self.assertEqual(first[0].text, again[0].text)
            self.assertEqual(without_wall_time(statistics(first[1])), without_wall_time(statistics(again[1])))

    def test_a_small_table(self):
        """Of fewer than 4,096 entries too many updates would meet: they are under way at once."""
        result, _ = self.run_app("gpu", "gups", size=1024)
        self.assertEqual(result.returncode, 0, result.text + result.errors)
        self.assertRegex(result.text, "lost +[0-5] of 512 updates")

    def test_a_wrong_result(self):
        """What the GPU writes to the host is lost on the way; signals, which are AtomicOps, come."""
        broken = self.write("broken.yaml", (CONFIGS / "gpu.yaml").read_text() + LOSSES)
        result = self.run_command("run", broken, "--app", "transpose", "--size", 128, "--out", "broken")
        self.assertEqual(result.returncode, 1, result.text + result.errors)
        self.assertEqual(statistics(self.folder / "broken")["app.ok"], 0)
        self.assertRegex(result.text, r"transpose +FAILED")

    def test_a_kernel_that_runs_too_long(self):
        """The application gives up; it does not hang."""
        folder = self.folder / "late"
        words = f"app=gups size={SIZES.get('gups', DEFAULT_SIZE)} limit=500"
        late = ("--set", "node.gpus.0.launches.software_overhead=1 s")
        result = self.run_command(
            *("run", CONFIGS / "gpu.yaml", "--firmware", "firmware:gpu_apps.elf", "--append", words, "--out", folder),
            *late,
        )
        self.assertEqual(result.returncode, 1, result.errors)
        self.assertIn("timed out", result.text)
        self.assertEqual(statistics(folder)["app.ok"], 0)

    def test_time_of_a_vendors_software(self):
        slow = self.run_app("gpu", "vectoradd", "--set", "node.gpus.0.launches.software_overhead=20 us", out="slow")[1]
        fast = self.run_app("gpu", "vectoradd", out="fast")[1]
        key = "node0.gpu0.launches.launch_to_start.min"
        self.assertEqual(statistics(slow)[key] - statistics(fast)[key], 20_000_000)

    def test_bad_input(self):
        for arguments, text in (
            (("--app", "gupz"), "--app 'gupz': there is no such application, did you mean 'gups'?"),
            (("--app", "gups", "--size", "many"), "--size 'many': must be a number from 1 to 999999999999"),
            (("--app", "gups", "--size", "0"), "--size '0': must be a number"),
            (("--app", "gups", "--size", "4294967296"), "--size 4294967296: gups takes at most 4294967040 entries"),
            (
                ("--app", "gups", "--size", "600000000"),
                "--size 600000000: gups needs 4.47 GiB of device memory, its GPUs on node0 have 4 GiB",
            ),
            (
                ("--app", "spmv", "--size", "24000", "--option", "density=1"),
                "--size 24000: spmv needs 4.29 GiB of device memory, its GPUs on node0 have 4 GiB",
            ),
            (("--app", "fir", "--initrd", "/dev/null"), "--initrd '/dev/null' has no effect: fir makes its own input"),
            (("--app", "spmv", "--initrd", "/dev/null", "--size", "5"), "--size 5 has no effect"),
            (("--app", "spmv", "--kernel", "/dev/null"), "--app goes without --kernel"),
            (("--app", "spmv", "--tohost"), "--app goes without --tohost"),
            (("--app", "spmv", "--firmware", "/dev/null"), "--app goes without --firmware"),
            (("--app", "spmv", "--append", "x"), "--app goes without --append"),
            (("--spans",), "--spans needs --out"),
            (("--gdb-nowait",), "--gdb-nowait needs --gdb"),
            (("--size", "5"), "--size needs --app"),
            (("--option", "density=1"), "--option needs --app"),
            (
                ("--app", "gups", "--option", "density=1"),
                "--option 'density': gups has no such option (allowed: atomics)",
            ),
            (("--app", "fir", "--option", "taps=5"), "--option 'taps': fir has no such option (allowed: none)"),
            (("--app", "spmv", "--option", "density"), "--option 'density': must be KEY=VALUE"),
            (("--app", "spmv", "--option", "density=1.5"), "--option density=1.5: must be a number from 1e-06 to 1"),
            (("--app", "spmv", "--option", "density=.1."), "--option density=.1.: must be a number"),
            (("--app", "spmv", "--option", "density=1e-3"), "--option density=1e-3: must be a number"),
        ):
            with self.subTest(arguments):
                result = self.run_command("run", CONFIGS / "gpu.yaml", *arguments)
                self.assertEqual(result.returncode, 2)
                self.assertIn(text, result.errors)
                self.assertEqual(len(result.errors.splitlines()), 1)

    def test_memory_of_a_sparse_matrix(self):
        """At the default density it would not fit."""
        result = self.succeed("run", "gpu", "--app", "spmv", "--size", 240000, "--option", "density=0.000001")
        self.assertRegex(result.text, r"240000 rows, 240000 columns, \d{5,6} entries")
        self.assertRegex(result.text, r"spmv +ok")

    def test_sizes_that_come_with_the_command_line_of_the_guest(self):
        """What the host cannot check (bootargs, U-Boot) the application refuses by itself; nothing to do is not
        right."""
        for words, text in (
            ("app=gups size=4294967296", "size=4294967296: gups takes 1 to 4294967040"),
            ("app=gups size=18446744073709551617", "size is no number of 64 bits"),
            ("app=vectoradd size=0", "size=0: vectoradd takes 1 to 4294967040"),
            ("app=vectoradd size=", "size is no number of 64 bits"),
            ("app=vectoradd size=12k", "size is no number of 64 bits"),
            (
                "app=gups size=600000000",
                "size=600000000: gups needs more than the 4096 MiB of device memory that there are",
            ),
            (
                "app=transpose size=65536",
                "size=65536: transpose needs more than the 4096 MiB of device memory that there are",
            ),
            (
                "app=hpgmg_like size=4000000000",
                "size=4000000000: hpgmg_like needs more than the 4096 MiB of device memory that there are",
            ),
            ("app=vectoradd size=1024 gpus=4294967297", "gpus=4294967297: this machine has 1"),
            ("app=vectoradd size=1024 limit=18446744073709551615", "limit=18446744073709551615: too long"),
        ):
            with self.subTest(words):
                result = self.run_command(
                    "run",
                    CONFIGS / "gpu.yaml",
                    "--firmware",
                    "firmware:gpu_apps.elf",
                    "--append",
                    words,
                    "--out",
                    "sizes",
                )
                self.assertEqual(result.returncode, 1, result.text + result.errors)
                self.assertIn(text + "\r\n" if "\r\n" in result.text else text + "\n", result.text)
                self.assertRegex(result.text, words.split()[0][4:] + r" +FAILED")
                self.assertEqual(statistics(self.folder / "sizes")["node0.app.ok"], 0)

    def test_a_matrix_of_the_users_own(self):
        """The Matrix Market file comes in the RAM disk, and what the application says of it is what is in it."""
        matrix = self.write(
            "m.mtx",
            "%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 4\n1 1 2.5\n2 4 -1e2\n3 1 1\n3 3 0.5\n",
        )
        result = self.succeed("run", CONFIGS / "gpu.yaml", "--app", "spmv", "--initrd", matrix, "--out", "own")
        self.assertRegex(result.text, r"matrix +3 rows, 4 columns, 4 entries")
        self.assertEqual(statistics(self.folder / "own")["node0.app.ok"], 1)
        broken = self.write("broken.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 2.5\n")
        result = self.run_command("run", CONFIGS / "gpu.yaml", "--app", "spmv", "--initrd", broken)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.text, "matrix, line [34]: ")

    def test_the_time_limit_is_no_verdict(self):
        result, folder = self.run_app("gpu", "fir", "--time", "1us")
        self.assertEqual(result.returncode, 1)
        self.assertIn("node0: application fir has not ended; the time limit was reached", result.errors)
        self.assertNotIn("app.ok", statistics(folder))

    def test_options_of_an_application(self):
        for density, entries in ((None, 10493), ("0.25", 262144)):
            result, _ = self.run_app("gpu", "spmv", *(("--option", f"density={density}") if density else ()))
            self.assertEqual(result.returncode, 0, result.text + result.errors)
            found = int(re.search(r"(\d+) entries", result.text)[1])
            self.assertAlmostEqual(found / entries, 1, delta=0.01)
        plain, folder = self.run_app("gpu", "gups", size=16384)
        self.assertRegex(plain.text, r"lost +\d+ of 2048 updates")
        self.assertEqual(statistics(folder)["node0.gpu0.memory.l2.bank0.atomics"], 0)
        atomic, folder = self.run_app("gpu", "gups", "--option", "atomics=1", size=16384)
        self.assertNotIn("lost", atomic.text)
        self.assertGreater(statistics(folder)["node0.gpu0.memory.l2.bank0.atomics"], 0)

    def test_a_machine_without_a_gpu(self):
        result = self.run_command("run", CONFIGS / "hello.yaml", "--app", "gups", "--out", "none")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.errors, "fabricvp: --app gups: node0 has no GPU\n")
        self.assertFalse((self.folder / "none").exists())
        # The firmware sees it, too.
        result = self.run_command(
            "run",
            CONFIGS / "hello.yaml",
            "--firmware",
            "firmware:gpu_apps.elf",
            "--append",
            "app=gups",
            "--out",
            "none",
        )
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.text, "no GPU|no PCIe host bridge")
        self.assertEqual(statistics(self.folder / "none")["app.ok"], 0)


if __name__ == "__main__":
    command.main()
