# SPDX-License-Identifier: Apache-2.0
"""The congestion model in closed form, from Python and from the command line."""

import json
import resource

import fabricvp
import pytest
from fabricvp import congestion

EXAMPLE = ["0:2=300MB", "1:4=300MB", "3:2=300MB", "6:4=300MB"]
BAND = "11.8577GB/s"  # 300 MB in 25.3 ms


def answer(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("form", congestion.FORMS)
def test_worked_example(command, form):
    got = answer(
        command("congestion", "cs_storm", "--tau", "0.2", "--bandwidth", BAND, *EXAMPLE, "--form", form, "--json")
    )
    assert set(got) == {"phases", "finish_s"}
    first, second = got["phases"]
    assert first["factors"] == pytest.approx({"0:2": 0.3, "1:4": 0.3, "3:2": 0.7, "6:4": 0.7})
    assert second["factors"] == pytest.approx({"0:2": 0.5, "1:4": 0.5})
    assert first["end_s"] == pytest.approx(36.14e-3, abs=1e-5)
    assert second["end_s"] == pytest.approx(65.06e-3, abs=1e-5)
    assert got["finish_s"] == pytest.approx(
        {"0:2": 65.06e-3, "1:4": 65.06e-3, "3:2": 36.14e-3, "6:4": 36.14e-3}, abs=1e-5
    )


def test_tau_of_the_measured_machine_is_the_default(command):
    got = answer(command("congestion", "cs_storm", "--bandwidth", BAND, *EXAMPLE, "--json"))
    assert got["phases"][0]["factors"]["0:2"] == pytest.approx(0.3265)
    assert got["finish_s"]["0:2"] == pytest.approx(63.64e-3, abs=1e-5)


def test_the_forms_differ_where_an_uplink_is_fed_unequally(command):
    first = {
        form: answer(
            command("congestion", "cs_storm", "0:4=300MB", "1:3=300MB", "2:6=300MB", "--form", form, "--json")
        )["phases"][0]
        for form in congestion.FORMS
    }
    assert first["martinasso2016"]["factors"] == pytest.approx({"0:4": 1 / 3, "1:3": 1 / 3, "2:6": 2 / 3})
    assert first["maxmin"]["factors"]["2:6"] == pytest.approx(0.5)


def test_a_senders_next_message_waits_for_the_step(command):
    got = answer(
        command(
            "congestion",
            "cs_storm",
            "--bandwidth",
            "1GB/s",
            "0:2=100MB",
            "1:2=50MB",
            "0:1=100MB",
            "0:1=100MB",
            "--json",
        )
    )
    assert got["finish_s"] == pytest.approx({"0:2": 0.15, "1:2": 0.1, "0:1": 0.25, "0:1#2": 0.35})
    assert [set(p["factors"]) for p in got["phases"]] == [{"0:2", "1:2"}, {"0:2"}, {"0:1"}, {"0:1#2"}]


def test_one_line_a_message(command):
    done = command("congestion", "cs_storm", *EXAMPLE)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "→" in line]
    assert len(lines) == 4 and len(done.stdout.splitlines()) < 12
    assert "0.3265" in lines[0] and "0.5000" in lines[0] and "0.6735" in lines[2]


@pytest.mark.parametrize("form", congestion.FORMS)
def test_ten_thousand_messages(command, form):
    messages = [f"{k % 8}:{(k + 1 + k // 8 % 7) % 8}={1 + k % 5}MB" for k in range(10_000)]
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = command("congestion", "cs_storm", *messages, "--form", form)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin < 5
    assert done.returncode == 0 and done.stdout.count("→") == 10_000, done.stderr
    assert "0 → 1#2 " in done.stdout


def test_search(command):
    got = answer(command("congestion-search", "cs_storm", "--pattern", "2d", "--json"))
    assert (got["orders"], got["distinct_graphs"]) == (20_736, 1_377)
    # Four messages cross the root complex each way, one after the other at best.
    assert got["best_s"] == pytest.approx(4 * 300e6 / 11.86e9)
    assert got["worst_s"] > got["natural_s"] > got["best_s"]
    assert got["wall_s"] < 1
    best = got["best_order"]
    assert [sorted(d) for d in best] == [sorted(d) for d in congestion.natural_order("2d")]
    steps = congestion.steps_of(best)
    assert sum(
        max(congestion.solve("cs_storm", {e: 300e6 for e in step}).finish.values()) for step in steps
    ) == pytest.approx(got["best_s"])


def test_search_in_three_dimensions(command):
    got = answer(
        command(
            "congestion-search",
            "cs_storm",
            "--pattern",
            "3d",
            "--size",
            "3MB",
            "--bandwidth",
            "1GB/s",
            "--form",
            "maxmin",
            "--json",
        )
    )
    assert got["orders"] == 1_679_616
    assert got["best_s"] == pytest.approx(4 * 3e-3)
    assert got["wall_s"] < 60


def test_search_among_gpus(command):
    """Four GPUs, two below each root port, the disk beside them apart: all send to all in three steps. In
    the natural order GPUs of one side send to the same one of the other side at the same time."""
    got = answer(command("congestion-search", "cluster", "--pattern", "all", "--size", "1MB", "--json"))
    assert got["orders"] == 6**4
    assert [sorted(d) for d in got["best_order"]] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert got["best_s"] < got["natural_s"] <= got["worst_s"]
    # Four messages cross the root complex each way, one after the other at best.
    assert got["best_s"] >= 4 * 1e6 / 11.86e9 * 0.999


