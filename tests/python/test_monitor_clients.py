# SPDX-License-Identifier: Apache-2.0
"""What the server of a run's page does where a client takes no frames, and where it fails itself."""

import json
import shutil
import subprocess
import time

import pytest
import websockets
from fabricvp.monitor import application
from fabricvp.monitor.description import Description, text_of
from fabricvp.monitor.page_server import Monitor
from run_page import TIMEOUT
from websockets.sync.client import connect

LARGE = 4 << 20  #: bytes of a frame: what the kernel buffers of a connection is soon full


class FakeRun:
    """Frames of any size, as soon as they are asked for."""

    def __init__(self):
        self.text = json.dumps({"consoles": [], "replies": [], "time_ps": 0, "pad": "x" * LARGE})

    def frame(self, timeout):
        return self.text if timeout else None

    def send(self, command):
        pass

    def set_watched(self, on):
        self.watched = on

    def leave(self):
        pass


@pytest.fixture
def page(monkeypatch):
    monkeypatch.setattr(application, "describe", lambda *_: Description({}, "<svg/>"))
    monkeypatch.setattr(application, "_SEND_TIMEOUT", 0.5)
    run = FakeRun()
    with Monitor(run, "any") as monitor:
        yield run, monitor


def client_of(monitor, **options):
    return connect(monitor.url.replace("http", "ws", 1) + "frames", max_size=None, compression=None, **options)


def until(holds):
    end = time.monotonic() + TIMEOUT
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def closed(client):
    """How the server closes the connection: code and reason, after all that it has sent."""
    with pytest.raises(websockets.ConnectionClosed) as gone:
        while True:
            client.recv(TIMEOUT)
    return gone.value.rcvd.code, gone.value.rcvd.reason


def test_a_client_that_takes_no_frames_is_told_so_and_holds_up_no_other(page):
    _, monitor = page
    clients = monitor._application._clients
    with client_of(monitor, max_queue=1) as slow, client_of(monitor) as other:
        until(lambda: len(clients) == 2)
        while len(clients) == 2:
            other.recv(TIMEOUT)
        for _ in range(5):
            other.recv(TIMEOUT)
        assert closed(slow) == (1013, "frames were not taken in time")
        other.recv(TIMEOUT)


def test_a_client_that_comes_and_takes_nothing_holds_up_no_other(page):
    """What consoles have printed is sent at once."""
    _, monitor = page
    app = monitor._application
    with client_of(monitor) as other:
        other.recv(TIMEOUT)
        app._consoles = ["x" * (8 * LARGE)]
        with client_of(monitor, max_queue=1) as slow:
            for _ in range(12):  # 3 s
                other.recv(TIMEOUT)
            assert closed(slow) == (1013, "frames were not taken in time")


@pytest.mark.parametrize("text", ["[" * 100_000, "no frame"])
def test_a_frame_that_cannot_be_read_is_told_and_the_next_client_gets_frames(page, text):
    run, monitor = page
    good, run.text = run.text, text
    with client_of(monitor) as client:
        code, reason = closed(client)
        assert code == 1011 and "Error" in reason, reason
    run.text = good
    with client_of(monitor) as client:
        client.recv(TIMEOUT)  # consoles
        assert json.loads(client.recv(TIMEOUT))["time_ps"] == 0


def test_a_last_frame_that_cannot_be_read_ends_the_server_all_the_same(page):
    run, monitor = page
    with client_of(monitor) as client:
        client.recv(TIMEOUT)
        run.frame = lambda timeout: None if timeout else "no frame"
        monitor.close()
        code, reason = closed(client)
        assert code == 1001 and reason.startswith("the run has ended (JSONDecodeError"), reason
    assert not monitor.is_open() and not monitor._thread.is_alive()


#: Stands for a browser: a server that closes each connection, by the codes that are given.
BROWSER = """
const codes = JSON.parse(process.argv[2]), told = [];
globalThis.document = {};
globalThis.location = { href: "http://127.0.0.1:1/token/" };
globalThis.fetch = async () => ({ json: async () => ({ title: "any" }), text: async () => "" });
globalThis.setTimeout = (act) => setImmediate(act);
globalThis.view = new Proxy({}, { get: (_, name) => (...given) => told.push([name, ...given]) });
globalThis.WebSocket = class {
  constructor() {
    const [code, opens] = codes.shift();
    setImmediate(() => {
      if (opens) this.onopen();
      this.onclose({ code, reason: code === 1006 ? "" : `code ${code}` });
    });
  }
};
await import("./page.js");
process.on("exit", () => console.log(JSON.stringify(told.filter(([name]) => name !== "describe"))));
"""


needs_node = pytest.mark.skipif(
    not shutil.which("node"), reason="there is no node here (Debian: nodejs; `scripts/setup.sh deep`)"
)


