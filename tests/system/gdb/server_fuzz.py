# SPDX-License-Identifier: Apache-2.0
"""Noise on the GDB port changes nothing: `server_fuzz.py FABRICVP ELF` runs the program for a given simulated time,
alone and with clients that send malformed packets, break off, and leave breakpoints behind, and compares all
statistics."""

import json
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CONNECTIONS = 60  # connections
QUANTUM = 1000  # cycles; a stop shifts the borders of slices, and the last one runs beyond the time limit by up to this


def packet(payload):
    return b"$" + payload + b"#%02x" % (sum(payload) & 0xFF)


MALFORMED = [
    packet(p)
    for p in (
        b"m",
        b"mffffffffffffffff,ffffffffffffffff",
        b"M80000000,4:00",
        b"X80000000,ffffffff:",
        b"P",
        b"Pffffffff=00",
        b"G00",
        b"p-1",
        b"Z0",
        b"Z9,0,0",
        b"Z2,fffffffffffffff0,ffffffff",
        b"vCont;",
        b"vCont;s:p9.9",
        b"vCont;q",
        b"qXfer:features:read:target.xml:ffffffffff,1",
        b"qRcmd,zz",
        b"qRcmd,737461747320",
        b"Hgp77.1",
        b"T",
        b"D;99",
        b"vKill;99",
        b"vAttach;1",
        b"}",
        b"",
        b"z0,0,0",
        b"qThreadExtraInfo",
    )
]
MALFORMED += [
    b"$g#00",
    b"$" + b"a" * 40000,
    b"####",
    b"$$$$",
    b"-" * 50,
    b"+" * 50,
    b"\x00\xff\x03\x03",
    b"$m80000000,4",
]
# What a debugger does before it is cut off.
TRUNCATED = [
    packet(b"Z0,80000032,2") + packet(b"vCont;c"),
    packet(b"Z2,80000200,8"),
    packet(b"vCont;s:p1.1;c"),
    packet(b"?") * 300,
]


def run(fabricvp, elf, out, while_running=lambda port: None):
    simulator = subprocess.Popen(
        [
            fabricvp,
            "run",
            HERE / "two_harts.yaml",
            "--set",
            "node.host.harts=1",
            "--firmware",
            elf,
            "--time",
            "100ms",
            "--out",
            out,
            "--console",
            "none",
            "--gdb",
            "0",
            "--gdb-nowait",
            "--quiet",
        ],
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    try:
        while_running(int(re.search(r"127\.0\.0\.1:(\d+)", simulator.stderr.readline())[1]))
        assert simulator.wait(timeout=int(os.environ.get("FABRICVP_TEST_TIMEOUT", 600))) == 0, simulator.stderr.read()
    finally:
        simulator.kill()
    stats = json.loads(pathlib.Path(out, "stats.json").read_text())
    # Joules follow from instructions and cycles, and may differ as far as these.
    return {
        path: value
        for path, value in stats.items()
        if path not in ("sim.wall_s", "sim.events") and ".energy." not in path
    }


def send_malformed(port, sessions):
    rng = random.Random(1)
    for _ in range(CONNECTIONS):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
                s.sendall(b"".join(rng.choice(MALFORMED) for _ in range(rng.randrange(1, 20))))
                s.sendall(rng.randbytes(rng.randrange(200)) + b"+")
                s.sendall(rng.choice(TRUNCATED))
                if s.recv(1):
                    sessions.append(1)
        except OSError:
            if sessions:
                return  # the run is over


def main():
    with tempfile.TemporaryDirectory() as work:
        sessions = []
        alone = run(*sys.argv[1:3], f"{work}/alone")
        noisy = run(*sys.argv[1:3], f"{work}/noisy", lambda port: send_malformed(port, sessions))
    different = {
        path
        for path in alone.keys() | noisy.keys()
        if abs(alone.get(path, -1e9) - noisy.get(path, -1e9))
        > (QUANTUM if path.endswith(("instructions", "cycles")) else 0)
    }
    print(
        f"{len(sessions)} clients got a response; {alone['sim.instructions']:.0f} instructions; different:"
        f" {sorted(different) or 'nothing'}"
    )
    return 0 if len(sessions) > CONNECTIONS // 2 and alone["sim.instructions"] > 1e6 and not different else 1


if __name__ == "__main__":
    sys.exit(main())
