# SPDX-License-Identifier: Apache-2.0
"""The page of a run, without a browser: who is answered, what frames tell, what commands do; and that results are the
same to the byte."""

import http.client
import json
import socket
import subprocess

import fabricvp
import guests
import pytest
import websockets
from conftest import REPOSITORY
from run_page import Client, monitored
from websockets.sync.client import connect

ECHO = "nodes: 1\n"
GUPS = ["netcrafter_quad", "--app", "gups", "--size", "65536", "--console", "none", "--quiet"]
#: What differs between any two runs.
WALL = {"sim.wall_s"}


@pytest.fixture
def echo(assemble, tmp_path):
    """A machine that prompts and echoes, held until a client lets it go."""
    (tmp_path / "m.yaml").write_text(ECHO)
    with monitored(
        tmp_path, "m.yaml", "--firmware", assemble(guests.ECHO), "--monitor", "--monitor-wait", "--console", "none"
    ) as run:
        yield run


def get(run, path, **headers):
    """Status, headers and body of what is answered."""
    connection = http.client.HTTPConnection("127.0.0.1", run.port, timeout=600)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    return response.status, response.headers, response.read().decode()


def statistics_of(folder):
    values = json.loads((folder / "stats.json").read_text())
    return {path: value for path, value in values.items() if path not in WALL}


