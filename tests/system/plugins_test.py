# SPDX-License-Identifier: Apache-2.0
"""Plug-ins: kinds of devices that come in shared libraries."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import command
from command import CommandTest, finish, load_byte, print_text, store

PLUGINS = pathlib.Path(os.environ["FABRICVP_PLUGINS"])
STOPWATCH = PLUGINS.parents[2] / "examples/stopwatch/libstopwatch.so"

#: Registers of the stopwatch (examples/stopwatch/registers.h), where `HOST` puts it.
BASE, CONTROL, ALARM = 0x20000000, 0x0, 0x10
HOST = "  host:\n    devices:\n      - {name: watch, kind: stopwatch, base: 0x20000000}\n"
PCIE = "  pcie:\n    endpoints:\n      - {name: lamp0, below: root, kind: lamp, brightest: 7}\n"

#: Configuration space and memory window of the PCIe tree. The root port leads to bus 1.
ROOT_PORT, ENDPOINT, WINDOW = 0x30008000, 0x30100000, 0x40000000


def set_alarm():
    return store(BASE + ALARM, 50, 3) + store(BASE + CONTROL, 1) + print_text("waiting")


def light(*values):
    return (
        store(ROOT_PORT + 0x18, 0x00010100)
        + store(ROOT_PORT + 0x20, (WINDOW >> 16) | WINDOW)
        + store(ROOT_PORT + 0x04, 6)
        + store(ENDPOINT + 0x10, WINDOW)
        + store(ENDPOINT + 0x04, 6)
        + b"".join(store(WINDOW, value) for value in values)
        + load_byte(WINDOW)  # writes are posted: the read comes behind them
    )


class Plugins(CommandTest):
    def statistics(self, *arguments):
        self.succeed(*arguments, "--out", "out", "--quiet")
        return json.loads((self.folder / "out/stats.json").read_text())

    def test_a_host_device(self):
        machine = self.machine(set_alarm() + finish(), HOST)
        values = self.statistics("run", machine, "--plugin", STOPWATCH)
        self.assertEqual(values["node0.host.watch.alarms"], 1)
        described = self.succeed("describe", machine, "--plugin", STOPWATCH)
        self.assertRegex(described.text, r"watch\.?.*resolution|resolution.*steps in which it counts")

    def test_a_pcie_device(self):
        machine = self.machine(light(3, 9, 3, 5, 7) + finish(), PCIE)
        values = self.statistics("run", machine, "--plugin", PLUGINS / "liblamp.so")
        self.assertEqual(values["node0.pcie.lamp0.changes"], 3)  # 3, 5 and 7; 9 is too much
        dump = self.succeed("describe", machine, "--plugin", PLUGINS / "liblamp.so", "--pci-dump")
        self.assertIn("b0 fa 3b 1a", dump.text)

    def test_two_plugins_in_the_configuration(self):
        """Paths start from the configuration's folder; what is resolved runs again, from anywhere."""
        (self.folder / "parts").mkdir()
        shutil.copy(PLUGINS / "liblamp.so", self.folder / "parts")
        machine = self.machine(set_alarm() + light(1) + finish(), HOST + PCIE)
        text = pathlib.Path(machine).read_text()
        pathlib.Path(machine).write_text(f"plugins: [parts/liblamp.so, {STOPWATCH}]\n{text}")
        first = self.statistics("run", machine)
        self.assertEqual((first["node0.host.watch.alarms"], first["node0.pcie.lamp0.changes"]), (1, 1))
        resolved = (self.folder / "out/config.resolved.yaml").read_text()
        self.assertTrue(
            resolved.startswith(f"plugins:\n  - {self.folder.resolve()}/parts/liblamp.so\n"), resolved[:200]
        )
        self.succeed("run", "out/config.resolved.yaml", "--out", "again", "--quiet")
        again = json.loads((self.folder / "again/stats.json").read_text())
        self.assertEqual({**first, "sim.wall_s": 0}, {**again, "sim.wall_s": 0})
        self.succeed("check", machine, "--plugin", "parts/liblamp.so")  # loaded once

    def test_a_base_may_name_plugins(self):
        self.machine(set_alarm() + finish(), HOST)
        text = (self.folder / "machine.yaml").read_text()
        (self.folder / "machine.yaml").write_text(f"plugins: [{STOPWATCH}]\n{text}")
        upper = self.write("upper.yaml", "base: machine.yaml\nnode: {host: {harts: 2}}\n")
        self.succeed("check", upper)

    def test_schema_and_reference(self):
        for verb in "schema", "reference":
            self.assertNotIn("brightest", self.succeed(verb).text)
            self.assertIn("brightest", self.succeed(verb, "--plugin", PLUGINS / "liblamp.so").text)

    def test_a_program_of_its_own(self):
        """Its registries are the plug-ins', too."""
        program = PLUGINS.parents[2] / "bin/stopwatch_machine"
        symbols = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout
        self.assertIsNone(re.search(r" [TW] fabricvp::host::device_settings::kinds\(\)", symbols))

    def test_one_copy_of_every_variable(self):
        """Variables of headers that a plug-in and the library both have are unique in a process."""
        modules = [path for path in (PLUGINS.parents[2] / "python/fabricvp").glob("_fabricvp*.so")]
        for file in [PLUGINS / "liblamp.so", STOPWATCH, *modules]:
            listed = subprocess.run(["nm", "-C", "--defined-only", file], capture_output=True, text=True, check=True)
            found = []
            for line in listed.stdout.splitlines():
                _, kind, name = line.split(" ", 2)
                if kind in "vV" and not re.match(r"(vtable|VTT|typeinfo|construction vtable|DW\.ref\.)", name):
                    found.append(name)  # weak, and there may be one in each file
                if kind in "bd" and re.match(r"(guard variable for )?(fabricvp::(?!python)|tlm::tlm_extension<)", name):
                    found.append(name)  # hidden, which makes it the file's own
            self.assertEqual(found, [], file)

    def assert_rejected(self, file, *words, verb="check"):
        machine = self.write("bare.yaml", "nodes: 1\n")
        result = self.run_command(verb, machine, "--plugin", file)
        self.assertEqual(result.returncode, 2, result.text + result.errors)
        self.assertEqual(result.errors.count("\n"), 1, result.errors)
        self.assertTrue(result.errors.startswith("fabricvp: --plugin "), result.errors)
        for word in (pathlib.Path(file).name, *words):
            self.assertIn(word, result.errors)

    def test_files_that_are_no_plugins(self):
        self.assert_rejected("missing.so", "no such file")
        self.assert_rejected(self.folder, "is a folder")
        self.assert_rejected("/dev/zero", "not a regular file")
        self.assert_rejected(self.write("text.so", "no library"), "it is no shared library")
        self.assert_rejected(self.write("empty.so", ""), "it is no shared library")
        self.assert_rejected(self.write("guest.so", command.elf(finish())), "of another processor")
        self.assert_rejected(PLUGINS / "libstranger.so", "has no FABRICVP_PLUGIN()")
        self.assert_rejected(PLUGINS / "libsilent.so", "registers no kind")
        self.assert_rejected(PLUGINS / "libtwice.so", "a kind 'copy_engine' of PCIe endpoints already")
        self.assert_rejected(PLUGINS / "libunresolved.so", "cannot be loaded: undefined symbol")
        whole = (PLUGINS / "liblamp.so").read_bytes()
        for part in 10, 64, 4096, len(whole) // 2:
            self.assert_rejected(self.write(f"cut{part}.so", whole[:part]), "is no plug-in")
        copy = self.write("libcopy.so", whole)
        result = self.run_command(
            "check", self.write("bare.yaml", "nodes: 1\n"), "--plugin", PLUGINS / "liblamp.so", "--plugin", copy
        )
        self.assertEqual((result.returncode, result.errors.count("\n")), (2, 1), result.errors)
        self.assertIn("libcopy.so: cannot be loaded: there is a kind 'lamp' of PCIe endpoints already", result.errors)

    def test_plugins_of_other_builds(self):
        for name, words in {
            "version": "was built with fabricvp 0.2.9, this program with fabricvp ",
            "compiler": "was built with compiler Other 7, this program with compiler ",
            "language": "was built with C++ 202002L, this program with C++ 201703L",
            "library": "was built with library libstdc++ CXX11_ABI=7, this program with library ",
            "systemc": "was built with SystemC 1.0.0, this program with SystemC ",
            "headers": "was built with other headers",
        }.items():
            with self.subTest(name):
                self.assert_rejected(PLUGINS / f"libother_{name}.so", words, "build it again")

    def test_what_the_key_takes(self):
        for value, words in {
            "liblamp.so": "bad.yaml:1: plugins: must be a list of files",
            "{a: b}": "bad.yaml:1: plugins: must be a list of files",
            "[[a]]": "bad.yaml:1: plugins: must be the file of a plug-in",
            "['']": "bad.yaml:1: plugins: must be the file of a plug-in",
            "[parts/none.so]": f"bad.yaml:1: plugins: {self.folder}/parts/none.so: no such file",
        }.items():
            result = self.run_command("check", self.write("bad.yaml", f"plugins: {value}\nnodes: 1\n"))
            self.assertEqual((result.returncode, result.errors.count("\n")), (2, 1), result.errors)
            self.assertIn(words, result.errors)

    def test_a_kind_without_its_plugin(self):
        machine = self.machine(finish(), PCIE)
        result = self.run_command("check", machine)
        self.assertEqual(result.returncode, 2)
        self.assertIn("'lamp' is not one of copy_engine", result.errors)


if __name__ == "__main__":
    command.main()
