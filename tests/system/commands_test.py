# SPDX-License-Identifier: Apache-2.0
"""Commands that look at configurations and results without running anything."""

import json
import os
import pathlib
import re

import command
from command import CommandTest, finish

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])


class Commands(CommandTest):
    def test_help(self):
        overview = self.succeed("--help").text
        for name in "list", "run", "check", "describe", "schema", "reference", "diff", "version":
            self.assertIn(f"\n  {name} ", overview)
            self.assertIn(f"did you mean '{name}'?", self.run_command(name[:-1] + "_").errors)
            text = self.succeed(name, "--help").text
            self.assertIn(f"usage: fabricvp {name}", text)
            self.assertIn(f"example: fabricvp {name}", text)
        self.assertEqual(self.run_command().returncode, 2)

    def test_list(self):
        lines = self.succeed("list").text.splitlines()
        self.assertEqual([line.split()[0] for line in lines], sorted(p.stem for p in CONFIGS.glob("*.yaml")))
        self.assertRegex(
            "\n".join(lines),
            r"(?m)^hello +The project's own bare-metal firmware: says hello on the console and powers off\.$",
        )
        for line in lines:
            self.assertRegex(line, r"^\w+  +\S.*[.]$")

    def test_version(self):
        self.assertRegex(self.succeed("version").text, r"^fabricvp \d+\.\d+\.\d+ \(SystemC \d")
        self.assertEqual(self.succeed("--version").text, self.succeed("version").text)

    def test_check(self):
        self.assertIn("ok", self.succeed("check", self.machine(finish())).text)

    def test_describe(self):
        for config in sorted(CONFIGS.glob("*.yaml")):
            with self.subTest(config.name):
                text = self.succeed("describe", config, "--set", "node.host.harts=3").text
                self.assertIn("hart2", text)
                self.assertIn("harts = 3", text)
                self.assertRegex(text, r"uart +uart +0x10000000 … 0x100000ff \(256 B\)")
                self.assertRegex(text, r"clock = [0-9.]+ [GM]Hz +# ")
                host = self.topology(config, "--set", "node.host.harts=3")["nodes"][0]["host"]
                self.assertEqual([hart["name"] for hart in host["harts"]], ["hart0", "hart1", "hart2"])
                controller = "aplic_m" if "interrupts = aplic" in text else "plic"
                self.assertLessEqual({"uart", "dram", controller}, {target["name"] for target in host["targets"]})

    def test_describe_a_path(self):
        text = self.succeed("describe", CONFIGS / "cs_storm.yaml", "node.host.uart").text
        self.assertRegex(text, r"(?m)^node0\.host\.uart$")
        self.assertRegex(text, r"(?m)^  clock = 3\.6864 MHz +# input clock .* \(1 kHz … 1 GHz\)$")
        self.assertRegex(text, r"(?m)^  transmitted \[1\] +# characters sent$")
        self.assertNotIn("memory", text)
        self.assertEqual(self.succeed("describe", CONFIGS / "cs_storm.yaml", "node0.host.uart").text, text)
        one = self.succeed(
            "describe", CONFIGS / "cs_storm.yaml", "node0.host.memory", "--set", "node.host.memory=1 GiB"
        ).text.splitlines()
        self.assertEqual(len(one), 3)
        self.assertIn("node0.host.memory = 1 GiB", one[2])
        self.assertRegex(
            self.succeed("describe", CONFIGS / "cs_storm.yaml", "node0.pcie.gpu0.link").text,
            r"(?m)^Faults\n(  .*\n)*  retrain +# ",
        )
        self.assertIn("# number of harts", self.succeed("describe", CONFIGS / "two_nodes.yaml", "node1").text)
        wrong = self.run_command("describe", CONFIGS / "hello.yaml", "node0.host.urat")
        self.assertEqual(wrong.returncode, 2)
        self.assertEqual(
            wrong.errors,
            "fabricvp: there is nothing at 'node0.host.urat' in this machine, did you mean 'node0.host.uart'?\n",
        )
        self.assertEqual(self.run_command("describe", CONFIGS / "hello.yaml", "node0", "--topology").returncode, 2)

    def topology(self, config, *options):
        return json.loads(self.succeed("describe", config, "--topology", *options).text)

    def test_drawings_have_moved(self):
        for options in (["--svg", "m.svg"], ["--dot"]):
            moved = self.run_command("describe", CONFIGS / "hello.yaml", *options)
            self.assertEqual((moved.returncode, moved.errors.count("\n")), (2, 1))
            self.assertIn("`fabricvp draw ", moved.errors)
        self.assertFalse((self.folder / "m.svg").exists())

    def test_the_topology_has_the_pcie_tree(self):
        config = self.write(
            "t.yaml", "node: {pcie: {switches: [{name: sw}], endpoints: [{name: ce0, below: sw}, {name: ce1}]}}\n"
        )
        self.assertIn("copy_engine", self.succeed("describe", config).text)
        tree = self.topology(config)["nodes"][0]["pcie"]
        self.assertEqual(
            {block["name"]: block["kind"] for block in tree["blocks"]},
            {"root": "root_complex", "sw": "switch", "ce0": "endpoint", "ce1": "endpoint"},
        )
        links = {(link["from"], link["to"]): link for link in tree["links"]}
        self.assertEqual(set(links), {("root", "sw"), ("sw", "ce0"), ("root", "ce1")})
        down, up = links["sw", "ce0"]["directions"]
        self.assertEqual((down["lanes"], links["sw", "ce0"]["generation"]), (16, 3))
        self.assertEqual(up["statistics"]["bytes"], ["node0.pcie.ce0.link.transmitter.bytes"])
        self.assertEqual(down["bytes_per_second"], up["bytes_per_second"])
        self.assertGreater(down["bytes_per_second"], 15e9)

    def test_the_topology_of_many_nodes(self):
        config = self.write("m.yaml", "node: {host: {harts: 20}}\nnodes: [{}, {host: {harts: 1}}, {}]\n")
        nodes = self.topology(config)["nodes"]
        self.assertEqual([len(node["host"]["harts"]) for node in nodes], [20, 1, 20])
        self.assertEqual(nodes[1]["host"]["harts"][0]["path"], "node1.host.hart0")

    def test_every_described_parameter_is_in_schema_and_reference(self):
        schema = json.loads(self.succeed("schema").text)
        reference = re.sub(
            r"kind: \w+\.", "", self.succeed("reference").text
        )  # keys of a kind stand beside those of all

        def walk(group, path):
            for name, entry in group["properties"].items():
                if entry.get("type") == "array" and "properties" in entry["items"]:
                    name, entry = f"{name}[]", entry["items"]
                if "properties" in entry:
                    # A group of groups alone has nothing to say under a heading of its own.
                    if not all(
                        "properties" in e or "properties" in e.get("items", {}) for e in entry["properties"].values()
                    ):
                        self.assertIn(f"## `{path}.{name}`", reference)
                    walk(entry, f"{path}.{name}")
                else:
                    self.assertIn(f"| `{name}` |", reference)
                    self.assertTrue(entry["description"], f"{path}.{name}")
                    self.assertIn("default", entry)

        walk(schema["$defs"]["node"], "node")

    def test_stock_configurations_fit_the_schema(self):
        try:
            import jsonschema
            import yaml
        except ImportError:
            self.skipTest("needs the Python packages jsonschema and yaml")
        schema = json.loads(self.succeed("schema").text)
        for config in CONFIGS.glob("*.yaml"):
            jsonschema.validate(yaml.safe_load(config.read_text()), schema)

    def test_diff(self):
        config = self.machine(finish())
        self.succeed("run", config, "--out", "a", "--quiet")
        self.succeed("run", config, "--out", "b", "--quiet")
        self.assertRegex(self.succeed("diff", "a", "b", "--all").text, r"(?m)^0 of \d+ statistics differ")
        self.assertIn("no statistic differs", self.succeed("diff", "a", "b").text)
        self.succeed("run", config, "--out", "c", "--quiet", "--set", "node.host.harts=2")
        text = self.succeed("diff", "a", "c", "--all").text
        self.assertIn("node0.host.harts: '1' → '2'", text)
        self.assertRegex(text, r"node0\.host\.hart1\.instructions: – → \d+")
        self.assertNotIn("wall_s", text)
        for arguments, says in (
            (("--threshold", "many"), "--threshold 'many': must be a number of percent"),
            (("--lines", "-1"), "--lines '-1': must be a number"),
            (("--region", "x"), "--region 'x': no such region in both runs"),
        ):
            wrong = self.run_command("diff", "a", "b", *arguments)
            self.assertEqual((wrong.returncode, wrong.errors.count("\n")), (2, 1))
            self.assertIn(says, wrong.errors)

    def test_diff_ranks_by_effect_and_says_what_bounded_each_run(self):
        app = ("run", CONFIGS / "netcrafter_quad.yaml", "--app", "spmv", "--size", 2048, "--quiet", "--out")
        self.succeed(*app, "a")
        self.succeed(*app, "b", "--set", "node.gpus.*.memory.l2.size=8 MiB")
        same = self.succeed("diff", "a", "b", "--region", "kernels").text
        self.assertRegex(same, r"(?m)^region kernels of node0: [\d.]+ us → ")
        for run in "a", "b":
            self.assertRegex(
                same, rf"(?m)^  {run}: (bounded by|no unit was busy for long: ).*wavefronts waited for data"
            )
        self.assertNotIn("the whole run", same)
        self.succeed(*app, "c", "--set", "node.fabric.links.4.lane_rate=100 MB/s")
        text = self.succeed("diff", "a", "c", "--region", "kernels").text
        self.assertRegex(text, r"(?m)^  c: bounded by link node0\.fabric\.cluster\d\.to_cluster\d, \d+ % of the time")
        changes = [float(c) for c in re.findall(r"\(([+-][\d.e+]+) %\)$", text, re.M)][1:]
        self.assertTrue(changes and all(abs(c) >= 1 for c in changes), text)
        self.assertRegex(text, r"\d+ more differ by less than 1 % \(--threshold 0 shows them\)")
        self.assertLessEqual(sum(line.startswith("  node") for line in text.splitlines()), 21)


if __name__ == "__main__":
    command.main()
