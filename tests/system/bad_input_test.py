# SPDX-License-Identifier: Apache-2.0
"""Whatever is wrong with the input: one clear line, exit status 2, nothing half written."""

import os
import random
import struct

import command
from command import CommandTest, elf, finish


class BadInput(CommandTest):
    def assert_rejected(self, *arguments, says, verb="run", **options):
        result = self.run_command(verb, *arguments, **options)
        self.assertEqual(result.returncode, 2, (result.text, result.errors))
        lines = result.errors.splitlines()
        self.assertEqual(len(lines), 1, result.errors)
        self.assertTrue(lines[0].startswith("fabricvp: "), lines[0])
        self.assertTrue(lines[0].isprintable(), repr(lines[0]))
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, lines[0])
        return lines[0]

    def assert_rejected_yaml(self, text, says):
        path = self.write("bad.yaml", text)
        for verb in "check", "run", "describe":
            self.assert_rejected(path, verb=verb, says=says)

    def test_configurations(self):
        self.assert_rejected_yaml("", "bad.yaml: the configuration is empty")
        self.assert_rejected_yaml(
            "nodes: 1\nnode:\n  hots: {harts: 1}\n",
            ["bad.yaml:3: unknown key 'hots'", "did you mean 'host'?", "allowed: images, host"],
        )
        self.assert_rejected_yaml("node: {host: {harts: four}}\n", "bad.yaml:1: node.host.harts: ")
        self.assert_rejected_yaml("node: {host: {harts: 65}}\n", ["bad.yaml:1: node.host.harts", "out of range"])
        self.assert_rejected_yaml("node: {host: {harts: -1}}\n", "node.host.harts")
        self.assert_rejected_yaml("node: {host: {memory: 100}}\n", "node.host.memory")
        self.assert_rejected_yaml("node: {host: {memory: 4097 B}}\n", "")
        self.assert_rejected_yaml("node: {host: {hart: {clock: 1 GB}}}\n", "node.host.hart.clock")
        self.assert_rejected_yaml("node: [1]\n", "node must be a group of keys, this is a list")
        self.assert_rejected_yaml("node: {host: {memory: 3 parsec}}\n", "node.host.memory")
        self.assert_rejected_yaml("node: {host: {hart: {clock: 0 Hz}}}\n", "node.host.hart.clock")
        for nodes in "0", "many", "[1]", "{}", "[]":
            self.assert_rejected_yaml(f"nodes: {nodes}\n", ["bad.yaml:1: ", "node"])
        self.assert_rejected_yaml("node1: {}\n", "node1 stands in a list")
        self.assert_rejected_yaml("- 1\n", "bad.yaml")
        self.assert_rejected_yaml("a: &a [*a]\n", "bad.yaml")
        self.assert_rejected_yaml("{" * 5000, "bad.yaml:1: ")
        self.assert_rejected_yaml(b"\x00\x01\x02", "bad.yaml")
        self.assert_rejected_yaml(b"\xff\xfe\xfa", "bad.yaml")
        self.assert_rejected_yaml(random.Random(1).randbytes(20000), "bad.yaml")

    def test_configurations_that_cannot_be_read(self):
        self.assert_rejected("nothing.yaml", says="'nothing.yaml': no such configuration")
        self.assert_rejected("ubot", says="did you mean 'uboot'?")
        self.assert_rejected(self.folder, says="is a folder")
        self.assert_rejected("/dev/zero", says="not a regular file")
        big = self.write("big.yaml", b"#" * 20_000_000)
        self.assert_rejected(big, says="too large")

    def test_overrides(self):
        good = self.write("good.yaml", "nodes: 1\n")
        self.assert_rejected(good, "--set", "node.host.harts", says="must be KEY=VALUE")
        self.assert_rejected(
            good, "--set", "node.host.hart=1", says=["--set 'node.host.hart=1'", "must be a group of keys"]
        )
        self.assert_rejected(good, "--set", "node1.host.harts=1", says="there is no node1")
        for path in "", "node..host":
            self.assert_rejected(good, "--set", f"{path}=1", says="--set")
        for harts in "four", "-1", "1.5":
            self.assert_rejected(good, "--set", f"node.host.harts={harts}", says="node.host.harts")
        self.assert_rejected(good, "--set", "node.host=5", says="node.host")
        self.assert_rejected(good, "--set", "x=\n\x1b[31m", says="unknown key 'x'")

    def test_overrides_without_effect(self):
        """Parts that the machine does not have have parameters as well, which change nothing."""
        for override, says in (
            ("network.routing=up_down", "there is no network"),
            ("node.fabric.packet.flit=32B", "GPUs have no fabric"),
            ("node0.pcie.root.root_port.processing=1ns", "there is no PCIe device"),
            ("node.host.caches.l1.size=32KiB", "host.memory_timing: caches"),
            ("node.host.imsic.identities=127", "host.interrupts: aplic_imsic"),
        ):
            line = self.assert_rejected("hello", "--set", override, says=says)
            self.assertIn(f"--set '{override}': has no effect: ", line)
        caches = "node.host.caches.l1.size=32KiB"
        self.assertEqual(
            self.run_command("check", "hello", "--set", caches, "--set", "node.host.memory_timing=caches").returncode, 0
        )

    def test_options(self):
        good = self.write("good.yaml", "nodes: 1\n")
        self.assert_rejected(says="CONFIG is missing")
        self.assert_rejected(good, "--tme", "1s", says=["--tme", "did you mean '--time'?"])
        self.assert_rejected(good, "--time", "1", says="--time: ")
        self.assert_rejected(good, "--time", "soon", says="--time: ")
        self.assert_rejected(good, "--time", says="--time")
        self.assert_rejected(good, good, says="unexpected argument")
        self.assert_rejected(
            good, "--console", "printer", says="console 'printer': must be stdio, file:PATH, tcp:PORT or none"
        )
        self.assert_rejected(good, "--console", "tcp:99999", says="0 to 65535")
        self.assert_rejected(good, "--console", "tcp:abc", says="tcp:'abc'")
        self.assert_rejected(good, "--console", "file:/nowhere/file", says="/nowhere/file")
        self.assert_rejected(good, "--console", "node7=none", says="there is no node7")
        self.assert_rejected(good, "--gdb", "port", says="--gdb 'port'")
        self.assert_rejected(good, "--time", "1us", "--out", "/proc/nothing", says="/proc/nothing")
        self.assert_rejected(
            good, "--out", "o", says="nothing to run: give --app, --program, --kernel-elf or --firmware"
        )
        self.assert_rejected(good, "--replay", self.write("r", "what\n"), says="not a recording")
        self.assert_rejected(good, "--trace", says="--trace needs --out")
        self.assert_rejected(good, "--trace", "--out", "o", "--trace-window", "2ms..1ms", says="trace: ")
        self.assert_rejected(good, "--trace-region", "kernels", says="--trace-region needs --trace")
        self.assert_rejected(good, "--trace", "--out", "o", "--trace-region", "", says="region: the value is empty")
        both = ["--trace-region", "kernels", "--trace-window", "1ms..2ms"]
        self.assert_rejected(good, "--trace", "--out", "o", *both, says="exclude each other")
        self.assert_rejected("x", verb="rnu", says=["unknown command 'rnu'", "did you mean 'run'?"])
        self.assert_rejected("a", "b", verb="diff", says="a/stats.json" if os.path.isdir("a") else "a: no such file")

    def test_empty_values(self):
        """Some were taken as if the option had not been given."""
        for option in "out script replay record capture console console-limit gdb time until log-bus app".split():
            self.assert_rejected("hello", f"--{option}", "", says=f"--{option}: the value is empty")
        for option in "size", "gpus", "placement", "dispatch", "option":
            application = ("gpu", "--app", "vectoradd", f"--{option}")
            self.assert_rejected(*application, "", says=f"--{option}: the value is empty")
            self.assert_rejected(*application, "node0=", says=f"--{option}: the value for node0 is empty")

    def test_images(self):
        good = self.write("good.yaml", "nodes: 1\n")
        code = finish()
        whole = elf(code)

        def image(contents, says, *more):
            self.assert_rejected(
                good,
                "--firmware",
                self.write("image.elf", contents),
                *more,
                says=["image.elf", *([says] if isinstance(says, str) else says)],
            )

        image(whole[:70], "truncated")
        image(whole[:4], "truncated")
        image(whole[:-1], "truncated")
        image(elf(code, machine=62), "for x86-64, not for RISC-V")
        image(elf(code, address=0x1000), ["lies outside of the memory of node0", "0x80000000"])
        image(elf(code, address=0x87FFFFFC), "lies outside of the memory")
        image(elf(code, entry=0x4000), "entry point 0x4000")
        image(b"", "the file is empty")
        image(whole, "has no symbol 'tohost'", "--tohost")
        overlapping = bytearray(whole[:64] + whole[64:120] * 2 + whole[120:])
        overlapping[56:58] = struct.pack("<H", 2)
        overlapping[40:48] = bytes(8)  # no sections
        overlapping[60:62] = bytes(2)
        image(bytes(overlapping), "overlap")
        image(b"\x00" * (128 * 2**20 + 1), "lies outside of the memory")
        self.assert_rejected(good, "--firmware", "nothing.bin", says="nothing.bin: no such file")
        self.assert_rejected(good, "--firmware", "/dev/null", says="not a regular file")
        self.assert_rejected(good, "--initrd", self.write("rd", b"x" * (129 * 2**20)), says=["initrd", "rd"])
        self.assert_rejected(
            good,
            "--firmware",
            "firmware:no\x1bthing",
            says="no\\x1bthing",
            environment={"FABRICVP_FIRMWARE": str(self.folder)},
        )
        configured = self.write("configured.yaml", "node: {images: {kernel: missing.elf}}\n")
        self.assert_rejected(configured, says="missing.elf: no such file")

    def test_images_that_nothing_uses(self):
        """Each of these was accepted in silence."""
        disk, firmware = self.write("disk", b"x" * 64), self.write("own.elf", elf(finish()))
        bare = self.write("bare.yaml", "nodes: 2\n")
        for option in "firmware", "kernel", "initrd", "append":
            self.assert_rejected(bare, f"--{option}", "", says=f"--{option}: the value for node0 is empty")
            self.assert_rejected(bare, f"--{option}", "node1=", says=f"--{option}: the value for node1 is empty")
        self.assert_rejected(bare, "--initrd", disk, says=["disk", "node0 has neither firmware nor a kernel"])
        self.assert_rejected("hello", "--initrd", disk, says=["disk", "firmware:hello.elf of node0 reads none"])
        self.assert_rejected("hello", "--kernel", firmware, says=["own.elf", "firmware:hello.elf of node0 starts none"])
        self.assert_rejected(
            "gpu", "--app", "vectoradd", "--initrd", disk, says="has no effect: vectoradd makes its own input"
        )
        self.assert_rejected("hello", "--kernel-elf", firmware, says=["--kernel-elf", "node0 has no GPU"])
        self.assert_rejected("hello", "--app", "vectoradd", says="node0 has no GPU")
        # Firmware of one's own may read a RAM disk.
        result = self.run_command("run", bare, "--firmware", firmware, "--initrd", disk, "--until", "any")
        self.assertEqual(result.returncode, 0, result.errors)

    def test_more_gpus_than_applications_use(self):
        gpus = "    - {below: switch0, compute_units: 1, memory: {capacity: 64 MiB}}\n"
        many = self.write(
            "many.yaml", "base: bare\nnode:\n  pcie: {switches: [{name: switch0}]}\n  gpus:\n" + gpus * 17
        )
        says = "node0 has 17 GPUs: applications run on nodes with at most 16"
        self.assert_rejected(many, "--app", "vectoradd", says=["--app vectoradd", says])
        self.assert_rejected(many, "--kernel-elf", self.write("k.elf", elf(finish())), says=["--kernel-elf", says])
        result = self.run_command("run", many, "--firmware", "firmware:gpu_apps.elf", "--append", "app=vectoradd")
        self.assertEqual(result.returncode, 2, result.text + result.errors)
        self.assertEqual(result.errors, "fabricvp: node0: this node has more than 16 GPUs: programs take no more\n")

    def test_nothing_is_written(self):
        bad = self.write("bad.yaml", "nodes: none\n")
        self.assert_rejected(bad, "--out", self.folder / "out", says="nodes")
        self.assertFalse((self.folder / "out").exists())
        good = self.write("good.yaml", "nodes: 1\n")
        self.assert_rejected(good, "--out", self.folder / "out", "--firmware", "nothing.bin", says="nothing.bin")
        self.assertFalse((self.folder / "out").exists())

    def test_invalid_host_device_ranges(self):
        def assert_rejected(devices, line, says):
            text = "node:\n  host:\n    devices:\n" + "".join(f"      - {device}\n" for device in devices)
            self.assert_rejected_yaml(text, f"bad.yaml:{line}: {says}")
            error = self.assert_rejected(self.folder / "bad.yaml", says=says)
            self.assertEqual(error.count("bad.yaml"), 1, error)

        modem = "{name: modem, kind: uart, base: 0x10001000, interrupt: 20}"
        assert_rejected(
            [modem, "{kind: rtc, base: 0x10002000, interrupt: 20}"],
            5,
            "host: device device1: interrupt source 20 is taken",
        )
        assert_rejected(
            [modem, "{name: late, kind: rtc, base: 0x10001080}"],
            5,
            "host: device late: address range of late (0x10001080, 0x1000 bytes) overlaps that of modem (0x10001000,"
            " 0x100 bytes)",
        )
        # They were at address 0, where nothing looks for them.
        for device, name in ("{kind: uart}", "device0"), ("{kind: rtc, name: clock}", "clock"):
            assert_rejected([device], 4, f"host: device {name}: base is missing: the physical address of its registers")
        assert_rejected(
            ["{name: uart, base: 0x20000000}"], 4, "the name 'uart' is taken: a key beside this list has it"
        )

    def test_overrides_of_lists_that_are_empty(self):
        """Also of those that belong to no node."""
        self.write("bare.yaml", "nodes: 1\n")
        for path in "network.links", "network.switches", "network.generators", "ethernet.links", "faults", "node.gpus":
            says = f"{path} has no items, so this has no effect"
            self.assert_rejected(self.folder / "bare.yaml", "--set", f"{path}.*.zz=7", says=says)

    def test_files_of_a_profile_are_tried_first(self):
        self.assert_rejected("hello", "--profile=nowhere/a.html", says="nowhere/a.html: cannot write")
        (self.folder / "b.folded").mkdir()
        self.assert_rejected("hello", "--profile=b.html", says="b.folded: cannot write")

    def test_the_node_of_tohost(self):
        for value in "false", "yes", "node0=1":
            self.assert_rejected("hello", f"--tohost={value}", says=f"--tohost '{value}': must be nodeN")

    def test_a_writable_image_is_for_one_disk(self):
        self.write("disk.img", bytes(4096))
        disk = "{{name: {}, kind: virtio_blk, image: disk.img, mode: {}}}"

        def machine(first, second, nodes=1):
            return (
                f"nodes: {nodes}\nnode: {{pcie: {{endpoints: [{disk.format('a', first)},"
                f" {disk.format('b', second)}]}}}}\n"
            )

        self.assert_rejected_yaml(machine("writable", "writable"), "disk.img: another disk uses it")
        self.assert_rejected_yaml(machine("copy_on_write", "writable"), "disk.img: another disk uses it")
        self.assert_rejected_yaml(machine("writable", "read_only"), "disk.img: another disk writes to it")
        one = machine("writable", "read_only").replace(", " + disk.format("b", "read_only"), "")
        self.assert_rejected_yaml(one.replace("nodes: 1", "nodes: 2"), "disk.img: another disk uses it")
        self.assertIn("ok", self.succeed("check", self.write("good.yaml", one)).text)
        self.assertIn(
            "ok", self.succeed("check", self.write("good.yaml", machine("read_only", "copy_on_write", 2))).text
        )


if __name__ == "__main__":
    command.main()
