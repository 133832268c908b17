# SPDX-License-Identifier: Apache-2.0
"""Every parameter of a host does something: each is changed in turn, and some figure or output of a run must move."""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from command import FABRICVP, TIMEOUT_S

# Four machines, so that every parameter has one in which it counts: caches are small enough to be missed.
CONFIGS = {
    "flat": (
        """
node:
  images: {firmware: "firmware:hello.elf"}
  host: {harts: 3}
"""
    ),
    "caches": """
node:
  images: {firmware: "firmware:hello.elf"}
  host:
    harts: 3
    hart: {instruction_cache: {size: 1 KiB, ways: 1, miss: 100 ns}}
    memory_timing: caches
    dram: {ecc: true}
    caches: {l1: {size: 4 KiB}, l2: {size: 4 KiB, ways: 1}, l3: {size: 16 KiB, ways: 1},
             memory: {channels: 2, rate: 100 MB/s}}
""",
    "messages": (
        """
node:
  images: {firmware: "firmware:hello.elf"}
  host: {harts: 3, interrupts: aplic_imsic}
"""
    ),
    "line": (
        """
node:
  images: {firmware: "firmware:hello.elf"}
  host: {uart: {timing: line}}
"""
    ),
}

# What cannot show in the statistics and console of this firmware, and why.
WITHOUT_EFFECT = {
    "simulation.watchdog": "acts when a device does not answer",
    "simulation.log": "selects messages",
    "simulation.translate_after": "changes how fast the simulation is, not what it gives",
    "simulation.seed": "goes into the device tree, which this firmware does not print",
    "node.images": "other software; tested by the loader's own tests",
    "node.host.hart.pmp_entries": "the firmware does not use PMP",
    "node.host.hart.cpi.floating": "no floating point in this image",
    "node.host.hart.cpi.float_divide": "no floating point in this image",
    "node.host.device_store": "no PCIe device here",
    "node.host.dram.latency": "no device here accesses memory",
    "node.host.dram.rate": "no device here accesses memory",
    "node.host.marker.region_memory": "acts when regions fill it",
    "node.host.rtc.epoch": "the firmware uses differences of time",
}


# Where parameters of such paths are looked at first: in most cases, one run shows what they do.
FIRST = {
    "node.host.caches": "caches",
    "node.host.hart.instruction_cache": "caches",
    "node.host.imsic": "messages",
    "node.host.uart": "line",
}


def leaves(schema, path):
    for name, entry in schema["properties"].items():
        if "properties" in entry:
            yield from leaves(entry, f"{path}.{name}")
        elif entry.get("type") != "array":
            yield f"{path}.{name}", entry


def other_value(entry):
    """A value that is allowed and is not the default."""
    default = entry["default"]
    if "enum" in entry:
        return next(v for v in entry["enum"] if v != default)
    if isinstance(default, bool):
        return not default
    if isinstance(default, (int, float)):
        for candidate in (default * 2, default / 2 if isinstance(default, float) else default // 2, default + 1, 1):
            if candidate != default and entry.get("minimum", candidate) <= candidate <= entry.get("maximum", candidate):
                return candidate
    number = re.fullmatch(r"([0-9.]+) (.+)", str(default))
    if number:
        return f"{float(number[1]) * 2 or 1:g} {number[2]}"
    return "other"


class Parameters(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"fabricvp-parameters-{os.getpid()}"
        self.folder.mkdir()
        for kind, text in CONFIGS.items():
            (self.folder / f"{kind}.yaml").write_text(text)
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", self.folder], check=True))

    def run_with(self, kind, change=None):
        """Statistics and console of a run, or the message where the machine is refused."""
        config = self.folder / f"{kind}.yaml"
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        options = ["--set", f"{change[0]}={change[1]}"] if change else []
        done = subprocess.run(
            [FABRICVP, "run", config, "--console", "none", "--quiet", "--time", "1 s", "--out", out, *options],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        if done.returncode == 2:
            return done.stderr
        statistics = json.loads((out / "stats.json").read_text())
        del statistics["sim.wall_s"]
        return statistics, (out / "console.node0.log").read_text()

    def test_each_parameter_changes_something(self):
        schema = json.loads(subprocess.run([FABRICVP, "schema"], capture_output=True, text=True, check=True).stdout)
        node = schema["$defs"]["node"]
        described = dict(leaves(schema["properties"]["simulation"], "simulation"))
        described.update(leaves({"properties": {"host": node["properties"]["host"]}}, "node"))
        baseline = {kind: self.run_with(kind) for kind in CONFIGS}
        for result in baseline.values():
            self.assertIn("all ok, powering off", result[1])

        def is_without_effect(path):
            first = next((kind for start, kind in FIRST.items() if path.startswith(start)), "flat")
            others = [kind for kind in baseline if kind not in (first, "line")]  # the slow line knows only the UART's
            return all(
                self.run_with(kind, (path, other_value(described[path]))) == baseline[kind] for kind in [first, *others]
            )

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            silent = [path for path, is_so in zip(described, pool.map(is_without_effect, described)) if is_so]
        known = [p for p in described if any(p == s or p.startswith(s + ".") for s in WITHOUT_EFFECT)]
        self.assertEqual([p for p in silent if p not in known], [], "these parameters change nothing")
        self.assertEqual([p for p in known if p not in silent], [], "these are listed as silent, and are not")


if __name__ == "__main__":
    sys.exit(unittest.main())
