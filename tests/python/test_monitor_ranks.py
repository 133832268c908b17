# SPDX-License-Identifier: Apache-2.0
"""The page of a run with ranks shows and steers one machine; results are the same to the byte."""

import contextlib
import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import fabricvp
import guests
import pytest
import websockets
from conftest import REPOSITORY
from run_page import Client, monitored
from test_monitor import get

#: Two nodes with cables so long that ranks seldom have to talk.
MACHINE = """
base: rdma_pair
network:
  links:
    - {from: node0.hca0, to: node1.hca0, propagation: 5 us}
"""
SHORT = ["--set", "node.images.append=exchange=0 latency=2 max=512 bandwidth=0 rate=0"]
MPI = shutil.which("mpirun") and (REPOSITORY / "build/release/python/fabricvp/libfabricvp_mpi.so").exists()
LINK = {"node0.hca0", "node1.hca0"}


@pytest.fixture
def echo(assemble, tmp_path):
    """Two computers that prompt and echo, one a rank, held until a client lets them go."""
    with monitored(
        tmp_path, "rdma_pair", "--firmware", assemble(guests.ECHO), "--firmware", f"node1={assemble(guests.ECHO)}",
        "--ranks", 2, "--monitor", "--monitor-wait", "--console", "none", "--out", "out",
    ) as run:  # fmt: skip
        yield run


def test_all_ranks_are_one_machine(echo, tmp_path):
    described = json.loads(get(echo, f"/{echo.token}/description.json")[2])
    picture = get(echo, f"/{echo.token}/machine.svg")[2]
    assert described["nodes"] == ["node0", "node1"]
    links = described["links"]
    assert len(links) == 6 and all(f'data-link="{link["link"]}"' in picture for link in links)
    cable = [n for n, link in enumerate(links) if link["unit"] == "packets"]
    assert (
        len(cable) == 2
        and {links[n]["from"] for n in cable} == LINK
        and {links[n]["link"] for n in cable} == {"network/0"}
    )
    assert {fault["target"].partition(".")[0] for fault in described["faults"]} >= {"node0", "node1"}

    with Client(echo.url) as client:
        # Watch, pause, step.
        assert client.until(lambda frame: frame["state"] == "paused")["time_ps"] == 0
        assert [hart["name"].partition(".")[0] for hart in client.frame["harts"]] == ["node0"] * 4 + ["node1"] * 4
        client.send(do="step", time="10.001 us")
        stepped = client.until(lambda frame: frame["state"] == "paused" and frame["time_ps"])
        assert stepped["time_ps"] == 10_001_000
        assert all(hart["instructions"] for hart in stepped["harts"])
        assert client.next()["time_ps"] == stepped["time_ps"]

        # Type to both.
        client.send(do="continue")
        client.until(lambda _: all(console.endswith("ready> ") for console in client.consoles))
        client.send(do="type", node=1, text="h\xe4llo\n")
        client.until(lambda _: client.consoles[1].count("ready> ") == 2)
        assert "you typed h\xc3\xa4llo\n" in client.consoles[1] and "you typed" not in client.consoles[0]
        assert client.reply(do="type", node=2, text="x")[0]["error"] == "there is no node2"
        paused = client.send(do="pause")
        assert paused["state"] == "paused" and client.next()["time_ps"] == paused["time_ps"]

        # Inject into a block of either rank. What cannot be is told in one line.
        for command, words in (
            ({"target": "node1.hca0.nothing", "kind": "link_down"}, "no fault can happen to 'node1.hca0.nothing'"),
            ({"target": "node1.hca0.network.link", "kind": "dance"}, "'dance' is no fault of"),
            ({"target": "elsewhere", "kind": "link_down"}, "'elsewhere' is no block of one rank"),
            ({"target": "node0.host", "kind": "down"}, "'down' is no fault of node0.host"),
        ):
            error = client.reply(do="inject", **command)[0]["error"]
            assert words in error and "\n" not in error, command
        down = next(
            fault for fault in described["faults"]
            if fault["target"].startswith("node1.hca0") and fault["kind"] == "link_down"
        )  # fmt: skip
        client.send(do="inject", target=down["target"], kind="link_down", arguments={"lasting": "1 s"})
        client.step_until("1 us", lambda frame: not all(link[3] for link in frame["links"]))

        client.send(do="speed", time="1 ms")
        assert client.frame["speed_ps"] == 1_000_000_000
        client.send(do="speed", time=None)
        client.send(do="continue")
        for node in (0, 1):
            client.send(do="type", node=node, text="off\n")
        assert client.until_the_end()["outcome"] == "node0 powered off; node1 powered off"
        with pytest.raises(websockets.ConnectionClosed) as gone:
            client.next()
        assert gone.value.rcvd.reason == "the run has ended"
    assert echo.wait() == 0, echo.errors
    assert (tmp_path / "out" / "console.node1.log").read_text().count("ready> ") >= 2