def test_the_page_comes_whole_and_loads_nothing_from_elsewhere(echo):
    home = f"/{echo.token}/"
    status, headers, page = get(echo, home)
    assert status == 200 and headers["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in headers["Content-Security-Policy"] and headers["Cache-Control"] == "no-store"
    assert 'id="console"' in page
    for name, kind in (
        ("page.js", "text/javascript"),
        ("run_view.js", "text/javascript"),
        ("page.css", "text/css"),
        ("machine.svg", "image/svg+xml"),
    ):
        status, headers, text = get(echo, home + name)
        assert status == 200 and headers["Content-Type"].startswith(kind) and len(text) > 100, name
        assert "//" not in text.replace("http://www.w3.org", "").replace("// ", "").replace("///", ""), name
    assert "//" not in page
    described = json.loads(get(echo, home + "description.json")[2])
    assert described["title"] == "m.yaml" and described["nodes"] == ["node0"]
    assert get(echo, home + "other")[0] == 404


def test_no_other_token_host_or_origin_is_answered(echo):
    home, host = f"/{echo.token}/", f"127.0.0.1:{echo.port}"
    other = "A" * len(echo.token)
    refused = [
        ("/", {}),
        (f"/{other}/", {}),
        (f"/{echo.token}x/", {}),
        (home, {"Host": f"rebound.example:{echo.port}"}),
        (home, {"Host": "127.0.0.1"}),
        (home, {"Origin": "http://elsewhere.example"}),
        (home, {"Origin": "null"}),
        (home, {"Origin": f"https://{host}"}),
    ]
    for path, headers in refused:
        status, _, text = get(echo, path, **headers)
        assert (status, text) == (403, "forbidden\n"), (path, headers)
    for headers in ({"Origin": f"http://{host}"}, {"Host": f"localhost:{echo.port}"}):
        assert get(echo, home, **headers)[0] == 200, headers

    frames = echo.url.replace("http", "ws", 1) + "frames"
    for address, options in (
        (frames.replace(echo.token, other), {}),
        (frames, {"origin": "http://elsewhere.example"}),
        (frames.replace("127.0.0.1", "rebound.example"), {"sock": socket.create_connection(("127.0.0.1", echo.port))}),
    ):
        with pytest.raises(websockets.InvalidStatus) as refusal:
            connect(address, **options)
        assert refusal.value.response.status_code == 403, (address, options)
    with connect(frames, origin=f"http://{host}") as own:
        assert json.loads(own.recv(600)) == {"consoles": []}


def test_a_run_is_watched_paused_typed_to_and_continued(echo):
    with Client(echo.url) as client:
        assert client.until(lambda frame: frame["state"] == "paused")["time_ps"] == 0
        stepped = client.send(**{"do": "step", "time": "10 us"})
        stepped = client.until(lambda frame: frame["state"] == "paused")
        assert 10_000_000 <= stepped["time_ps"] < 1_000_000_000
        assert client.next()["time_ps"] == stepped["time_ps"]

        client.send(do="continue")
        client.until(lambda _: client.consoles[0].endswith("ready> "))
        client.send(do="type", node=0, text="h\xe4llo\n")
        client.until(lambda _: client.consoles[0].count("ready> ") == 2)
        assert "you typed h\xc3\xa4llo\n" in client.consoles[0]  # a character for each byte

        paused = client.send(do="pause")
        assert paused["state"] == "paused"
        assert client.next()["time_ps"] == paused["time_ps"]
        harts = client.frame["harts"]
        assert harts[0]["name"] == "node0.host.hart0" and harts[0]["instructions"] > 0

        # One that comes later sees what was printed, too.
        with Client(echo.url) as second:
            second.until(lambda frame: frame["state"] == "paused")
            assert second.consoles[0] == client.consoles[0]

        client.send(do="speed", time="1 ms")
        assert client.frame["speed_ps"] == 1_000_000_000
        client.send(do="speed", time=None)
        client.send(do="continue")
        client.send(do="type", node=0, text="off\n")
        assert client.until_the_end()["outcome"] == "node0 powered off"
        with pytest.raises(websockets.ConnectionClosed) as gone:
            client.next()
        assert gone.value.rcvd.reason == "the run has ended"
    assert echo.wait() == 0


def test_what_is_no_command_is_told(echo):
    with Client(echo.url) as client:
        for command, words in (
            ({"do": "dance"}, "there is no command 'dance': pause, continue, step, speed, type, inject"),
            ({"do": "step", "time": "soon"}, "time: "),
            ({"do": "step", "time": "0 s"}, "time: must be above 0"),
            ({"do": "type", "node": 1, "text": "x"}, "there is no node1"),
            *(({"do": "type", "node": node, "text": "x"}, "node: must be a whole number") for node in (-1, 0.7, 1e300)),
            ({"do": "inject", "target": "node0.host", "kind": "down"}, "'down' is no fault of node0.host"),
            ({"do": 3}, "not a command"),
            ({}, "not a command"),
        ):
            assert words in client.reply(**command)[0]["error"], command
        assert client.next()["state"] == "paused"  # and goes on as it was


@pytest.mark.parametrize("number", ["[" * 2000 + "]" * 2000, json.dumps("x" * 101), "{}", "true"])
def test_a_reply_repeats_no_other_number_than_short_ones(echo, number):
    """A command with anything else for `id` would put that into frames, which all clients read."""
    with Client(echo.url) as client, Client(echo.url) as other:
        client.send_text(f'{{"id": {number}, "do": "continue"}}')
        told = client.until(lambda frame: frame["replies"])
        (reply,) = told["replies"]
        assert reply == {"id": None, "error": "id: must be a number or a text of at most 100 bytes"}
        assert client.send(id="x" * 100, do="pause")["state"] == "paused"
        assert other.until(lambda frame: frame["replies"])  # and frames go on


def test_gpus_links_and_faults_are_seen(tmp_path):
    with monitored(tmp_path, *GUPS, "--monitor", "--monitor-wait") as run:
        described = json.loads(get(run, f"/{run.token}/description.json")[2])
        picture = get(run, f"/{run.token}/machine.svg")[2]
        names = [link["link"] for link in described["links"]]
        assert len(names) == 20 and {link["unit"] for link in described["links"]} == {"TLPs", "flits"}
        assert all(f'data-link="{name}"' in picture for name in names)
        with Client(run.url) as client:
            paused = client.step_until("20 us", lambda frame: any(gpu["wavefronts"] for gpu in frame["gpus"]))
            assert len(paused["links"]) == 20 and sum(link[0] for link in paused["links"]) > 0
            assert all(0 <= link[1] <= paused["time_ps"] for link in paused["links"])
            gpu = next(gpu for gpu in paused["gpus"] if gpu["wavefronts"])
            assert gpu["wavefronts"] <= gpu["slots"] and any("queue 0" in line for line in gpu["queues"])
            kernel = gpu["kernels"][0]
            assert kernel["name"] == "gups" and kernel["finished"] <= kernel["started"] <= kernel["work_groups"]
            lost = next(f for f in described["faults"] if f["target"] == "node0.gpu3.link")
            client.send(do="inject", target=lost["target"], kind="link_down", arguments={"lasting": "1 s"})
            down = client.step_until("1 us", lambda frame: not all(link[3] for link in frame["links"]))
            assert {names[n] for n, link in enumerate(down["links"]) if not link[3]} == {"node0.pcie/4"}


def test_queue_pairs_and_who_waits(tmp_path):
    with monitored(
        tmp_path, "rdma_pair", "--append", "latency=4 bandwidth=0 rate=0 max=64", "--monitor", "--monitor-wait",
        "--console", "none",
    ) as run, Client(run.url) as client:  # fmt: skip
        frame = client.step_until("500 us", lambda frame: any("RTS" in line for line in frame["queue_pairs"]))
        assert any(line.startswith("node0.hca0 qp 0x") for line in frame["queue_pairs"]), frame["queue_pairs"]
        assert all({"who", "since_ps", "what"} == wait.keys() for wait in frame["waits"])


def test_a_link_that_is_down_is_among_who_waits(tmp_path):
    with monitored(tmp_path, *GUPS, "--monitor", "--monitor-wait") as run, Client(run.url) as client:
        client.step_until("20 us", lambda frame: any(gpu["wavefronts"] for gpu in frame["gpus"]))
        assert client.frame["waits"] == []
        client.send(do="inject", target="node0.fabric.gpu0.link", kind="down", arguments={"lasting": "1 s"})
        frame = client.step_until("5 us", lambda frame: frame["waits"])
        assert [wait["who"] for wait in frame["waits"]] == ["node0.fabric.gpu0.link"], frame["waits"]
        assert frame["waits"][0]["what"] == "its link to come up"
        assert 0 < frame["waits"][0]["since_ps"] <= frame["time_ps"]


@pytest.mark.parametrize(
    "arguments",
    [
        GUPS,
        ["rdma_pair", "--append", "latency=4 bandwidth=0 rate=0 max=64", "--console", "none", "--quiet"],
        ["uboot", "--time", "60 ms", "--console", "none", "--quiet"],
    ],
    ids=["gups", "rdma", "uboot"],
)
def test_results_are_the_same_with_the_page_and_without(tmp_path, command, arguments):
    """Also where the run is paused, goes on in steps, and is looked at as often as can be."""
    done = command(*("run", *arguments, "--out", "alone"))
    assert done.returncode == 0, done.stderr
    with monitored(tmp_path, *arguments, "--monitor", "--monitor-wait", "--out", "watched") as run:
        with Client(run.url) as client:
            for step in ("3 us", "1 ns", "250 us", "300 us"):
                client.step_until(step, lambda _: True)
            client.pause_often_and_run_to_the_end()
        assert run.wait() == 0, run.errors
    assert statistics_of(tmp_path / "watched") == statistics_of(tmp_path / "alone")
    for file in ("topology.json", "console.node0.log"):
        assert (tmp_path / "watched" / file).read_bytes() == (tmp_path / "alone" / file).read_bytes(), file


def test_wrong_options_end_in_one_line(tmp_path, command, assemble):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for arguments, words in (
            (["--monitor=65536"], "--monitor '65536': must be a number from 0 to 65535"),
            (["--monitor", "here"], "--monitor 'here': a port is a number from 0 to 65535"),
            ([f"--monitor={port}"], f"port {port}: cannot listen on 127.0.0.1 (Address already in use)"),
            (["--monitor-wait"], "--monitor-wait needs --monitor"),
        ):
            done = command("run", "hello", *arguments, "--out", "out")
            assert done.returncode == 2 and words in done.stderr, (arguments, done.stderr)
            assert len(done.stderr.splitlines()) == 1 and not (tmp_path / "out").exists(), done.stderr
    program = subprocess.run(
        [REPOSITORY / "build/release/bin/fabricvp", "run", "hello", "--monitor"], capture_output=True, text=True
    )
    assert program.returncode == 2 and "the command of the Python package serves the page" in program.stderr


def test_without_its_packages_one_line_says_what_to_install(tmp_path, run_script):
    done = run_script(
        """
        import sys
        sys.modules["uvicorn"] = None
        from fabricvp.cli import main
        sys.exit(main(["run", "hello", "--monitor"]))
        """,
        check=False,
    )
    assert done.returncode == 2 and "pip install fabricvp[monitor]" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_python_shows_run_after_run(machine):
    platform = machine(guests.COUNTS)
    with platform.monitor() as monitor:
        assert monitor.url.startswith(f"http://127.0.0.1:{monitor.port}/")
        with Client(monitor.url) as client:
            pending = platform.run.start("200 us")
            first = client.until(lambda frame: frame["state"] == "stopped" and frame["outcome"])
            assert first["time_ps"] == 200_000_000 and first["outcome"] == "the time limit was reached"
            pending.result()
            # A branch has a machine of its own, and not the page.
            with platform.fork() as branch:
                branch.run("100 us")
                assert branch.now == 300e-6
                with branch.monitor() as own, Client(own.url) as other:
                    branch.run("100 us")
                    ended = other.until(lambda frame: frame["state"] == "stopped" and frame["outcome"])
                    assert ended["time_ps"] == 400_000_000
            platform.run("100 us")
            assert client.until(lambda frame: frame["time_ps"] == 300_000_000)["state"] == "stopped"
    with pytest.raises(ConnectionRefusedError):
        Client(monitor.url)
    for port in (70000, True):
        with pytest.raises(fabricvp.InputError, match=f"port {port}: must be a number of 0 … 65535"):
            platform.monitor(port, wait=True)
    assert platform.run("100 us").outcome == fabricvp.Outcome.TIME_LIMIT  # does not wait for a page that is not there


def test_a_run_in_pieces_is_the_run_at_once():
    """Where a run ends and goes on does not change what happens."""

    def statistics(*times):
        with fabricvp.spawn("netcrafter_quad", app="gups", size=65536) as platform:
            for time in times:
                platform.run(time)
            found = dict(platform.statistics.items())
            return {path: value for path, value in found.items() if path not in WALL}, platform.now_ps

    whole, end = statistics(None)
    pieces, same_end = statistics("1 us", "123.456789 us", "7 us", "1 ns", "1.5 ms", None)
    assert same_end == end and pieces == whole
