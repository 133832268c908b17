# SPDX-License-Identifier: Apache-2.0
"""The campaign of injected faults: classes, by planted faults whose outcome is known, and what a campaign promises."""

import argparse
import os
import random
import signal
from dataclasses import replace

import fabricvp
import pytest
from fabricvp import Outcome
from fabricvp.errors import InputError
from fabricvp.experiments.faults import measure as campaign
from fabricvp.experiments.faults import study
from fabricvp.experiments.faults.kinds import PROTECTION, Drawn, Place, Step, kinds_of, structure_of
from fabricvp.experiments.faults.measure import FLIPS, Injections, Planned, measure, run_plan
from fabricvp.experiments.faults.outcomes import Ending, Fate, classify, counters_of, lines_of
from fabricvp.experiments.faults.places import byte_in_use, live_unit_cache
from fabricvp.experiments.faults.study import interval
from fabricvp.experiments.frame import Run
from fabricvp.experiments.points import PointFailed, run_points
from fabricvp.experiments.result_cache import ResultCache
from fabricvp.sweeps.progress import Progress

MICROSECOND = 10**6
#: Times of the planted faults are those of this work.
OPTIONS = "entries=0 size=128 link_modes=netcrafter_lanes bytes=4096 messages=8 rows=16 columns=16 iterations=2"
OPTIONS += " pcie_errors=reported"
#: class, target, fault, arguments, microseconds
PLANTED = [
    (Fate.MASKED, "node1.pcie.disk0.link", "drop", {"flow": "posted"}, 7700),
    (Fate.CORRECTED, "node0.pcie.switch0.upstream_port", "bit_errors", {"rate": "1e-4", "lasting": "100 us"}, 7700),
    (Fate.RECOVERED, "node1.hca0.network.link", "drop", {"count": "3"}, 8503),
    (Fate.REPORTED, "node1.fabric.gpu0.link", "poison", {}, 7450),
    (Fate.HANG, "node1.gpu3.link", "lose_credit", {"flow": "non_posted"}, 7367),
    (Fate.SILENT, "node1.fabric.cluster1.to_cluster0", "flip", {"bit": "160"}, 7000),
    (Fate.CRASH, "node0", "killed", {}, 8500),
]
#: Queues that get stuck, for good or for a time, and packets that are sent twice.
STUCK = [
    (Fate.HANG, "node1.gpu3.link", "stuck", {"flow": "non_posted"}, 7367),
    (Fate.MASKED, "node1.gpu3.link", "stuck", {"flow": "non_posted", "lasting": "20 us"}, 7367),
    (Fate.HANG, "node1.fabric.gpu0.link", "stuck", {"channel": "response"}, 7400),
    (Fate.HANG, "node1.gpu0.dispatcher", "stuck", {}, 7250),
    (Fate.HANG, "node1.hca0.requester", "stuck", {}, 8300),
    (Fate.CORRECTED, "node1.hca0.network.link", "duplicate", {"count": "3"}, 8503),
]
QUIET = Ending(
    Outcome.POWER_OFF, "node0 powered off", (False, False), (("spmv ok", "all ok"), ()), {"a.transmitter.replays": 1}, 5
)


def plan_of(faults):
    """An injection for each (…, target, fault, arguments, microseconds)."""
    return [
        Planned(i, kind, "", Drawn(target, (Step(kind, 0, tuple(arguments.items())),)), at * MICROSECOND)
        for i, (*_, target, kind, arguments, at) in enumerate(faults)
    ]


def lost_gpu(point):
    """A GPU whose registers read as ones from then on."""
    faults = [("node1.gpu1.link", "link_down", {"lasting": "0 ps"}, 7275)]
    return run_plan(point, lambda kinds, window: plan_of(faults))


def planted(point):
    """Runs PLANTED; a fault "killed" ends the branch's process."""

    def inject(branch, target, kind, at, **arguments):
        if kind == "killed":
            os.kill(branch.pid, signal.SIGKILL)
        else:
            given(branch, target, kind, at, **arguments)

    given, campaign.inject = campaign.inject, inject
    return run_plan(point, lambda kinds, window: plan_of(PLANTED))


