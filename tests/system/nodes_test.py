# SPDX-License-Identifier: Apache-2.0
"""Machines of several nodes: each with software and an end and a console of its own."""

import json
import os
import pathlib

import command
from command import DRAM, FINISHER, FOREVER, RESET, CommandTest, elf, finish, li, load_byte, print_text, store

TWO_NODES = pathlib.Path(os.environ["FABRICVP_CONFIGS"]) / "two_nodes.yaml"


def wait(iterations):
    """Some two instructions a turn."""
    return li(7, iterations) + command._word(0xFFF38393) + command._word(0xFE039EE3)


def statistics(folder):
    return json.loads((folder / "stats.json").read_text())


class Nodes(CommandTest):
    def nodes(self, *programs, more=""):
        """A configuration with a program for each node."""
        items = []
        for i, code in enumerate(programs):
            self.write(f"guest{i}.elf", elf(code))
            items.append(f"  - images: {{firmware: guest{i}.elf}}\n")
        return self.write("nodes.yaml", "nodes:\n" + "".join(items) + more)

    def test_the_shipped_machine(self):
        result = self.succeed("run", TWO_NODES, "--out", "out")
        self.assertIn("all ok, powering off", result.text)
        self.assertIn("node0 powered off; node1 powered off", result.errors)
        self.assertRegex((self.folder / "out/console.node1.log").read_text(), r"vectoradd +ok")
        values = statistics(self.folder / "out")
        self.assertEqual(values["node1.app.ok"], 1)
        self.assertEqual(values["app.ok"], 1)
        self.assertNotIn("node0.app.ok", values)
        self.assertGreater(values["node1.gpu0.wavefront_instructions"], 0)
        self.assertNotIn("node0.gpu0.wavefront_instructions", values)
        self.succeed("run", "out/config.resolved.yaml", "--out", "again", "--quiet")
        self.assert_same_statistics("out", "again")

    def test_the_node_that_ends_the_run(self):
        config = self.nodes(print_text("a") + finish(), print_text("b") + wait(300_000) + finish(3))
        for arguments, status, text, b in (
            ((), 1, "node1 reported failure 3; node0 powered off;", "b"),
            (("--until", "all"), 1, "node1 reported failure 3; node0 powered off;", "b"),
            (("--until", "any"), 0, "fabricvp: node0 powered off;", "b"),
            (("--until", "node0"), 0, "fabricvp: node0 powered off;", "b"),
            (("--until", "node1"), 1, "fabricvp: node1 reported failure 3;", "b"),
            (("--set", "simulation.until=any"), 0, "fabricvp: node0 powered off;", "b"),
        ):
            with self.subTest(arguments):
                result = self.run_command("run", config, "--out", "out", *arguments)
                self.assertEqual(result.returncode, status, result.errors)
                self.assertIn(text, result.errors)
                self.assertEqual((self.folder / "out/console.node1.log").read_text(), b)
        times = []
        for until in "any", "all":
            self.run_command("run", config, "--out", until, "--until", until)
            times.append(statistics(self.folder / until)["sim.time_s"])
        self.assertLess(times[0] * 5, times[1])
        result = self.run_command("run", config, "--until", "node2")
        self.assertEqual(result.returncode, 2)
        self.assertIn("simulation.until: 'node2' is not one of all, any, node0, node1", result.errors)

    def test_a_node_that_failed_before_the_time_limit(self):
        config = self.nodes(FOREVER, finish(4))
        result = self.run_command("run", config, "--time", "1ms")
        self.assertEqual(result.returncode, 1)
        self.assertIn("node1 reported failure 4; the time limit was reached", result.errors)
        self.assertEqual(self.run_command("run", config, "--time", "1ms", "--until", "node0").returncode, 0)

    def test_one_that_starts_again_leaves_the_others_running(self):
        flag = DRAM + 0x3F0  # each start sees the zero of the image
        again = (
            print_text("r")
            + load_byte(flag)
            + store(flag, ord("!"), 0)
            + wait(50_000)
            + store(FINISHER, RESET)
            + FOREVER
        )
        config = self.nodes(print_text("once") + FOREVER, again.ljust(0x400, b"\0"))
        self.succeed("run", config, "--time", "2ms", "--out", "out", "--quiet")
        self.assertEqual((self.folder / "out/console.node0.log").read_text(), "once")
        self.assertGreater((self.folder / "out/console.node1.log").read_text().count("r"), 2)

    def test_a_node_without_software_delays_no_other(self):
        self.write("guest.elf", elf(finish()))
        config = self.write("m.yaml", "nodes:\n  - images: {firmware: guest.elf}\n  - {}\n")
        self.assertIn("node0 powered off", self.succeed("run", config).errors)

    def test_values_for_a_node(self):
        """The application takes the place of what the configuration names, on that node alone."""
        result = self.succeed(
            "run",
            TWO_NODES,
            "--app",
            "node1=reduction",
            "--size",
            "node1=2048",
            "--console",
            "node1=file:app",
            "--out",
            "out",
        )
        self.assertIn("all ok, powering off", result.text)
        self.assertRegex((self.folder / "app").read_text(), r"reduction +ok")
        self.assertEqual(statistics(self.folder / "out")["node1.app.ok"], 1)
        self.assertIn("app=reduction size=2048", (self.folder / "out/config.resolved.yaml").read_text())

    def test_values_for_no_node(self):
        for arguments, text in (
            (("--app", "node2=fir"), "--app 'node2=fir': there is no node2: this machine has 2"),
            (("--app", "fir"), "--app fir: node0 has no GPU"),
            (("--size", "node1=5"), "--size needs --app node1=NAME"),
            (("--app", "node1=fir", "--size", "5"), "--size needs --app"),
            (("--app", "node1=fir", "--app", "node1=mm"), "--app 'node1=mm': is given twice for node1"),
            (("--app", "node1=fir", "--gpus", "node1=2"), "--gpus 2: node1 has 1 GPU"),
            (("--console", "none", "--console", "node0=none"), "--console 'node0=none': is given twice for node0"),
            (("--tohost=node3",), "--tohost 'node3': there is no node3"),
        ):
            with self.subTest(arguments):
                result = self.run_command("run", TWO_NODES, *arguments, "--out", "out")
                self.assertEqual(result.returncode, 2, result.errors)
                self.assertIn(text, result.errors)
                self.assertEqual(len(result.errors.splitlines()), 1)
                self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    command.main()