def test_a_pattern_too_large_to_search(command):
    done = command("congestion-search", "cs_storm", "--pattern", "all")
    assert done.returncode == 2 and "too large to search" in done.stderr and len(done.stderr.splitlines()) == 1


def test_tables_for_people(command):
    shown = command("congestion", "cs_storm", *EXAMPLE).stdout
    assert "2 phases" in shown and "0.3265" in shown
    assert "20,736 orders" in command("congestion-search", "cs_storm", "--pattern", "2d").stdout


@pytest.mark.parametrize("name", ["congestion", "congestion-search"])
def test_help_has_an_example(command, name):
    done = command(name, "--help")
    assert done.returncode == 0 and f"example: fabricvp {name} cs_storm" in done.stdout


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["congestion", "cs_storm"], "SRC:DST=SIZE"),
        (["congestion", "cs_storm", "0:2"], "SRC:DST=SIZE"),
        (["congestion", "cs_storm", "0:9=1MB"], "0 to 9"),
        (["congestion", "cs_storm", "3:3=1MB"], "3 to 3"),
        (["congestion", "cs_storm", "0:1=0MB"], "above 0"),
        (["congestion", "cs_storm", "0:1=5"], "unit"),
        (["congestion", "cs_storm", "--tau", "0.5", "0:1=1MB"], "below 0.5"),
        (["congestion", "cs_storm", "--tau", "nan", "0:1=1MB"], "tau"),
        (["congestion", "cs_storm", "--bandwidth", "11.86", "0:1=1MB"], "unit"),
        (["congestion", "cs_storm", "--form", "fair", "0:1=1MB"], "martinasso2016"),
        (["congestion", "hello", "0:1=1MB"], "no PCIe tree"),
        (["congestion", "nowhere", "0:1=1MB"], "nowhere"),
        (["congestion-search", "cs_storm"], "--pattern"),
        (["congestion-search", "cs_storm", "--pattern", "4d"], "2d"),
        (["congestion-search", "cs_storm", "--pattern", "2d", "--size", "lots"], "lots"),
    ],
)
def test_bad_input_is_one_line(command, arguments, says):
    done = command(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert says in done.stderr and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


def test_a_custom_tree():
    shape = congestion.Tree.from_text(
        "node: {pcie: {switches: [{name: s, below: root}], endpoints: "
        "[{name: a, below: s}, {name: b, below: s}, {name: c, below: root}]}}",
        "text",
        [],
    )
    assert shape.endpoints() == 3
    assert len(shape.automorphisms()) == 2
    # Direct against crossing: the root complex's penalty.
    solution = congestion.solve(shape, {(0, 1): "1 MB", (2, 1): "1 MB"}, tau=0.1)
    assert solution.phases[0].factors == pytest.approx({"0:1": 0.6, "2:1": 0.4})
    with pytest.raises(fabricvp.InputError, match="'t'.*neither root"):
        congestion.Tree.from_text("node: {pcie: {switches: [{name: s, below: t}]}}", "text", [])
    with pytest.raises(fabricvp.InputError, match="8 endpoints"):
        congestion.search(shape, "2d")


def test_messages_start_at_their_time():
    solution = congestion.solve(
        "cs_storm",
        [congestion.Message(0, 2, 1e6), congestion.Message(1, 2, 1e6, 0.5e-3)],
        bandwidth=1e9,
        in_steps=False,
    )
    assert [p.end for p in solution.phases] == pytest.approx([0.5e-3, 1.5e-3, 2e-3])
    assert solution.end == pytest.approx(2e-3)


def test_what_is_not_finite_is_refused():
    """A phase would last for ever."""
    for value in (float("inf"), float("nan")):
        for messages in ([(0, 2, value)], [(0, 2, 1e6, value)], {(0, 2): value}):
            for in_steps in (False, True):
                with pytest.raises(fabricvp.InputError, match="of a message: (inf|nan) is not a finite number"):
                    congestion.solve("cs_storm", messages, in_steps=in_steps)
        with pytest.raises(fabricvp.InputError, match="bandwidth: "):
            congestion.solve("cs_storm", {(0, 2): 1e6}, bandwidth=value)
        with pytest.raises(fabricvp.InputError, match="bandwidth: "):
            congestion.model("cs_storm", form="maxmin", crossing_bandwidth=value)
        with pytest.raises(fabricvp.InputError, match="size: "):
            congestion.search("cs_storm", "2d", size=value)


def test_families():
    shape = congestion.tree("cs_storm")
    assert len(congestion.scatters(8)) == len(congestion.gathers(8)) == 8 * 127
    assert len(congestion.all_to_all(8)) == 2**8 - 9
    # A scatter's targets: the sibling or not, 0 … 2 … of each board, boards of a switch interchangeable: 2 * 3 * 6 - 1.
    kinds = congestion.distinct(shape, congestion.scatters(8))
    assert len(kinds) == 35 and sum(count for _, count in kinds) == 8 * 127
    graphs = congestion.random_graphs(shape, 300, seed=5)
    assert graphs == congestion.random_graphs(shape, 300, seed=5) != congestion.random_graphs(shape, 300, seed=6)
    assert len(congestion.distinct(shape, graphs)) == 300
    with pytest.raises(fabricvp.InputError):
        congestion.random_graphs(shape, 1000, seed=1, max_edges=1)