def _ignore(index):
    pass


def test_planted_faults_have_the_outcome_that_is_known():
    found = run_points(planted, [Injections(0, len(PLANTED), 1, options=OPTIONS)], 1, lambda index: None)[0]
    assert [i.fate for i in found.injections] == [fate for fate, *_ in PLANTED], found.injections
    hang = found.injections[4]
    assert hang.detail.startswith("watchdog: node1.gpu3.link has waited") and "non_posted credits" in hang.detail
    assert "is wrong" in found.injections[5].detail
    assert all(i.at_ps == at * MICROSECOND for i, (*_, at) in zip(found.injections, PLANTED))


def stuck(point):
    """Runs STUCK."""
    return run_plan(point, lambda kinds, window: plan_of(STUCK))


def test_queues_that_are_stuck_are_named():
    found = run_points(stuck, [Injections(0, len(STUCK), 1, options=OPTIONS)], 1, _ignore)[0].injections
    assert [i.fate for i in found] == [fate for fate, *_ in STUCK], found
    named = [i.detail for i in found if i.fate == Fate.HANG]
    assert all(detail.startswith("watchdog: ") and "stuck" in detail for detail in named), named
    assert "node1.gpu0.dispatcher" in named[2] and "node1.hca0.requester" in named[3], named
    assert "duplicates" in found[-1].detail


def test_registers_of_a_gpu_that_is_gone_end_the_work_on_its_links():
    found = run_points(lost_gpu, [Injections(0, 1, 1, options=OPTIONS)], 1, lambda index: None)[0].injections[0]
    assert (found.fate, found.detail) == (Fate.REPORTED, "spmv: the links between the GPUs cannot be set")
    assert found.end_ps < 400_000 * MICROSECOND


def lost_load(point):
    """A load of a hart whose request is lost, and gives all ones."""
    faults = [("node0.pcie.root.root_port0", "drop", {"flow": "non_posted"}, 7714)]
    late = [replace(each, at_ps=7_714_399_000) for each in plan_of(faults)]
    return run_plan(point, lambda kinds, window: late)


@pytest.mark.parametrize("errors, fate", [("reported", Fate.REPORTED), ("ignored", Fate.SILENT)])
def test_a_lost_load_is_a_failure_where_errors_are_reported(errors, fate):
    point = Injections(0, 1, 1, options=OPTIONS.replace("reported", errors))
    found = run_points(lost_load, [point], 1, lambda index: None)[0].injections[0]
    assert found.fate == fate, found
    assert ("a non-fatal error: completion timeout" in found.detail) == (errors == "reported")


def options_of(**given):
    """Options of the command; those that are not given are as the command has them."""
    missing = {"machine": "cluster", "injections": None, "number": None, "ecc": False, "seed": 1, "kinds": None}
    return argparse.Namespace(**(missing | given))


def test_one_injection_of_a_campaign_is_repeated_by_its_number():
    options = options_of(number=10, seed=5)
    run = Run(True, 1, options, Progress())
    study.study(run)
    assert run.report.ok and [len(s.frame) for s in tables(run)] == [1]
    assert tables(run)[0].frame.number.tolist() == [10]


def test_an_injection_with_ecc_is_repeated_by_its_number(monkeypatch):
    """Of a campaign and alone: the same rows, but for those of machines without ECC."""
    monkeypatch.setattr(study, "AGAIN", 1)
    frames = []
    for given in ({"injections": 2}, {"number": 0, "ecc": True}, {"number": 0}):
        run = Run(True, 2, options_of(seed=7, kinds=["link down", "bit flip"], **given), Progress())
        study.study(run)
        assert run.report.ok, run.report.checks
        frames.append(tables(run)[-1].frame)
    campaign_rows, with_ecc, without = frames
    assert list(zip(campaign_rows.number, campaign_rows.ecc)) == [(0, "no"), (1, "no"), (0, "yes")]
    assert with_ecc.values.tolist() == campaign_rows[campaign_rows.ecc == "yes"].values.tolist()
    assert without.values.tolist() == campaign_rows[:1].values.tolist()


