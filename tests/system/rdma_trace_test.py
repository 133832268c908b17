# SPDX-License-Identifier: Apache-2.0
"""Arrows of a trace: from a lane's doorbell over adapters and network of two nodes to the lane's look at the
completion."""

import collections
import json
import os
import pathlib

import command
from command import CommandTest

CONFIGS = pathlib.Path(os.environ["FABRICVP_CONFIGS"])


class RdmaTrace(CommandTest):
    def flows(self, *options):
        """By number: (phase, track, time) of each end of an arrow, in order; slices by track."""
        self.succeed(
            "run",
            CONFIGS / "gpurdma_pair.yaml",
            "--append",
            "messages=4 runs=1 size=64 " + " ".join(options),
            "--trace",
            "--spans",
            "--quiet",
            "--out",
            "out",
        )
        events = json.loads((self.folder / "out/trace.json").read_text())["traceEvents"]
        tracks = {
            e["tid"]: e["args"]["name"].split(" #")[0] for e in events if e["ph"] == "M" and e["name"] == "thread_name"
        }
        slices = collections.defaultdict(set)
        self.names, self.ends = {}, {}
        flows = collections.defaultdict(list)
        for e in events:
            if e["ph"] == "X":
                slices[e["tid"]].add(e["ts"])
                self.names[tracks[e["tid"]], e["ts"]] = e["name"]
                self.ends[tracks[e["tid"]], e["ts"]] = e["ts"] + e["dur"]
        for e in events:
            if e["ph"] in "stf":
                self.assertIn(e["ts"], slices[e["tid"]], e)  # it begins where a slice does
                flows[e["id"]].append((e["ph"], tracks[e["tid"]], e["ts"], e["name"]))
        return flows

    def check(self, flows, end):
        messages = [f for f in flows.values() if f[0][1].startswith("node0.gpu0.memory.unit") and f[0][3] == "message"]
        self.assertEqual(len(messages), 4)
        for f in messages:
            phases = "".join(phase for phase, *_ in f)
            self.assertRegex(phases, "^st+f$" if end else "^st+$")
            times = [ts for _, _, ts, _ in f]
            track = [t for _, t, _, _ in f]
            # The load that brings the completion may be on its way before the completion is in memory.
            there = times[:-1] if end else times
            self.assertEqual(there, sorted(there))
            self.assertGreater(self.ends[track[-1], times[-1]], there[-1])
            rung = track.index("node0.hca0.send_queues")
            self.assertEqual(self.names[track[rung], times[rung]], "doorbell")
            self.assertTrue(any(t.startswith("node0.gpu0.link") for t in track[1:rung]), track)  # its way over PCIe
            self.assertIn("node0.hca0.network.link", track[: track.index("node1.hca0.network")])  # there
            self.assertIn("node1.hca0.network.link", track[track.index("node1.hca0.network") :])  # and back
            for part in "node0.hca0.requester", "node1.hca0":
                self.assertTrue(any(t.startswith(part) for t in track), (part, track))
            if end:
                self.assertTrue(track[-1].startswith("node0.gpu0.memory.unit"), track)

    def test_lanes_with_queues_in_their_gpu(self):
        self.check(self.flows(), True)

    def test_lanes_with_queues_in_the_host(self):
        self.check(self.flows("gpu_queues=0 gpu_cqs=0 gpu_records=0"), True)

    def test_a_hart_that_posts(self):
        """No lane begins it or finds its end, but adapters and network are joined."""
        flows = self.flows("hart=1")
        self.assertFalse(any(t.startswith("node0.gpu0.memory.unit") for f in flows.values() for _, t, _, _ in f))
        posted = [
            f
            for f in flows.values()
            if f[0][3] == "message" and any(t == "node0.hca0.send_queues" for _, t, _, _ in f) and f[0][0] == "s"
        ]
        self.assertGreaterEqual(len(posted), 4)


if __name__ == "__main__":
    command.main()
