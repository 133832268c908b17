# SPDX-License-Identifier: Apache-2.0
"""Networking from inside of kernels, whoever performs it."""

import json
import os
import pathlib
import re

import command
from command import CommandTest

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])
SCHEMES = {"processor": 0, "host": 1, "native": 2}


class Compnet(CommandTest):
    def echo(self, folder, *options):
        return self.run_command("run", CONFIGS / "compnet_pair.yaml", "--append", " ".join(("nodes=2", *options)), "--out", folder)

    def consoles(self, folder):
        return [(self.folder / folder / f"console.node{i}.log").read_text() for i in range(2)]

    def statistics(self, folder):
        return json.loads((self.folder / folder / "stats.json").read_text())

    def served(self, values, scheme):
        """Instructions of the threads that could serve."""
        hart = "node0.gpu0.processor.hart0" if scheme == "processor" else "node0.host.hart1"
        return values[f"{hart}.instructions"]

    def test_every_scheme(self):
        """Messages of all sizes there and back, every byte checked, by whoever serves; only the one who should does."""
        for scheme, number in SCHEMES.items():
            result = self.echo(scheme, f"scheme={number}", "rounds=4", "most=8192")
            self.assertEqual(result.returncode, 0, result.text)
            for text in self.consoles(scheme):
                self.assertEqual([line for line in text.splitlines() if not line.startswith("# ")][1:], ["echo       ok", "all ok, powering off"])
            measured = re.findall(rf"^# echo {scheme} 1 threads 1 groups (\d+) bytes (\d+) ps", self.consoles(scheme)[0], re.MULTILINE)
            self.assertEqual([int(size) for size, _ in measured], [8 << i for i in range(11)])
            times = [int(ps) for _, ps in measured]
            self.assertLess(times[0], times[1])  # 8 bytes travel in the request
            self.assertLess(times[1], times[-1])
            values = self.statistics(scheme)
            for n in (0, 1):
                self.assertEqual(values[f"node{n}.hca0.retries"], 0)
                self.assertEqual(values[f"node{n}.hca0.bad_doorbells"], 0)
        machines = {(self.folder / scheme / "config.resolved.yaml").read_text().replace(f"scheme={number}", "scheme") for scheme, number in SCHEMES.items()}
        self.assertEqual(len(machines), 1)  # who serves is an option of the program, and nothing else differs
        quiet = self.statistics("native")
        self.assertGreater(self.served(self.statistics("processor"), "processor"), 10 * self.served(quiet, "processor"))
        self.assertGreater(self.served(self.statistics("host"), "host"), 100)
        for scheme in "processor", "native":
            self.assertEqual(self.served(self.statistics(scheme), "host"), 0)

    def test_many_work_groups_and_threads(self):
        for scheme in "processor", "host":
            result = self.echo(scheme, f"scheme={SCHEMES[scheme]}", "groups=13", "threads=2", "rounds=4", "least=64", "most=64", "entries=1")
            self.assertEqual(result.returncode, 0, result.text)
            self.assertRegex(self.consoles(scheme)[0], rf"# echo {scheme} 2 threads 13 groups 64 bytes \d+ ps")
        self.echo("again", "scheme=0", "groups=13", "threads=2", "rounds=4", "least=64", "most=64", "entries=1")
        self.assertRegex(self.succeed("diff", "processor", "again").text, r"0 of \d+ statistics differ")

    def test_a_request_that_fails(self):
        """The kernel that asked hears why (the responder's refusal); the one that waits gives up; nothing hangs."""
        for scheme, number in SCHEMES.items():
            for size in 8, 64:
                result = self.echo("out", f"scheme={number}", "astray=1", f"least={size}", f"most={size}")
                self.assertEqual(result.returncode, 1, result.text)
                mine, other = self.consoles("out")
                self.assertIn("work-group 0: request failed in round 1, status 0x113", mine)
                self.assertIn("work-group 0: request failed in round 1, status 0x100", other)

    def test_jacobi(self):
        """Every scheme solves to the bit what CPUs solve; who performs the network has its time to show for it."""
        time = {}
        for scheme, number in {**SCHEMES, "driven": 3}.items():
            result = self.echo(scheme, "work=1", f"scheme={number}", "rows=48", "columns=64", "groups=6", "iterations=7")
            self.assertEqual(result.returncode, 0, result.text)
            for text in self.consoles(scheme):
                self.assertEqual([line for line in text.splitlines() if not line.startswith("# ")][1:], ["jacobi     ok", "all ok, powering off"])
            found = re.findall(r"^# jacobi (\w+) 48 rows 64 columns 7 iterations (\d+) ps", self.consoles(scheme)[0], re.MULTILINE)
            self.assertEqual([name for name, _ in found], ["cpu", scheme])
            time[scheme] = int(found[1][1])
        self.echo("launch", "work=1", "scheme=3", "rows=48", "columns=64", "groups=6", "iterations=7", "driver=20")
        slow = int(re.search(r"# jacobi driven .* (\d+) ps", self.consoles("launch")[0])[1])
        self.assertAlmostEqual((slow - time["driven"]) / 7e6, 20, delta=1)  # a launch each iteration

    def test_what_cannot_be_is_said(self):
        for options, words in ("threads=9", "threads=9: 8 at most"), ("scheme=3", "scheme=3: 2 at most"), ("work=1 rows=10 groups=4", "rows a multiple of groups"), ("least=24", "least=24: a power of two"), ("threads=3", "hart 2"):
            result = self.echo("out", options)
            self.assertEqual(result.returncode, 1, result.text)
            self.assertIn(words, result.text)


if __name__ == "__main__":
    command.main()
