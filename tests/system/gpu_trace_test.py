# SPDX-License-Identifier: Apache-2.0
"""What a trace of a GPU application shows: wavefronts with what they wait for, kernels by name, the command
processor."""

import collections
import json
import pathlib
import subprocess
import tempfile
import unittest

import command
from command import FABRICVP


class GpuTrace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [
                    FABRICVP,
                    "run",
                    "gpu",
                    "--app",
                    "reduction",
                    "--size",
                    "4096",
                    "--console",
                    "none",
                    "--quiet",
                    "--trace",
                    "--out",
                    folder,
                ],
                check=True,
                timeout=command.TIMEOUT_S,
            )
            cls.events = json.loads(pathlib.Path(folder, "trace.json").read_text())["traceEvents"]
            cls.stats = json.loads(pathlib.Path(folder, "stats.json").read_text())
            regions = json.loads(pathlib.Path(folder, "regions.json").read_text())
        # Statistics count from the beginning of the last region of interest. Microseconds, as in the trace.
        cls.counted_from = regions[-1]["from_s"] * 1e6
        tracks = {
            (e["pid"], e["tid"]): e["args"]["name"] for e in cls.events if e["ph"] == "M" and e["name"] == "thread_name"
        }
        cls.slices = collections.defaultdict(list)
        for e in cls.events:
            if e["ph"] in "Xi":
                cls.slices[tracks[e["pid"], e["tid"]].split(" #")[0]].append(e)

    def names(self, track, since=0):
        return collections.Counter(e["name"] for e in self.slices[track] if e["ts"] >= since)

    def test_kernels_have_their_names_on_the_dispatcher(self):
        names = self.names("node0.gpu0.dispatcher")
        self.assertIn("reduction", names)
        self.assertIn("sum", names)
        self.assertNotIn("kernel", names)  # one without a name
        counted = self.names("node0.gpu0.dispatcher", self.counted_from)
        self.assertEqual(sum(counted.values()), self.stats["node0.gpu0.dispatcher.dispatches"])

    def test_a_wavefront_is_shown_from_its_start_to_its_end(self):
        track = next(t for t in sorted(self.slices) if ".wavefront" in t and "barrier" in self.names(t))
        unit, _, number = track.rpartition(".wavefront")
        states = self.names(track)
        self.assertLessEqual(
            set(states), {"ready", "run", "memory", "queue", "fetch", "fence", "barrier", "drain", "start"}
        )
        for state in "run", "memory":
            self.assertGreater(states[state], 0, state)
        slices = sorted(self.slices[track], key=lambda e: e["ts"])
        for a, b in zip(slices, slices[1:]):
            self.assertLessEqual(a["ts"] + a["dur"], b["ts"] + 1e-6, (a, b))
        # Its states fill its lives without a gap. Microseconds with six digits.
        lives = {(e["ts"], e["ts"] + e["dur"]) for e in self.slices[unit]}
        begin, spent = None, 0
        for e in slices:
            begin = e["ts"] if begin is None else begin
            spent += e["dur"]
            if any(abs(begin - b) < 1e-5 and abs(e["ts"] + e["dur"] - end) < 1e-5 for b, end in lives):
                self.assertAlmostEqual(spent, e["ts"] + e["dur"] - begin, delta=1e-5 * len(slices))
                begin, spent = None, 0
        self.assertIsNone(begin, f"{track} ends without an end: {number}")

    def test_stalls_add_up_to_the_statistics(self):
        for state, statistic in (("memory", "stall_memory"), ("barrier", "stall_barrier"), ("fetch", "stall_fetch")):
            shown = sum(
                e["dur"]
                for track, slices in self.slices.items()
                if ".wavefront" in track
                for e in slices
                if e["name"] == state and e["ts"] >= self.counted_from
            )
            counted = sum(v for k, v in self.stats.items() if k.endswith("." + statistic))
            self.assertGreater(counted, 0)
            self.assertAlmostEqual(shown * 1e6, counted, delta=1e-3 * counted, msg=state)

    def test_walks_are_those_that_the_statistics_count(self):
        walks = [e for e in self.slices["node0.gpu0.memory.gmmu"] if e["ts"] + e["dur"] >= self.counted_from]
        self.assertEqual({e["name"] for e in walks}, {"walk"})
        counted = {k: self.stats[f"node0.gpu0.memory.gmmu.walk_latency.{k}"] for k in ("count", "sum", "max")}
        self.assertEqual(len(walks), counted["count"])
        self.assertAlmostEqual(sum(e["dur"] for e in walks) * 1e6, counted["sum"], delta=len(walks))
        self.assertAlmostEqual(max(e["dur"] for e in walks) * 1e6, counted["max"], delta=1)

    def test_the_command_processor_shows_what_called_it(self):
        doorbells = self.names("node0.gpu0.processor", self.counted_from)
        self.assertEqual(doorbells["doorbell of queue 0"], self.stats["node0.gpu0.processor.doorbells"])
        events = self.names("node0.gpu0.processor.hart0")
        for name in "doorbell", "dispatch ended", "host request":
            self.assertGreater(events[name], 0, name)


if __name__ == "__main__":
    unittest.main()
