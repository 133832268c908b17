# SPDX-License-Identifier: Apache-2.0
"""Recordings of what GPUs send to each other, played over the machine's own fabric and over others."""

import json
import pathlib

import command

IDEAL, BASELINE = "netcrafter_quad_ideal", "netcrafter_quad"
#: Slow where GPUs speak with each other (transpose, pagerank), walks and stores in order (atax).
APPS = {"transpose": 512, "pagerank": 4096, "atax": 256}
#: How far a replay may be from what was executed, on the recorded machine and on the baseline.
TOLERANCE = 0.1


class ReplayTest(command.CommandTest):
    def run_app(self, app, config, out, *more):
        self.succeed(
            "run",
            config,
            "--app",
            app,
            "--size",
            APPS[app],
            "--placement",
            "lasp",
            "--dispatch",
            "lasp",
            "--console",
            "none",
            "--out",
            out,
            *more,
        )
        return self.region(out)

    def region(self, out):
        (region,) = json.loads((self.folder / out / "regions.json").read_text())
        self.assertEqual(region["label"], "kernels")
        return region

    def replay(self, recording, config, out, *more):
        self.succeed("replay", recording, config, "--out", out, *more)
        return self.region(out)

    def assert_near(self, replayed, executed):
        then, now = (r["to_s"] - r["from_s"] for r in (executed, replayed))
        self.assertLess(abs(now / then - 1), TOLERANCE, f"{now} s replayed, {then} s executed")

    def test_replay_takes_as_long_as_the_run(self):
        for app in APPS:
            with self.subTest(app):
                ideal = self.run_app(app, IDEAL, "ideal", "--record", f"{app}.recording")
                base = self.run_app(app, BASELINE, "base")
                again = self.replay(f"{app}.recording", IDEAL, "again")
                self.assert_near(again, ideal)
                self.assert_near(self.replay(f"{app}.recording", BASELINE, "played"), base)
                # Nearly all that GPUs ask of each other is played, and all of it comes back.
                sent = [
                    sum(r["statistics"][f"node0.fabric.gpu{g}.requests_sent"] for g in range(4)) for r in (again, ideal)
                ]
                self.assertGreater(sent[0], 0.9 * sent[1])
                self.assertLessEqual(sent[0], sent[1])
                values = again["statistics"]
                self.assertEqual(values["node0.replay.transactions"], sent[0])
                self.assertEqual(
                    (
                        values["node0.replay.corrupt"],
                        values["node0.replay.failed"],
                        values["node0.fabric.packets_in_flight"],
                    ),
                    (0, 0, 0),
                )

    def test_recording_changes_nothing(self):
        plain = self.run_app("transpose", IDEAL, "plain")
        recorded = self.run_app("transpose", IDEAL, "recorded", "--record", "x.recording")
        # Wavefronts stop at the first use of each register, and look for their line of code once more then.
        differ = {k for k, v in plain["statistics"].items() if recorded["statistics"][k] != v}
        self.assertEqual({k for k in differ if ".instruction_cache" not in k or not k.endswith(".hits")}, set())
        self.assertEqual([plain[k] for k in ("from_s", "to_s")], [recorded[k] for k in ("from_s", "to_s")])

    def test_two_replays_are_equal(self):
        self.run_app("transpose", IDEAL, "ideal", "--record", "x.recording")
        netcrafter = [
            f"--set=node.fabric.cluster{c}.stage.{key}" for c in (0, 1) for key in ("kind=netcrafter", "stitching=true")
        ]
        for n in range(2):
            self.replay("x.recording", BASELINE, f"out{n}", *netcrafter)
        files = [(self.folder / f"out{n}" / "regions.json").read_bytes() for n in range(2)]
        self.assertEqual(*files)
        first = self.region("out0")["statistics"]
        self.assertGreater(sum(v for k, v in first.items() if "stitched" in k), 0)

    def test_a_recording_ends_at_its_limit(self):
        """Whole work-groups of all launches are in it, and it plays to its end."""
        for app in APPS:
            with self.subTest(app):
                whole = self.run_app(app, IDEAL, "whole", "--record", "whole.recording")
                options = ["--app", app, "--size", APPS[app], "--placement", "lasp", "--dispatch", "lasp"]
                result = self.succeed(
                    "run", IDEAL, *options, "--record", "part.recording", "--record-limit", "10KiB", "--out", "part"
                )
                says = "part.recording has reached its limit of 10 KiB; work-groups that begin from now on"
                self.assertEqual(result.errors.count(says), 1, result.errors)
                self.assertEqual([self.region("part")[k] for k in ("from_s", "to_s")], [whole["from_s"], whole["to_s"]])
                sizes = [(self.folder / f"{name}.recording").stat().st_size for name in ("whole", "part")]
                self.assertLess(sizes[1], sizes[0])
                played = self.replay("part.recording", IDEAL, "played")
                longest = (whole["to_s"] - whole["from_s"]) * (1 + TOLERANCE)
                self.assertLess(played["to_s"] - played["from_s"], longest)
                sent = sum(played["statistics"][f"node0.fabric.gpu{g}.requests_sent"] for g in range(4))
                self.assertGreater(sent, 0)
        result = self.run_command("run", IDEAL, "--record-limit", "1KiB")
        self.assertEqual((result.returncode, result.errors.count("\n")), (2, 1), result.errors)
        self.assertIn("--record-limit needs --record", result.errors)

    def test_a_dead_link_is_reported(self):
        self.run_app("transpose", IDEAL, "ideal", "--record", "x.recording")
        text = (self.folder / "ideal" / "config.resolved.yaml").read_text()
        dead = self.write(
            "dead.yaml",
            text.replace("faults: []", "faults: [{at: 5 us, target: node0.fabric.gpu3.link, kind: dead}]", 1),
        )
        result = self.run_command("replay", "x.recording", dead)
        self.assertEqual(result.returncode, 1, result.errors)
        self.assertRegex(result.errors, r"node0: \d+ of \d+ transactions failed on a dead link or switch")

    def replicated_machine(self, gpus, link):
        """The ideal machine with more GPUs, all on one switch."""
        text = (pathlib.Path(__file__).parents[2] / "configs" / f"{BASELINE}.yaml").read_text()
        head, _ = text.split("  fabric:\n")
        links = "".join(f"      - {{from: gpu{n}, to: cluster0, lanes: 8, lane_rate: {link}}}\n" for n in range(gpus))
        return self.write(
            f"tiled{gpus}.yaml",
            head.replace(3 * "    - *gpu\n", (gpus - 1) * "    - *gpu\n")
            + "  fabric:\n    switches:\n      - {name: cluster0}\n    links:\n"
            + links,
        )

    def test_replicas_on_a_larger_machine(self):
        self.run_app("transpose", IDEAL, "ideal", "--record", "x.recording")
        for gpus in (4, 8, 80):
            self.replay("x.recording", self.replicated_machine(gpus, "16 GB/s"), f"of{gpus}")
        alone, *several = [self.region(f"of{gpus}") for gpus in (4, 8, 80)]
        for gpus, region in zip((8, 80), several):
            for g in range(gpus):  # On one switch of as many links no replica delays another.
                for what in ("requests_sent", "packets_received"):
                    self.assertEqual(
                        region["statistics"][f"node0.fabric.gpu{g}.{what}"],
                        alone["statistics"][f"node0.fabric.gpu{g % 4}.{what}"],
                    )
            self.assertEqual(
                region["statistics"]["node0.replay.transactions"],
                gpus / 4 * alone["statistics"]["node0.replay.transactions"],
            )
            self.assertEqual(region["to_s"] - region["from_s"], alone["to_s"] - alone["from_s"])
        # Across: the first GPUs of all tiles come first.
        across = self.replay("x.recording", "tiled80.yaml", "interleaved", "--replica-placement", "interleaved")
        for g in range(80):
            self.assertEqual(
                across["statistics"][f"node0.fabric.gpu{g}.requests_sent"],
                alone["statistics"][f"node0.fabric.gpu{g // 20}.requests_sent"],
            )

    def test_invalid_input_is_rejected_in_one_line(self):
        self.run_app("transpose", IDEAL, "ideal", "--record", "x.recording")
        whole = (self.folder / "x.recording").read_bytes()
        self.write("short.recording", whole[:-100])
        self.write("changed.recording", whole[:5000] + bytes([whole[5000] ^ 8]) + whole[5001:])
        self.write("old.recording", whole[:19] + b"\x07" + whole[20:])
        self.write("machine.yaml", "node: {}\n")
        cases = [
            (["short.recording", BASELINE], "short.recording: is cut short"),
            (["changed.recording", BASELINE], "changed.recording: is corrupted"),
            (
                ["old.recording", BASELINE],
                "old.recording: is a recording of version 7; this is version 1: record again",
            ),
            (["nowhere.recording", BASELINE], "nowhere.recording: cannot be read: No such file or directory"),
            (["machine.yaml", BASELINE], "machine.yaml: is no recording"),
            (["x.recording", "bare"], "x.recording does not fit bare: it links no GPUs"),
            (["x.recording", "two_nodes"], "has 2 nodes: a recording is of one"),
            (
                ["x.recording", BASELINE, "--set", "node.gpus.*.memory.unit.l1.sectored=true"],
                (
                    "node.gpus.0.memory.unit.l1.sectored is true, the recording was made with false: that changes what"
                    " GPUs ask for"
                ),
            ),
            (
                ["x.recording", BASELINE, "--set", "node.gpus.*.memory.l2_tlb.sets=64"],
                "node.gpus.0.memory.l2_tlb.sets is 64, the recording was made with 32",
            ),
            (
                [
                    *("x.recording", BASELINE, "--set", "node.fabric.cluster0.stage.kind=netcrafter"),
                    *("--set", "node.fabric.cluster0.stage.trimming=true"),
                ],
                "cluster0.stage.trimming changes what GPUs ask for",
            ),
            (
                ["x.recording", self.replicated_machine(6, "16 GB/s")],
                "it has 6 GPUs, the recording is of 4; a multiple of them would do",
            ),
            (
                ["x.recording", BASELINE, "--replica-placement", "interleaved"],
                (
                    "--replica-placement 'interleaved': the machine has as many GPUs as the recording: there is one"
                    " replica"
                ),
            ),
            (
                ["x.recording", self.replicated_machine(8, "16 GB/s"), "--replica-placement", "anywhere"],
                "--replica-placement: no arrangement is called 'anywhere': give contiguous or interleaved",
            ),
            (["x.recording"], "CONFIG is missing"),
        ]
        for arguments, expected in cases:
            with self.subTest(expected):
                result = self.run_command("replay", *arguments)
                self.assertEqual(result.returncode, 2, result.errors)
                self.assertEqual(result.errors.count("\n"), 1, result.errors)
                self.assertIn(expected, result.errors)
        for arguments, expected in [
            (["run", "bare", "--record", "y", "--time", "1us"], "--record: node0 has no GPUs that are linked"),
            (["run", IDEAL, "--app", "transpose", "--record", "nowhere/y"], "cannot be written"),
            (
                ["run", IDEAL, "--app", "transpose", "--record", "y", "--time", "1us"],
                "nothing was recorded, since no measured part has ended",
            ),
        ]:
            with self.subTest(expected):
                result = self.run_command(*arguments)
                self.assertEqual(result.returncode, 2, result.errors)
                self.assertIn(expected, result.errors)
                self.assertFalse((self.folder / "y").exists())


if __name__ == "__main__":
    command.main()