@needs_node
def test_the_page_connects_again_as_long_as_there_is_a_server(tmp_path):
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "page.js").write_text(text_of("page.js"))
    (tmp_path / "run_view.js").write_text("export const createRunView = () => globalThis.view;")
    (tmp_path / "browser.js").write_text(BROWSER)
    again = [
        ["clear"],
        ["disconnected", "code 1013: connecting again"],
        ["clear"],
        ["disconnected", "the connection was lost: connecting again"],
        ["clear"],
    ]
    for last, told in (
        ((1001, True), [["disconnected", "code 1001"]]),  # the run has ended
        ((1006, False), [["disconnected", ""]]),  # the simulator is gone
    ):
        codes = json.dumps([(1013, True), (1006, True), last])
        done = subprocess.run(["node", tmp_path / "browser.js", codes], capture_output=True, text=True, timeout=TIMEOUT)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == again + told


#: Stands for a document: shows what is given, in turns a console's text and frames, and tells what it shows after each.
DOCUMENT = """
import { createRunView } from "./run_view.js";
const elements = new Map(), told = [];
const element = () => ({
  dataset: {}, classList: { toggle() {} }, textContent: "", value: "", scrollTop: 0, clientHeight: 0, scrollHeight: 0,
  tBodies: [{ rows: [], deleteRow() {} }], replaceChildren() {}, querySelectorAll: () => [],
});
const at = (id) => elements.get(id) ?? (elements.set(id, element()), elements.get(id));
globalThis.document = { adoptNode: (node) => node };
globalThis.Option = class {};
globalThis.DOMParser = class { parseFromString() { return {}; } };
const view = createRunView({ getElementById: at }, () => true);
view.describe({ title: "any", nodes: ["node0"], faults: [], links: [] }, "");
const empty = { outcome: "", links: [], harts: [], gpus: [], queue_pairs: [], waits: [], replies: [] };
for (const given of JSON.parse(process.argv[2])) {
  if (typeof given === "string") view.print(0, given);
  else view.show({ ...empty, ...given });
  told.push(at(typeof given === "string" ? "console" : "rate").textContent);
}
console.log(JSON.stringify(told));
"""


def shown(folder, given):
    """What the page shows after each of these: the console after a text, the rate after a frame."""
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "run_view.js").write_text(text_of("run_view.js"))
    (folder / "document.js").write_text(DOCUMENT)
    command = ["node", folder / "document.js", json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_node
@pytest.mark.parametrize(
    "printed, console",
    [
        ("\x1b[1;32mgreen\x1b[0m\r\nnext", "green\nnext"),
        ("\x1b]0;a title\x07one\x1b]2;another\x1b\\\x1bPq\x1b\\ two", "one two"),
        ("\x1b(B\x1b=\x1b[?25l\x1b[4 qx\x07\x00y\x1b", "xy"),
        ("abd\b \bc", "abc"),
        ("a\n\b\bb", "a\nb"),
        ("\b\xf0\x9f\x98\x80\bz", "z"),
        ("\x1b[3\n\x1b]no end\nx", "3\nno end\nx"),  # not what a terminal takes: it hides nothing
        ("\x1b]" + "x" * 5000, "x" * 5000),
    ],
)
def test_the_console_shows_what_a_terminal_prints(tmp_path, printed, console):
    """Also where frames end within a sequence."""
    assert shown(tmp_path, [printed])[-1] == console
    if len(printed) < 100:
        assert shown(tmp_path, list(printed))[-1] == console
        assert not any("\x1b" in text or "[" in text for text in shown(tmp_path, list(printed)))


@needs_node
def test_a_rate_counts_no_time_in_which_the_run_stands_still(tmp_path):
    def frame(state, time_us, wall_s):
        return {"state": state, "time_ps": time_us * 10**6, "wall_s": wall_s}

    for still in ("paused", "stopped"):
        frames = [frame("running", 1, 0), frame("running", 2, 1), frame(still, 2, 1.25), frame(still, 2, 61)]
        frames += [frame("running", 3, 62), frame("running", 5, 63)]
        told = shown(tmp_path, frames)
        assert told[1] == "1.00000 µs a second" and told[-1] == "2.00000 µs a second"
        assert still == "stopped" or told[-2] == "1.00000 µs a second", told
    told = shown(tmp_path, [frame("running", 1, 0), frame("stopped", 2, 1), frame("running", 3, 100)])
    assert told == ["", "1.00000 µs a second", "1.00000 µs a second"]  # when it went on is not known


@pytest.mark.parametrize("error", ["RuntimeError('it broke')", "KeyboardInterrupt()"])
def test_a_page_that_fails_to_close_does_not_end_the_command(run_script, error):
    done = run_script(
        f"""
        import sys
        from fabricvp.cli import main
        from fabricvp.monitor.page_server import Monitor
        def close(self):
            raise {error}
        Monitor.close = close
        sys.exit(main(["run", "hello", "--monitor", "--console", "none", "--quiet"]))
        """,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert f"fabricvp: the page was not closed: {error.partition('(')[0]}" in done.stderr
