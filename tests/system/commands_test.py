# SPDX-License-Identifier: Apache-2.0
"""Commands that look at configurations and results without running anything."""

import json
import os
import pathlib
import re
import xml.etree.ElementTree

import command
from command import CommandTest, finish

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])


class Commands(CommandTest):
    def test_help(self):
        overview = self.succeed("--help").text
        for name in "list", "run", "check", "describe", "schema", "reference", "diff", "version":
            self.assertIn(f"\n  {name} ", overview)
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
                text = self.succeed("describe", config, "--set", "node.host.harts=3", "--svg", "m.svg").text
                self.assertIn("hart2", text)
                self.assertIn("harts = 3", text)
                self.assertRegex(text, r"uart +uart +0x10000000 … 0x100000ff \(256 B\)")
                self.assertRegex(text, r"clock = [0-9.]+ [GM]Hz +# ")
                drawing = xml.etree.ElementTree.parse(self.folder / "m.svg").getroot()
                texts = [t.text for t in drawing.iter("{http://www.w3.org/2000/svg}text")]
                controller = "aplic_m" if "interrupts = aplic" in text else "plic"
                for name in "hart0", "hart2", "uart", "dram", controller:
                    self.assertIn(name, texts)

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
        self.assertEqual(self.run_command("describe", CONFIGS / "hello.yaml", "node0", "--dot").returncode, 2)

    def test_describe_draws_the_pcie_tree(self):
        config = self.write(
            "t.yaml", "node: {pcie: {switches: [{name: sw}], endpoints: [{name: ce0, below: sw}, {name: ce1}]}}\n"
        )
        self.assertIn("copy_engine", self.succeed("describe", config, "--svg", self.folder / "t.svg").text)
        drawing = xml.etree.ElementTree.parse(self.folder / "t.svg").getroot()
        texts = [t.text for t in drawing.iter("{http://www.w3.org/2000/svg}text")]
        for name in "root", "sw", "ce0", "ce1", "Gen3 x16":
            self.assertIn(name, texts)
        dot = self.succeed("describe", config, "--dot").text
        self.assertIn('"node0.pcie.sw" -- "node0.pcie.ce0"', dot)
        self.assertIn('"node0.pcie.root" -- "node0.pcie.ce1"', dot)

    def test_describe_many_nodes(self):
        config = self.write("m.yaml", "node: {host: {harts: 20}}\nnodes: [{}, {host: {harts: 1}}, {}]\n")
        dot = self.succeed("describe", config, "--dot").text
        self.assertEqual(dot.count("subgraph"), 3)
        self.assertIn('"node1.host.hart0"', dot)
        self.assertNotIn('"node1.host.hart1"', dot)

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
        self.assertRegex(self.succeed("diff", "a", "b").text, r"\n?0 of \d+ statistics differ")
        self.succeed("run", config, "--out", "c", "--quiet", "--set", "node.host.harts=2")
        text = self.succeed("diff", "a", "c").text
        self.assertIn("node0.host.harts: '1' → '2'", text)
        self.assertRegex(text, r"node0\.host\.hart1\.instructions: – → \d+")
        self.assertNotIn("wall_s", text)


if __name__ == "__main__":
    command.main()
