# SPDX-License-Identifier: Apache-2.0
"""Scripts that speak with a guest over its console, and input that ends."""

import json
import subprocess

import command
from command import FOREVER, UART, UNTIL_Q, WAIT, CommandTest, _word, elf, finish, li, print_text

# lbu t1,5(uart); andi t1,t1,1; beqz t1,-8; lbu t1,0(uart); sb t1,0(uart); j -20
ECHO = li(5, UART) + b"".join(
    _word(w) for w in (0x0052C303, 0x00137313, 0xFE030CE3, 0x0002C303, 0x00628023, 0xFEDFF06F)
)


class Script(CommandTest):
    def run_script(self, code, text, *arguments):
        self.write("boot.script", text)
        return self.run_command("run", self.machine(code), "--script", "boot.script", "--out", "out", *arguments)

    def output(self):
        return (self.folder / "out/console.node0.log").read_text()

    def test_a_dialogue(self):
        result = self.run_script(
            print_text("ready> ") + ECHO, 'expect ready\nprompt "> "\ntype "a> "\nexpect "a> "\ncommand "b> \\n> "\n'
        )
        self.assertEqual(result.returncode, 0, result.errors)
        self.assertIn("the script is done", result.errors)
        self.assertEqual(self.output(), "ready> a> b> \n> ")
        self.assertEqual(json.loads((self.folder / "out/run.json").read_text())["outcome"], "event")
        # What it typed can be typed again.
        self.succeed(
            "run",
            self.folder / "machine.yaml",
            "--replay",
            "out/console.node0.input",
            "--time",
            "5ms",
            "--out",
            "again",
            "--quiet",
        )
        self.assertEqual((self.folder / "again/console.node0.log").read_text(), "ready> a> b> \n> \n")

    def test_a_text_that_does_not_come(self):
        result = self.run_script(print_text("hello\n") + WAIT, "timeout 3 ms\nexpect login:\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn(
            "boot.script:2: 'expect login:': not seen within 0.003 s of simulated time; the console ends with"
            " 'hello\\x0a'",
            result.errors,
        )
        self.assertAlmostEqual(json.loads((self.folder / "out/stats.json").read_text())["sim.time_s"], 0.003)

    def test_the_guest_may_finish(self):
        for script, done in ('expect ">"\ntype q\nfinish\n', True), ('expect ">"\ntype xq\nexpect never\n', False):
            result = self.run_script(print_text(">") + UNTIL_Q + print_text("bye") + finish(), script)
            self.assertEqual(result.returncode, 0 if done else 1, result.errors)
            self.assertIn("node0 powered off", result.errors)
            self.assertTrue(self.output().endswith("bye"))
        self.assertIn("boot.script:3: 'expect never': the script was not done; node0 powered off", result.errors)

    def test_the_time_limit_ends_a_script(self):
        result = self.run_script(FOREVER, "expect never\n", "--time", "1ms")
        self.assertEqual(result.returncode, 1)
        self.assertIn(
            "boot.script:1: 'expect never': the script was not done; the time limit was reached", result.errors
        )

    def test_scripts_of_several_nodes(self):
        self.write("guest.elf", elf(print_text(">") + ECHO))
        config = self.write("nodes.yaml", "nodes: 2\nnode: {images: {firmware: guest.elf}}\n")
        self.write("a", 'expect ">"\ntype "one."\nexpect .\n')
        self.write("b", 'expect ">"\ntype "two and more."\nexpect .\n')
        self.succeed("run", config, "--script", "a", "--script", "node1=b", "--out", "out", "--quiet")
        self.assertEqual((self.folder / "out/console.node0.log").read_text(), ">one.")
        self.assertEqual((self.folder / "out/console.node1.log").read_text(), ">two and more.")

    def test_comments_stand_behind_texts_and_patterns(self):
        """A number sign inside of them is theirs, as is a mark of the byte order at the start."""
        result = self.run_script(
            print_text("a # b> ") + ECHO,
            '\ufeffexpect /^a # b/   # a pattern\nexpect "> "  # a text\ntype "x\\\\"  # ends in a backslash\n'
            "expect x\\ # and no more\n",
        )
        self.assertEqual(result.returncode, 0, result.errors)
        self.assertEqual(self.output(), "a # b> x\\")

    def test_mistakes(self):
        for text, says in (
            ("expect a\nexspect b\n", "boot.script:2: unknown word 'exspect', did you mean 'expect'?"),
            ("command ls\n", "boot.script:1: say before what the prompt is"),
            ("", "boot.script: is an empty script"),
            ("expect //\n", "boot.script:1: the pattern is empty"),
        ):
            result = self.run_script(FOREVER, text)
            self.assertEqual(result.returncode, 2)
            self.assertIn(says, result.errors)
            self.assertEqual(len(result.errors.splitlines()), 1)
            self.assertFalse((self.folder / "out").exists())
        self.assertEqual(self.run_command("run", "bare", "--script", "nowhere").returncode, 2)


class EndOfInput(CommandTest):
    """A run without a time limit does not wait for input that cannot come. A slow bus makes guests poll seldom, for
    speed."""

    SLOW = "  host: {bus: {latency: 10 us}}\n"

    def test_a_guest_that_polls(self):
        result = self.succeed("run", self.machine(print_text(">") + ECHO, self.SLOW), stdin=b"hello")
        self.assertEqual(result.text, ">hello")
        self.assertIn("the guests wait for input, and no console can give any", result.errors)

    def test_a_guest_that_rests_with_a_timer(self):
        """It wakes up every millisecond, so that something is scheduled for ever: mtimecmp += 10,000 in a loop of
        wfi."""
        clint = 0x2004000
        code = li(5, clint) + li(6, 0x80) + _word(0x30431073)  # csrw mie, t1 (MTIE)
        again = _word(0x0002B303) + li(7, 10_000) + _word(0x00730333) + _word(0x0062B023) + _word(0x10500073)
        loop = again + _word(self.jump(-len(again)))
        result = self.succeed("run", self.machine(print_text("zzz") + code + self.zero_compare() + loop), stdin=b"")
        self.assertEqual(result.text, "zzz")
        self.assertIn("the guests wait for input", result.errors)

    @staticmethod
    def jump(offset):
        """jal x0, offset"""
        o = offset & 0x1FFFFF
        return (o >> 20 & 1) << 31 | (o >> 1 & 0x3FF) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xFF) << 12 | 0x6F

    @staticmethod
    def zero_compare():
        """sd zero, 0(t0): mtimecmp = 0"""
        return _word(0x0002B023)

    def test_a_guest_that_computes_may_finish(self):
        count = li(7, 30_000_000) + _word(0xFFF38393) + _word(0xFE039EE3)
        result = self.succeed(
            "run",
            self.machine(print_text("a") + count + print_text("b") + finish(), "  host: {hart: {clock: 10 MHz}}\n"),
            stdin=b"x",
        )
        self.assertEqual(result.text, "ab")  # six silent seconds

    def test_input_may_arrive_while_the_pipe_is_open(self):
        process = subprocess.Popen(
            [command.FABRICVP, "run", self.machine(print_text(">") + ECHO, self.SLOW), "--quiet"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.read(1), b">")
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(3)
        process.stdin.write(b"a")
        process.stdin.close()
        self.assertEqual(process.stdout.read(1), b"a")
        self.assertEqual(process.wait(command.TIMEOUT_S), 0)


if __name__ == "__main__":
    command.main()