def test_a_run_that_stands_still_ends_by_a_signal(echo, tmp_path):
    with Client(echo.url) as client:
        client.until(lambda frame: frame["state"] == "paused")
        echo.process.terminate()
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                client.next()
        assert client.frame["state"] == "stopped"
    assert echo.wait() == 130
    assert json.loads((tmp_path / "out" / "run.json").read_text())["outcome"] == "interrupted"


def statistics_of(folder):
    values = json.loads((folder / "stats.json").read_text())
    return {path: value for path, value in values.items() if not path.startswith("sim.")}


@pytest.mark.parametrize("transport", ["shared_memory", "mpi"])
def test_results_are_the_same_with_the_page_and_without(tmp_path, command, transport):
    """Those of one process, too; also where the run is paused, goes on in steps, and is looked at often."""
    if transport == "mpi" and not MPI:
        pytest.skip("the platform was built without MPI")
    (tmp_path / "m.yaml").write_text(MACHINE)
    arguments = ["m.yaml", *SHORT, "--console", "none", "--quiet"]
    assert command("run", *arguments, "--out", "alone").returncode == 0
    with monitored(
        tmp_path, *arguments, "--ranks", 2, "--transport", transport, "--monitor", "--monitor-wait", "--out", "watched"
    ) as run:
        with Client(run.url) as client:
            for step in ("3 us", "1 ns", "1.234567 ms"):
                client.step_until(step, lambda _: True)
            client.step_until("5 ms", lambda frame: any("RTS" in line for line in frame["queue_pairs"]))
            client.pause_often_and_run_to_the_end()
            assert all("all ok, powering off" in console for console in client.consoles)
        assert run.wait() == 0, run.errors
    assert statistics_of(tmp_path / "watched") == statistics_of(tmp_path / "alone")
    for file in ("console.node0.log", "console.node1.log"):
        assert (tmp_path / "watched" / file).read_bytes() == (tmp_path / "alone" / file).read_bytes(), file


def test_ranks_from_python_have_a_page():
    """It shows and steers them, and results are those of a run without it."""

    def steer(url):
        with Client(url) as client:
            assert client.until(lambda frame: frame["state"] == "paused")["time_ps"] == 0
            client.step_until("1.234567 ms", lambda _: True)
            assert client.frame["time_ps"] == 1_234_567_000
            assert all(hart["instructions"] for hart in client.frame["harts"])
            client.pause_often_and_run_to_the_end()
            return client.consoles

    options = {"text": MACHINE, "overrides": {"node.images.append": SHORT[1].partition("=")[2]}}
    plain = fabricvp.run_ranks(**options)
    with ThreadPoolExecutor(1) as other:
        seen = []
        run = fabricvp.run_ranks(
            **options, monitor=0, monitor_wait=True, on_monitor=lambda url: seen.append(other.submit(steer, url))
        )
        (consoles,) = [steered.result() for steered in seen]
    assert run.result == plain.result and run.result.outcome == "power_off"
    assert run.consoles == plain.consoles and [c.encode("latin-1").decode() for c in consoles] == list(plain.consoles)

    def machine(values):
        return {path: value for path, value in values.items() if not path.startswith("sim.")}

    assert machine(run.statistics) == machine(plain.statistics)


def test_ranks_from_python_tell_their_pages_address(capfd):
    run = fabricvp.run_ranks("rdma_pair", time="10 us", monitor=0)
    assert run.result.outcome == "time_limit"
    assert capfd.readouterr().err.startswith("fabricvp: the run is shown at http://127.0.0.1:")

    def refuse(url):
        raise KeyError(url)

    with pytest.raises(KeyError, match="http://127"):
        fabricvp.run_ranks("rdma_pair", monitor=0, monitor_wait=True, on_monitor=refuse)
    with pytest.raises(fabricvp.InputError, match="--monitor '65536': must be a number from 0 to 65535"):
        fabricvp.run_ranks("rdma_pair", monitor=65536)
    for alone in ({"monitor_wait": True}, {"on_monitor": print}):
        with pytest.raises(TypeError, match="with monitor=, a port"):
            fabricvp.run_ranks("rdma_pair", **alone)


def test_what_cannot_be_ends_in_one_line(tmp_path, command):
    for arguments, words in (
        (["rdma_pair", "--monitor=65536"], "--monitor '65536': must be a number from 0 to 65535"),
        (["rdma_pair", "--monitor-wait"], "--monitor-wait needs --monitor"),
        (["two_nodes", "--monitor"], "no network between its nodes"),
    ):
        done = command("run", *arguments, "--ranks", "2", "--out", "out")
        assert done.returncode == 2 and words in done.stderr, (arguments, done.stderr)
        assert len(done.stderr.splitlines()) == 1 and not (tmp_path / "out").exists(), done.stderr
