# SPDX-License-Identifier: Apache-2.0
"""Runs from reset to the end: exit statuses, results, repeatability."""

import json
import re
import signal
import socket
import subprocess
import time

import command
from command import (
    DRAM,
    FINISHER,
    FOREVER,
    HART0_ONLY,
    RESET,
    UART,
    WAIT,
    CommandTest,
    elf,
    finish,
    li,
    load_byte,
    print_text,
    store,
)

# lbu t1,5(uart); andi t1,t1,1; beqz t1,-8; lbu t1,0(uart); sb t1,0(uart); j -20
ECHO = li(5, UART) + b"".join(
    command._word(w) for w in (0x0052C303, 0x00137313, 0xFE030CE3, 0x0002C303, 0x00628023, 0xFEDFF06F)
)
TOHOST = DRAM + 0x1000


def statistics(folder):
    return json.loads((folder / "stats.json").read_text())


class Runs(CommandTest):
    def test_power_off(self):
        result = self.succeed("run", self.machine(print_text("hello\n") + finish()), "--out", "out")
        self.assertEqual(result.text, "hello\n")
        self.assertIn("node0 powered off", result.errors)
        out = self.folder / "out"
        self.assertEqual(
            sorted(p.name for p in out.iterdir()),
            ["config.resolved.yaml", "console.node0.log", "run.json", "stats.csv", "stats.json", "topology.json"],
        )
        self.assertEqual((out / "console.node0.log").read_text(), "hello\n")
        values = statistics(out)
        for path in "sim.time_s", "sim.wall_s", "sim.events", "sim.instructions":
            self.assertGreater(values[path], 0, path)
        self.assertEqual(values["node0.host.uart.transmitted"], 6)
        lines = (out / "stats.csv").read_text().splitlines()
        self.assertEqual(lines[0], "path,value,unit,help")
        self.assertEqual(len(lines), len(values) + 1)

    def test_the_resolved_configuration_runs_the_same(self):
        config = self.machine(print_text("x") + finish(), "  host: {memory: 16 MiB, hart: {clock: 500 MHz}}\n")
        self.succeed("run", config, "--out", "a", "--quiet")
        self.succeed("run", "a/config.resolved.yaml", "--out", "b", "--quiet")
        self.assertEqual(
            (self.folder / "a/config.resolved.yaml").read_text(), (self.folder / "b/config.resolved.yaml").read_text()
        )
        self.assert_same_statistics("a", "b")

    def test_quiet(self):
        self.assertEqual(self.succeed("run", self.machine(print_text("x") + finish()), "--quiet").errors, "")

    def test_failure_of_the_guest(self):
        result = self.run_command("run", self.machine(finish(3)), "--out", "out")
        self.assertEqual(result.returncode, 1)
        self.assertIn("node0 reported failure 3;", result.errors)
        result = self.run_command("run", self.machine(finish(256)))
        self.assertEqual(result.returncode, 1)
        says = "node0 reported failure 256 (its guest wrote 0x1003333 to the finisher, whose upper half that is);"
        self.assertIn(says, result.errors)
        self.assertIn("sim.instructions", statistics(self.folder / "out"))

    def test_time_limit(self):
        result = self.succeed("run", self.machine(FOREVER), "--time", "1.5ms", "--out", "out")
        self.assertIn("the time limit was reached", result.errors)
        self.assertEqual(statistics(self.folder / "out")["sim.time_s"], 0.0015)

    def test_waiting_for_nothing(self):
        config = self.machine(WAIT)
        result = self.run_command("run", config)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.errors, r"nothing can happen any more: node0\.host\.hart0 at pc 0x8000000[04]")
        self.assertEqual(self.run_command("run", config, "--time", "1s").returncode, 0)

    def test_reset_starts_again_in_fresh_memory(self):
        # A byte behind the code counts the starts: the first start sees the image's zero, and so does the second.
        flag = DRAM + 0x3F0
        code = print_text("a") + load_byte(flag) + li(5, UART) + command._word(0x00628023)  # sb t1, 0(t0)
        code += store(flag, ord("!"), 0)
        code += li(7, 50_000) + command._word(0xFFF38393) + command._word(0xFE039EE3)  # count down, some 0.1 ms
        code += store(FINISHER, RESET) + FOREVER
        config = self.machine(code.ljust(0x400, b"\0"))
        result = self.run_command("run", config, "--time", "2ms", "--console", "file:log", "--quiet")
        self.assertEqual(result.returncode, 0)
        log = (self.folder / "log").read_bytes()
        self.assertGreater(log.count(b"a"), 2)
        self.assertEqual(set(log), set(b"a\0"))

    def test_tohost(self):
        symbols = [("tohost", TOHOST)]
        for value, status, test in (1, 0, 0), ((5 << 1) | 1, 1, 5):
            program = self.write("t.elf", elf((store(TOHOST, value) + FOREVER).ljust(0x1008, b"\0"), symbols=symbols))
            result = self.run_command("run", "bare", "--kernel", program, "--tohost", "--out", "out")
            self.assertEqual(result.returncode, status, result.errors)
            self.assertEqual(statistics(self.folder / "out")["tohost.test"], test)
            self.assertEqual(statistics(self.folder / "out")["node0.tohost.test"], test)

    def test_tohost_without_a_verdict(self):
        program = self.write("t.elf", elf(FOREVER.ljust(0x1008, b"\0"), symbols=[("tohost", TOHOST)]))
        result = self.run_command("run", "bare", "--kernel", program, "--tohost", "--time", "1ms", "--out", "out")
        self.assertEqual(result.returncode, 1)
        self.assertIn(
            "node0: tohost: the guest has not said whether it passed; the time limit was reached", result.errors
        )
        self.assertNotIn("tohost.test", statistics(self.folder / "out"))

    def test_bus_errors_are_reported_once_and_counted(self):
        reads = b"".join(load_byte(0x2000_0000 + 0x1000 * i) for i in range(1, 9))  # traps at each, and goes on behind
        handler = (
            command._word(0x341023F3)
            + command._word(0x00438393)
            + command._word(0x34139073)
            + command._word(0x30200073)
        )
        set_up = (
            command._word(0x00000317)
            + command._word(0x01030313)
            + command._word(0x30531073)
            + command._word(0x0140006F)
        )
        config = self.machine(set_up + handler + command._word(0x13) + reads + finish())
        for options, lines in ((), 1), (("--quiet",), 0):
            result = self.succeed("run", config, "--out", "out", *options)
            self.assertEqual(result.errors.count("reaches nothing"), lines, result.errors)
            self.assertEqual(statistics(self.folder / "out")["node0.host.bus.errors"], 8)
        self.assertEqual(result.errors, "")

    def test_repeated_runs_are_identical(self):
        config = self.machine(HART0_ONLY + print_text("go") + ECHO, "  host: {harts: 3}\n")
        outputs = []
        for name in "a", "b":
            self.succeed("run", config, "--time", "3ms", "--out", name, "--quiet", stdin=b"some input\n")
            files = {p.name: p.read_bytes() for p in (self.folder / name).iterdir()}
            files["run.json"] = re.sub(rb'"command": [^]]*]', b"", files["run.json"])  # names the folder
            for key in "stats.json", "stats.csv":
                files[key] = re.sub(rb".*sim\.wall_s.*\n", b"", files[key])
            outputs.append(files)
        self.assertEqual(*outputs)
        self.assertIn("console.node0.input", outputs[0])
        self.assertIn(b"some input", outputs[0]["console.node0.log"])

    def test_recorded_input_types_the_same(self):
        config = self.machine(ECHO)
        self.succeed("run", config, "--time", "2ms", "--out", "a", "--quiet", stdin=b"typed once")
        self.succeed(
            "run",
            config,
            "--time",
            "2ms",
            "--out",
            "b",
            "--quiet",
            "--replay",
            "a/console.node0.input",
            stdin=b"ignored",
        )
        self.assertEqual((self.folder / "b/console.node0.log").read_text(), "typed once")
        self.assert_same_statistics("a", "b")

    def test_several_nodes(self):
        self.write("guest.elf", elf(print_text("node") + WAIT))
        config = self.write("m.yaml", "nodes: 3\nnode: {images: {firmware: guest.elf}}\n")
        self.succeed("run", config, "--time", "1ms", "--out", "out", "--console", "none", "--console", "node2=file:two")
        for n in range(3):
            self.assertEqual((self.folder / f"out/console.node{n}.log").read_text(), "node")
        self.assertEqual((self.folder / "two").read_text(), "node")

    def test_end_of_input_does_not_end_the_run(self):
        result = self.succeed("run", self.machine(print_text("still here")), "--time", "1ms", "--quiet", stdin=b"")
        self.assertEqual(result.text, "still here")

    def test_output_without_a_reader(self):
        config = self.machine(print_text("x" * 200) + finish())
        process = subprocess.Popen(
            [command.FABRICVP, "run", config, "--quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        process.stdout.close()
        self.assertEqual(process.wait(command.TIMEOUT_S), 0)

    def test_interrupt_leaves_results(self):
        for number, status in (signal.SIGINT, 130), (signal.SIGTERM, 130):
            process = subprocess.Popen(
                [
                    command.FABRICVP,
                    "run",
                    self.machine(print_text("ready\n") + FOREVER),
                    "--out",
                    str(self.folder / "out"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            self.assertEqual(process.stdout.readline(), b"ready\n")
            process.send_signal(number)
            _, errors = process.communicate(timeout=command.TIMEOUT_S)
            self.assertEqual(process.returncode, status)
            self.assertIn(b"stopped on request", errors)
            self.assertGreater(statistics(self.folder / "out")["sim.instructions"], 1000)

    def test_tcp_console(self):
        process = subprocess.Popen(
            [command.FABRICVP, "run", self.machine(print_text("hi\n") + ECHO), "--console", "tcp:0"],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        port = int(re.search(rb"console of node0 on 127\.0\.0\.1:(\d+)", process.stderr.readline())[1])
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", port), timeout=command.TIMEOUT_S) as client:
                client.sendall(b"abc")
                received = b""
                while not received.endswith(b"abc"):
                    received += client.recv(100)
                self.assertTrue(received.startswith(b"hi\n"))

    def test_an_idle_machine_with_a_person_keeps_the_wall_clocks_pace(self):
        config = self.machine(print_text("zzz") + WAIT)
        began = time.monotonic()
        process = subprocess.Popen(
            [command.FABRICVP, "run", config, "--time", "500ms"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.assertEqual(process.wait(command.TIMEOUT_S), 0)
        process.stdin.close()
        self.assertGreater(time.monotonic() - began, 0.45)

    def test_trace(self):
        config = self.machine(print_text("hello") + FOREVER)
        self.succeed(
            "run", config, "--time", "2ms", "--out", "out", "--trace", "--trace-filter", "node0.host.uart", "--quiet"
        )
        events = json.loads((self.folder / "out/trace.json").read_text())["traceEvents"]
        self.assertTrue(any(e["name"] == "node0.host.uart.transmitted" for e in events), events)
        self.assertEqual([p for p in self.folder.rglob("*.tmp")], [])

    def test_a_window_shows_what_grows_steadily(self):
        """A counter that grew as much before the window is shown in it all the same."""
        config = self.machine(FOREVER)
        trace = ["--trace", "--trace-filter", "node0.host.hart0", "--quiet"]
        self.succeed("run", config, "--time", "2ms", "--out", "out", *trace, "--trace-window", "1ms..2ms")
        events = json.loads((self.folder / "out/trace.json").read_text())["traceEvents"]
        shown = [e["ts"] for e in events if e["name"] == "node0.host.hart0.instructions" and e["ph"] == "C"]
        self.assertTrue(shown and min(shown) >= 1000, shown)

    def test_long_command_line_values(self):
        result = self.run_command("run", "x" * 100_000)
        self.assertEqual(result.returncode, 2)
        self.assertLess(len(result.errors), 3000)


if __name__ == "__main__":
    command.main()
