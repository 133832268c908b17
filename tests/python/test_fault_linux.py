# SPDX-License-Identifier: Apache-2.0
"""The campaign of injected faults on two nodes with Debian's Linux: what consoles say of a fault, planted faults whose
outcome is known, and names for programs that wait."""

import argparse
import os
import subprocess
import sys
from dataclasses import replace

import fabricvp
import pytest
from fabricvp import Outcome
from fabricvp.errors import InputError
from fabricvp.experiments.faults import linux_measure, study
from fabricvp.experiments.faults.kinds import Drawn, Step
from fabricvp.experiments.faults.linux_console import ENDED, LinuxEnding, classify_linux, linux_lines, told, waiting_of
from fabricvp.experiments.faults.linux_measure import LinuxInjections, measure_linux
from fabricvp.experiments.faults.measure import Planned
from fabricvp.experiments.faults.outcomes import Fate
from fabricvp.experiments.frame import Run
from fabricvp.experiments.points import run_points
from fabricvp.sweeps.progress import Progress
from linux_rdma import CONFIGS, WITH_IMAGES

SECOND = 10**12
REGULAR = ("client 100: status 0", "server 100: status 0", ENDED)
QUIET = LinuxEnding(
    Outcome.TIME_LIMIT, "", (False, False), (REGULAR, REGULAR), {}, 5 * SECOND, (False, False), 0, ("", "")
)
CORRECTABLE = (
    "pcieport 0000:00:02.0: AER: Multiple Correctable error message received from 0000:02:00.0",
    "ib_mthca 0000:02:00.0: PCIe Bus Error: severity=Correctable, type=Data Link Layer, (Receiver ID)",
    "ib_mthca 0000:02:00.0:   device [15b3:6274] error status/mask=00000040/00002000",
    "ib_mthca 0000:02:00.0:    [ 6] BadTLP                ",
    "pcieport 0000:00:02.0: AER: Correctable error message received from 0000:00:02.0",
    "pcieport 0000:00:02.0: AER: found no error details for 0000:00:02.0",
)
UNCORRECTABLE = (
    "pcieport 0000:00:02.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction Layer, (Requester ID)",
    "pcieport 0000:00:02.0:   device [fab0:1052] error status/mask=00004000/00400000",
    "pcieport 0000:00:02.0:    [14] CmpltTO                (First)",
)
MISMATCH = ("data mismatch!", "rping client failed: -1", "client 100: status 255", "server 100: status 0", ENDED)
LOCKUP = "watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [rping:77]"
BLOCKED = "INFO: task rping:77 blocked for more than 120 seconds."
WAITS = "node1: 'rping -s' sleeps in ib_uverbs_event_read"


def of(first, second=REGULAR, **changes):
    return classify_linux(QUIET, replace(QUIET, lines=(tuple(first), tuple(second)), **changes))


@pytest.mark.parametrize(
    "fate, detail, lines, changes",
    [
        (Fate.MASKED, "", REGULAR, {}),
        (Fate.MASKED, "", ("ib0: link becomes ready", *REGULAR), {}),
        (Fate.CORRECTED, "node0.hca0.link.transmitter.replays", REGULAR, {"node0.hca0.link.transmitter.replays": 1}),
        (Fate.CORRECTED, CORRECTABLE[0], (*CORRECTABLE, *REGULAR), {}),
        (Fate.RECOVERED, "node0.hca0.requester.timeouts", REGULAR, {"node0.hca0.requester.timeouts": 1}),
        (Fate.REPORTED, UNCORRECTABLE[0], (*CORRECTABLE, *UNCORRECTABLE, *REGULAR), {}),
        (Fate.REPORTED, "node0.hca0.requester.errors", REGULAR, {"node0.hca0.requester.errors": 1}),
        (Fate.REPORTED, "cq completion failed status 12", ("cq completion failed status 12", *MISMATCH[1:]), {}),
        (Fate.REPORTED, "client 100: status 139", ("client 100: status 139", *REGULAR[1:]), {}),
        (Fate.REPORTED, "Oops [#1]", ("Oops [#1]",), {}),
        (Fate.SILENT, "data mismatch!", MISMATCH, {}),
        (Fate.SILENT, "missing: server 100: status 0", (REGULAR[0], ENDED), {}),
        (Fate.HANG, LOCKUP, (LOCKUP, *REGULAR[:1]), {}),
        (Fate.HANG, BLOCKED, (BLOCKED, *REGULAR), {}),
    ],
)
def test_classes_follow_from_consoles_and_counters(fate, detail, lines, changes):
    assert of(lines, counters=changes) == (fate, detail)