@pytest.mark.parametrize(
    "given, words",
    [
        ({}, "--ecc needs --number"),
        ({"number": 1, "kinds": ["link down"]}, "--ecc: --kinds has none of those with ECC: bit flip, two bits flip"),
        ({"number": 1, "machine": "linux_rdma_pair"}, "--ecc: memories of linux_rdma_pair have none"),
        ({"number": -1}, "--number: -1 is not a number of 0 or more"),
    ],
)
def test_ecc_goes_with_numbers_that_have_it(given, words):
    with pytest.raises(InputError, match=words):
        study.study(Run(True, 1, options_of(ecc=True, **given), Progress()))


def lost_node(point):
    """A node that loses its power."""
    return run_plan(point, lambda kinds, window: plan_of([("node1", "power_off", {}, 8300)]))


def test_a_node_that_loses_its_power_is_missed_by_the_other_one():
    injection = run_points(lost_node, [Injections(0, 1, 1, options=OPTIONS)], 1, _ignore)[0].injections[0]
    assert injection.fate == Fate.REPORTED, injection
    assert injection.end_ps > 8_300 * MICROSECOND


def test_a_wait_for_a_node_that_has_lost_its_power_ends():
    """The other node takes its turn at the sparse matrix when node 0 has ended its own."""
    with fabricvp.spawn("cluster") as platform:
        for node in platform.nodes:
            text = "" if node.index else OPTIONS
            platform.load_images(node.index, firmware=fabricvp.firmware_path("cluster"), append=text)
        platform.run("1 s", until=campaign.BEGIN)
        platform.inject("node0", "power_off", at="7.3 ms")
        platform.run("6 s")
        assert platform.nodes[0].outcome.detail == "node0 has lost its power"
        assert "bootstrap: node 0 has not come to the next exchange within 5 s" in platform.nodes[1].console.output


def test_with_ecc_no_flip_of_one_or_two_bits_corrupts_silently():
    found = run_points(measure, [Injections(0, 12, 7, FLIPS, ecc=True)], 1, _ignore)[0].injections
    assert {i.structure for i in found} == {f"{name} with ECC" for name in PROTECTION}
    assert not [i for i in found if i.fate in (Fate.SILENT, Fate.CRASH, Fate.UNNAMED_HANG)], found


def test_the_same_seed_gives_the_same_injections_and_outcomes():
    twice = run_points(measure, [Injections(9, 3, 5), Injections(9, 3, 5), Injections(9, 3, 6)], 2, lambda index: None)
    assert twice[0] == twice[1]
    assert [i.number for i in twice[0].injections] == [9, 10, 11]
    assert [i.at_ps for i in twice[0].injections] != [i.at_ps for i in twice[2].injections]
    assert twice[0].undisturbed == twice[2].undisturbed


def test_a_kind_that_is_not_there_is_named():
    with pytest.raises(InputError, match="no kind 'link up'; there are: bit errors, link down"):
        run_points(measure, [Injections(0, 1, 1, ("link up", "link down"))], 1, lambda index: None)


class Found(Progress):
    """Remembers what was found in the result cache."""

    def found(self, label, known, total):
        self.known = {**getattr(self, "known", {}), label: (known, total)}


def test_a_campaign_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "CHUNK", 2)
    monkeypatch.setattr(study, "AGAIN", 1)

    def run(injections, cache):
        options = options_of(injections=injections, seed=3, kinds=["lanes lost"])
        made = Run(True, 2, options, Found(), result_cache=ResultCache(cache))
        study.study(made)
        return made

    first, more = run(2, tmp_path / "cut"), run(4, tmp_path / "cut")
    assert first.progress.known["injections"] == (0, 1) and more.progress.known["injections"] == (1, 2)
    assert more.report.ok, more.report.checks
    whole = run(4, tmp_path / "whole")
    assert [s.frame.to_csv() for s in tables(whole)] == [s.frame.to_csv() for s in tables(more)]


def tables(run):
    return [section for section in run.report.sections if hasattr(section, "frame")]


