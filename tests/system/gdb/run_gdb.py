# SPDX-License-Identifier: Apache-2.0
"""Plays a dialogue of the real gdb-multiarch with a simulated machine.

`run_gdb.py FABRICVP ELF DIALOGUE` starts `FABRICVP run` on two_harts.yaml with a GDB port and feeds DIALOGUE to GDB: a
GDB script in which @PORT@, @ELF@, @FIRMWARE@ and @SCRIPTS@ stand for the port, the program, and the folders of our own
firmware and of scripts. Its comments say what is to come of it:
  #> REGEX     lines of GDB match these, from their start, in this order
  #! REGEX     no line of GDB matches this
  #$ OPTIONS   further options of `FABRICVP run`
  #% OPTIONS   configuration (in this folder) and options in place of two_harts.yaml with the program
  #= STATUS    the simulator ends by itself, with this exit status (else it is interrupted when GDB has gone)
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_S = int(os.environ.get("FABRICVP_TEST_TIMEOUT", 600))


def comments(text, mark):
    return [line[3:] for line in text.splitlines() if line.startswith(f"#{mark} ")]


def play(fabricvp, elf, text):
    """Output of GDB, output of the simulator, its exit status."""
    with tempfile.TemporaryDirectory() as work:
        firmware, scripts = fabricvp.parent.parent / "firmware", HERE.parents[2] / "scripts"
        options = " ".join(comments(text, "%")).replace("@FIRMWARE@", str(firmware)).split()
        machine, *images = options or ["two_harts.yaml", "--firmware", str(elf)]
        simulator = subprocess.Popen(
            [
                str(fabricvp),
                "run",
                str(HERE / machine),
                *images,
                "--gdb",
                "0",
                "--console",
                "none",
                *" ".join(comments(text, "$")).split(),
            ],
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=work,
        )
        try:
            said = ""
            while not (port := re.search(r"GDB port of node0 is 127\.0\.0\.1:(\d+)", said)):
                line = simulator.stderr.readline()
                if not line:
                    sys.exit(f"the simulator did not open a GDB port:\n{said}")
                said += line
            script = pathlib.Path(work, "script.gdb")
            for name, value in {"PORT": port[1], "ELF": elf, "FIRMWARE": firmware, "SCRIPTS": scripts}.items():
                text = text.replace(f"@{name}@", str(value))
            script.write_text(text)
            gdb = subprocess.run(
                [
                    "gdb-multiarch",
                    "-q",
                    "-nx",
                    "-batch",
                    "-ex",
                    "set pagination off",
                    "-ex",
                    "set confirm off",
                    "-ex",
                    "set width 0",
                    "-ex",
                    "set breakpoint pending off",
                    "-x",
                    str(script),
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                text=True,
                timeout=TIMEOUT_S,
                cwd=work,
                env={**os.environ, "LC_ALL": "C", "HOME": work},
            )
            if not comments(text, "="):
                simulator.send_signal(signal.SIGINT)
            said += simulator.communicate(timeout=TIMEOUT_S)[1]
            return gdb.stdout, said, simulator.returncode
        except subprocess.TimeoutExpired as late:
            sys.exit(f"{late}\n{(late.output or b'').decode()}")
        finally:
            simulator.kill()


def main():
    fabricvp, elf, dialogue = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    text = dialogue.read_text(encoding="utf-8")
    gdb, simulator, status = play(fabricvp, elf, text)
    lines = iter(gdb.splitlines())
    failures = [
        f"expected and not seen (in this order): {wanted}"
        for wanted in comments(text, ">")
        if not any(re.match(wanted, line) for line in lines)
    ][:1]
    failures += [
        f"must not appear: {line}"
        for line in gdb.splitlines()
        for banned in comments(text, "!")
        if re.match(banned, line)
    ]
    due = int((comments(text, "=") or ["130"])[0])
    if status != due:
        failures.append(f"the simulator's exit status is {status}, not {due}")
    if failures:
        print(gdb, "--- simulator", simulator, "---", *failures, sep="\n")
        return 1
    print(f"{dialogue.name}: {len(comments(text, '>'))} expected lines seen")
    return 0


if __name__ == "__main__":
    sys.exit(main())