def test_a_program_that_ends_late_has_waited_for_a_time_out():
    assert of(REGULAR, time_ps=9 * SECOND) == (Fate.RECOVERED, "programs have ended 4.0 s later")
    assert of(REGULAR, time_ps=5 * SECOND + SECOND // 20)[0] == Fate.MASKED
    assert of((*CORRECTABLE, *REGULAR), time_ps=9 * SECOND)[0] == Fate.CORRECTED  # messages have taken the time


def test_a_program_that_waits_is_a_hang_with_the_name_that_linux_gives():
    waiting = {"detail": "node1.hart0 at pc 0x80001234 (waiting)"}
    assert of(REGULAR, REGULAR[:1], waits=("", WAITS), **waiting) == (Fate.HANG, WAITS)
    assert of(REGULAR, REGULAR[:1], **waiting) == (Fate.UNNAMED_HANG, waiting["detail"])
    assert of(REGULAR[:1], REGULAR[:1], outcome=Outcome.WATCHDOG, detail="watchdog: a link") == (
        Fate.HANG,
        "watchdog: a link",
    )


@pytest.mark.parametrize("gone, text", [("failed", "has lost its power"), ("restarted", "has started again")])
def test_a_node_that_is_gone_is_no_hang_of_its_own(gone, text):
    assert of(REGULAR[:1], **{gone: (True, False)}) == (Fate.REPORTED, f"node0 {text}")
    assert of(REGULAR[:1], REGULAR[:1], **{gone: (True, False)}, waits=("", WAITS)) == (Fate.HANG, WAITS)


def test_the_other_nodes_lines_follow_from_data_that_are_wrong():
    assert (
        of(MISMATCH, ("wait for RDMA_READ_ADV state 11", "server 100: status 255", REGULAR[0], ENDED))[0] == Fate.SILENT
    )
    assert told(QUIET, replace(QUIET, lines=(MISMATCH, ("cq completion failed status 9", *REGULAR)))) == [
        "cq completion failed status 9"
    ]


def test_lines_have_no_times_and_no_prompts_and_are_whole():
    output = (
        "client DISCONNECT EVENT...\r\nclient 100: sta[    4.169477] pcieport 0000:00:02.0: AER: b\r\ntus 0\r\n"
        "~ # \x1b[6n[   12.000001] Oops\r\nwait for RDMA_READ_ADV state 10\r\nserver 100: status 0\r\nprog"
    )
    assert linux_lines(output) == (
        "pcieport 0000:00:02.0: AER: b",
        "client 100: status 0",
        "Oops",
        "server 100: status 0",
    )
    assert linux_lines("one\r\n\r\nOpenSBI v1.1\r\nmore\r\n") == ("one",)


def test_what_a_waiting_node_answers_is_one_line():
    output = (
        "~ # for p in $(pidof rping sleep); do\r\nwaits: rping of rping -s -C 20 : futex_wait_queue\r\n"
        "waits: rping of rping -s -C 20 : ib_uverbs_event_read\r\nwaits: rping of rping -s -C 20 : futex_wait_queue\r\n"
        "~ # "
    )
    assert waiting_of("node1", output, ["node1.hca0 qp 0x16: RTS"]) == (
        "node1: 'rping -s -C 20' sleeps in futex_wait_queue, ib_uverbs_event_read; node1.hca0 qp 0x16: RTS"
    )
    assert waiting_of("node1", "waits: rping of rping -c : 0\r\n", []) == "node1: 'rping -c' runs"
    assert waiting_of("node1", "for p in", ["node1.hca0 qp 0x16: RTS"]) == ""


class Busy:
    """A branch of one node whose processor interrupts keep busy: its shell replies after some simulated seconds."""

    def __init__(self, seconds):
        self.seconds, self.passed, self.output = seconds, 0, "an earlier asked: 42\r\n"
        self.index, self.queue_pairs = 1, ["node1.hca0 qp 0x16: reliable connection, RTS"]
        self.nodes, self.console, self.run, self.harts = [self], self, self, []

    def type(self, text):
        self.output += text.replace("\n", "\r\n")  # its echo

    def start(self, time):
        assert time == "1 s"
        self.passed += 1
        if self.passed == self.seconds:
            self.output += "waits: rping of rping -c : cm_destroy_id\r\nasked: 42\r\n"
        return self

    def result(self, limit):
        return None


@pytest.mark.parametrize("seconds, named", [(1, True), (3, True), (99, False)])
def test_a_busy_node_has_time_to_reply(seconds, named):
    branch = Busy(seconds)
    waits = linux_measure._asked(branch, replace(QUIET, detail="the limit"), [False]).waits
    text = "node1: 'rping -c' sleeps in cm_destroy_id; node1.hca0 qp 0x16: reliable connection, RTS"
    assert waits == ((text if named else ""),)
    assert branch.passed == (seconds if named else linux_measure.REPLY_S)


#: What is known to become of a fault from the begin on, and what is said of it.
PLANTED = [
    (Fate.MASKED, "", "network.switch0.to_node0_hca0", "loss", {"rate": "0.5", "lasting": "1 ns"}),
    (Fate.CORRECTED, "replays", "node0.hca0.link", "bit_errors", {"rate": "4e-5"}),
    (Fate.RECOVERED, "", "node1.hca0.network.link", "loss", {"rate": "0.05"}),
    (Fate.REPORTED, "RDMA_CM_EVENT_ADDR_ERROR", "network.switch0", "dead", {}),
    (Fate.HANG, "watchdog: node1.hca0.link has waited", "node1.hca0.link", "lose_credit", {"flow": "posted"}),
]


def planted(point):
    """Runs PLANTED."""

    def plan(point, kinds, window):
        return [
            Planned(i, kind, "", Drawn(target, (Step(kind, 0, tuple(arguments.items())),)), window.begin)
            for i, (*_, target, kind, arguments) in enumerate(PLANTED)
        ]

    linux_measure.drawn_plan = plan
    return measure_linux(point)


@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_planted_faults_have_the_outcome_that_is_known():
    found = run_points(planted, [LinuxInjections(0, len(PLANTED), 1)], 1, lambda index: None)[0].injections
    assert [i.fate for i in found] == [fate for fate, *_ in PLANTED], found
    assert all(detail in i.detail for i, (_, detail, *_) in zip(found, PLANTED)), found


def waiting(point):
    """Programs without a network, when the limit comes."""
    with fabricvp.Platform.from_config(point.machine) as platform:
        before = linux_measure.start(platform, point.messages)
        with platform.fork() as branch:
            branch.inject("network.switch0", "dead")
            return linux_measure.run_branch(branch, replace(point, limit="100 ms"), before, None)


@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_linux_and_adapters_name_programs_that_wait():
    ending = run_points(waiting, [LinuxInjections(0, 1, 1)], 1, lambda index: None)[0]
    fate, detail = classify_linux(QUIET, replace(ending, lines=((), ()), counters={}))
    assert fate == Fate.HANG
    for node, other in ((0, 2), (1, 1)):
        assert f"node{node}: 'rping -c -C 20 -V -S 100 -a 10.1.0.{other}' sleeps in " in detail.replace("; ", ": "), (
            detail
        )


@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_the_same_seed_gives_the_same_injections_and_outcomes():
    points = [LinuxInjections(3, 3, 5), LinuxInjections(3, 3, 5), LinuxInjections(3, 1, 6)]
    twice = run_points(measure_linux, points, 2, lambda index: None)
    assert twice[0] == twice[1] and twice[0].undisturbed == twice[2].undisturbed
    assert [i.number for i in twice[0].injections] == [3, 4, 5]
    assert twice[0].injections[0].at_ps != twice[2].injections[0].at_ps


def campaign(machine, **options):
    given = {"injections": None, "number": None, "ecc": False, "seed": 1, "kinds": None, **options}
    run = Run(True, 1, argparse.Namespace(machine=machine, **given), Progress())
    study.study(run)
    return run


@WITH_IMAGES
@pytest.mark.timeout(6000)
def test_a_campaign_on_linux_has_tables_of_its_own():
    run = campaign("linux_rdma_pair", injections=2, kinds=["lanes lost", "credits lost"])
    assert run.report.ok, run.report.checks
    names = [section.name for section in run.report.sections if hasattr(section, "name")]
    assert names == ["linux_fates", "linux_outcomes", "linux_shares", "linux_hangs", "linux_injections"]


def test_a_machine_without_campaigns_is_named():
    with pytest.raises(InputError, match="--machine: a campaign runs on cluster or linux_rdma_pair, not on 'pair'"):
        campaign("pair")


def test_images_that_are_missing_are_named_in_one_line(tmp_path):
    """Machines lie in a folder beside which there are no images."""
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "linux_rdma_pair.yaml").write_bytes((CONFIGS / "linux_rdma_pair.yaml").read_bytes())
    command = ["experiment", "faults", "--machine", "linux_rdma_pair", "--quick", "--out", str(tmp_path / "out")]
    places = {"FABRICVP_CONFIGS": str(tmp_path / "configs"), "FABRICVP_LINUX": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-m", "fabricvp", *command], capture_output=True, text=True, env=os.environ | places
    )
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1, ended.stderr
    assert f"{tmp_path}/build/linux/Image: no such file: `make linux`" in ended.stderr