def test_a_campaign_that_lost_a_simulator_fails(monkeypatch):
    crashed = campaign.Injection(0, "link down", "PCIe", "node0.gpu0.link", "", 5, Fate.CRASH, "process gone", 0)
    options = options_of(injections=1, kinds=["link down"])
    run = Run(True, 1, options, Progress())
    monkeypatch.setattr(run, "map", lambda *_, **__: [campaign.Injected((crashed,), QUIET)])
    study.study(run)
    assert [c.name for c in run.report.checks if not c.ok] == ["no fault ends the simulator"]


def ended(**changes):
    return classify(QUIET, replace(QUIET, **changes))


@pytest.mark.parametrize(
    "fate, changes",
    [
        (Fate.MASKED, {}),
        (Fate.MASKED, {"time_ps": 9}),
        (Fate.CORRECTED, {"counters": {"a.transmitter.replays": 2}}),
        (Fate.CORRECTED, {"counters": {"a.hca0.dropped": 1}}),
        (Fate.CORRECTED, {"counters": {"node0.fabric.gpu0.link.link_downs": 1}}),
        (Fate.CORRECTED, {"counters": {"node0.fabric.gpu0.link.failed_lanes": 1}}),
        (Fate.CORRECTED, {"counters": {"a.hca0.network.link.dropped.corrupted": 1}}),
        (Fate.CORRECTED, {"counters": {"a.memory.hbm.corrected_errors": 1}}),
        (Fate.RECOVERED, {"counters": {"a.transmitter.replays": 2, "b.timeouts": 1}}),
        (Fate.REPORTED, {"counters": {"node0.pcie.root.error_messages": 1}}),
        (Fate.REPORTED, {"lines": (("spmv ok", "a request failed", "all ok"), ())}),
        (Fate.REPORTED, {"outcome": Outcome.REFUSED, "detail": "no GPU"}),
        (Fate.REPORTED, {"outcome": Outcome.TIME_LIMIT, "failed": (True, False), "lines": (("panic",), ())}),
        (Fate.SILENT, {"lines": (("row 2 is wrong", "spmv FAILED"), ())}),
        (Fate.SILENT, {"lines": (("spmv ok",), ())}),
        (Fate.HANG, {"outcome": Outcome.WATCHDOG}),
        (Fate.UNNAMED_HANG, {"outcome": Outcome.TIME_LIMIT}),
    ],
)
def test_classes_follow_from_differences(fate, changes):
    assert ended(**changes)[0] == fate


def test_what_was_injected_is_no_sign_of_an_error():
    values = {
        "node0.gpu0.faults.surprise_removal": 1,
        "node0.hca0.network.link.dropped.injected": 3,
        "node0.pcie.root.root_port0.dropped": 1,
        "network.packets.dropped": 3,
        "node0.hca0.link.transmitter.replays": 0,
        "node0.hca0.requester.timeouts": 2,
    }
    assert counters_of(values) == {"node0.hca0.requester.timeouts": 2}


def test_measured_figures_are_no_results_but_digests_are():
    assert lines_of("a \n# time_ps=5\n# digest value=0x1\n\n") == ("a", "# digest value=0x1")
    changed = replace(QUIET, lines=(("# digest value=0x2",), ()))
    assert classify(replace(QUIET, lines=(("# digest value=0x1",), ())), changed)[0] == Fate.SILENT


@pytest.mark.parametrize(
    "target, structure",
    [
        ("node0.hca0.network.link", "InfiniBand link"),
        ("network.switch0.to_node0_hca0", "InfiniBand link"),
        ("network.switch0", "InfiniBand switch"),
        ("node1.fabric.gpu0.link", "GPU fabric"),
        ("node1.gpu0.link", "PCIe"),
        ("node1.pcie.switch0.upstream_port", "PCIe"),
        ("node1.gpu3", "GPU"),
        ("node1", "node"),
        ("node1.gpu3.memory.l2.bank4", "L2 cache"),
        ("node1.gpu3.memory.unit12.l1", "L1 cache"),
        ("node1.gpu3.memory.hbm", "HBM"),
        ("node1.gpu3.processor", "command processor"),
        ("node1.gpu3.compute_unit63", "lanes' registers"),
        ("node1.host.dram", "host memory"),
        ("node0.hca0", "RDMA adapter"),
    ],
)
def test_structures_follow_from_paths(target, structure):
    assert structure_of(target) == structure


def test_intervals_are_wilsons():
    low, high = interval(0, 20)
    assert low == 0 and high == pytest.approx(0.1611, abs=1e-4)  # Brown, Cai, DasGupta 2001: z²/(n + z²)
    assert interval(10, 20) == pytest.approx((0.2993, 0.7007), abs=1e-4)


def test_a_run_that_fails_without_a_fault_is_an_error():
    with pytest.raises(PointFailed, match="the run without a fault ended otherwise: refused"):
        run_points(measure, [Injections(0, 1, 1, options="size=5000000000")], 1, lambda index: None)


def test_caches_of_units_are_hit_while_their_wavefronts_live():
    """A kernel begins with empty ones, so others have nothing that could flip."""
    with fabricvp.spawn("cluster") as platform:
        for node in platform.nodes:
            text = "" if node.index else OPTIONS
            platform.load_images(node.index, firmware=fabricvp.firmware_path("cluster"), append=text)
        for target in ("node0.gpu0.memory.unit9.l1", "node0.gpu0.memory.scalar_cache2"):
            assert platform.call(live_unit_cache, target, 0.5) is None
        platform.run("1 s", until=campaign.BEGIN)
        while not platform.nodes[0].gpus[3].wavefronts():
            platform.run("1 us")
        alive = {(g.name, w.compute_unit) for g in platform.nodes[0].gpus for w in g.wavefronts()}
        for fraction in (0, 0.4, 0.99):
            unit = platform.call(live_unit_cache, "node0.gpu0.memory.unit9.l1", fraction)
            assert unit in {f"{gpu}.memory.unit{unit}.l1" for gpu, unit in alive}
            scalar = platform.call(live_unit_cache, "node0.gpu0.memory.scalar_cache2", fraction)
            assert scalar in {f"{gpu}.memory.scalar_cache{unit // 4}" for gpu, unit in alive}
        assert unit.startswith("node0.gpu3.")


def test_queues_of_all_structures_are_drawn():
    with fabricvp.spawn("cluster") as platform:
        kinds = kinds_of(platform.faults(), 2)
    stuck = {k.structure: k.name for k in kinds if k.draw(random.Random(1), k.targets[0])[0].kind == "stuck"}
    assert stuck == {
        "PCIe": "queue stuck",
        "GPU fabric": "queue stuck",
        "InfiniBand link": "queue stuck",
        "GPU": "dispatcher stuck",
        "RDMA adapter": "send queue stuck",
    }
    assert [k.structure for k in kinds if k.name == "packet duplicated"] == ["InfiniBand link"]


def test_flips_in_caches_of_units_happen_while_wavefronts_live():
    targets = [fabricvp.FaultKind("node1.gpu0.memory.unit3.l1", "flip", "", ())]
    kinds = [kind for kind in kinds_of(targets, 2) if kind.structure == "L1 cache"]
    window = argparse.Namespace(begin=0, end=10**9, live=[[], [7_000, 8_000]])
    drawn = [campaign._drawn(1, number, kinds, window) for number in range(20)]
    assert {each.at_ps for each in drawn} == {7_000, 8_000}
    assert all(each.drawn.place == Place.UNIT for each in drawn)


def test_places_in_memory_are_in_pages_with_a_byte_that_is_not_zero():
    with fabricvp.spawn("cluster") as platform:
        for target in ("node1.gpu2.memory.hbm", "node0.host.dram"):
            assert platform.call(byte_in_use, target, 0.5) is None
            node = platform.nodes[int(target[4])]
            memory, base = (node.gpus[2].memory, 0) if "gpu" in target else (node.memory, 0x8000_0000)
            for at, byte in ((3 * 4096, 1), (5 * 4096, 0), (8 * 4096 - 1, 255), (900 * 4096 + 7, 2)):
                memory.write(base + at, bytes([byte]))
            found = [platform.call(byte_in_use, target, (n + 0.5) / 3) for n in range(3)]
            assert found == [page * 4096 + 2048 for page in (3, 7, 900)]
