# SPDX-License-Identifier: Apache-2.0
"""The page of a run in a browser: a person watches, pauses, types, injects a fault, and lets the run go on."""

import base64
import json
import shutil

import fabricvp
import guests
import pytest
from run_page import TIMEOUT, monitored

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
api = pytest.importorskip("playwright.sync_api", reason="there is no playwright here (`scripts/setup.sh browser`)")

pytestmark = pytest.mark.skipif(
    not BROWSER, reason="there is no chromium here (Debian: chromium; `scripts/setup.sh deep`)"
)

#: A prompt, and a GPU on PCIe, whose link can go down.
MACHINE = "node:\n  pcie: {switches: [{name: switch0}]}\n  gpus: [{below: switch0, memory: {capacity: 64 MiB}}]\n"


@pytest.fixture(params=[1280, 400])
def page(request):
    """A page of that width, which complains of nothing."""
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": request.param, "height": 900})
        shown.set_default_timeout(1000 * TIMEOUT)
        complaints = []
        shown.on("console", lambda entry: complaints.append(entry.text) if entry.type in ("error", "warning") else None)
        shown.on("pageerror", lambda error: complaints.append(str(error)))
        yield shown
        browser.close()
        assert complaints == []


def test_watch_pause_type_inject_continue(page, assemble, tmp_path):
    (tmp_path / "m.yaml").write_text(MACHINE)
    firmware = assemble(guests.ECHO)
    with monitored(
        tmp_path, "m.yaml", "--firmware", firmware, "--monitor", "--monitor-wait", "--console", "none"
    ) as run:
        page.goto(run.url)
        page.wait_for_selector("#state[data-state=paused]")
        assert page.title() == "m.yaml" and page.locator("#picture svg text", has_text="gpu0").count()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

        # Watch.
        page.get_by_role("button", name="Continue").click()
        page.wait_for_selector("#state[data-state=running]")
        page.locator("#console", has_text="ready>").wait_for()
        assert page.locator("#links tbody tr").count() == 4
        assert page.locator("#gpus tbody").inner_text().startswith("node0.gpu0")

        # Pause: time stands still. A step goes on for as long as it says.
        page.get_by_role("button", name="Pause").click()
        page.wait_for_selector("#state[data-state=paused]")
        paused = int(page.get_attribute("#time", "data-ps"))
        page.fill("#step-time", "1 ms")
        page.get_by_role("button", name="Step", exact=True).click()
        while int(page.get_attribute("#time", "data-ps")) < paused + 10**9:
            page.wait_for_timeout(50)
        page.wait_for_selector("#state[data-state=paused]")
        page.fill("#step-time", "no time")
        page.get_by_role("button", name="Step", exact=True).click()
        page.locator("#message", has_text="time:").wait_for()

        # Type: a line, and keys into the console.
        page.get_by_role("button", name="Continue").click()
        page.fill("#line", "a line")
        page.press("#line", "Enter")
        page.locator("#console", has_text="you typed a line").wait_for()

        # Inject.
        page.select_option("#fault-target", "node0.gpu0.link")
        page.select_option("#fault-kind", "link_down")
        page.fill("#fault-arguments input[name=lasting]", "a while")
        page.get_by_role("button", name="Inject").click()
        page.locator("#message", has_text="lasting").wait_for()
        page.fill("#fault-arguments input[name=lasting]", "10 s")
        page.get_by_role("button", name="Inject").click()
        page.locator("#links tbody", has_text="down").wait_for()

        # And go on, to the end.
        page.focus("#console")
        page.keyboard.type("off")
        page.press("#line", "Enter")  # an empty line: its end
        page.wait_for_selector("#state[data-state=stopped]")
        page.locator("#time", has_text="node0 powered off").wait_for()
        page.locator("#message", has_text="the run has ended").wait_for()
        assert run.wait() == 0, run.errors


#: Stands for a notebook: what anywidget gives a module, with what is sent kept for the test.
NOTEBOOK = """
import view from "data:text/javascript;base64,MODULE";
const heard = {};
let state = STATE;
window.sent = [];
window.update = (change) => {
  state = {...state, ...change};
  for (const name of Object.keys(change)) (heard[`change:${name}`] ?? []).forEach((act) => act());
};
const model = {
  get: (name) => state[name],
  on: (event, act) => (heard[event] ??= []).push(act),
  off: () => {},
  send: (command) => window.sent.push(command),
};
view.render({model, el: document.getElementById("cell")});
window.shown = true;
"""


def test_a_notebook_shows_and_steers(page, machine):
    platform = machine(guests.ECHO, text=MACHINE)
    view = platform.view()
    names = ("markup", "style", "description", "drawing", "frame", "consoles", "ended")

    def exchange():
        """What travels between kernel and browser."""
        page.evaluate("(change) => window.update(change)", {name: getattr(view, name) for name in names})
        for command in page.evaluate("window.sent.splice(0)"):
            view._handle_msg({"content": {"data": {"method": "custom", "content": command}}, "buffers": []})

    def until(selector, text):
        while not page.locator(selector, has_text=text).count():
            exchange()
            page.wait_for_timeout(50)

    state = json.dumps({name: getattr(view, name) for name in names})
    module = base64.b64encode(view._esm.encode()).decode()
    page.set_content("<style>button { display: none }</style><div id=cell></div>")  # styles that are not the view's
    page.add_script_tag(type="module", content=NOTEBOOK.replace("MODULE", module).replace("STATE", state))
    page.wait_for_function("window.shown")
    assert page.locator("#picture svg text", has_text="gpu0").count() and page.locator("#title").inner_text() == "text"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.get_by_role("button", name="Pause").click()
    until("#message", "no run is going on")
    pending = platform.run.start()
    until("#console", "ready>")
    page.get_by_role("button", name="Pause").click()
    until("#state", "paused")
    paused = view.frame["time_ps"]
    page.get_by_role("button", name="Step", exact=True).click()
    while view.frame["time_ps"] < paused + 10_000_000:
        exchange()
    page.get_by_role("button", name="Continue").click()
    page.fill("#line", "off")
    page.press("#line", "Enter")
    until("#time", "node0 powered off")
    assert pending.result().outcome == fabricvp.Outcome.POWER_OFF
    assert page.locator("#links tbody tr").count() == 4
    platform.close()
    until("#message", "the machine is gone")


def test_two_ranks_are_watched_and_steered_as_one_machine(page, assemble, tmp_path):
    firmware = assemble(guests.ECHO)
    with monitored(
        tmp_path, "rdma_pair", "--firmware", firmware, "--firmware", f"node1={firmware}", "--ranks", 2, "--monitor",
        "--monitor-wait", "--console", "none",
    ) as run:  # fmt: skip
        page.goto(run.url)
        page.wait_for_selector("#state[data-state=paused]")
        for name in ("node0.hca0", "node1.hca0"):
            assert page.locator("#picture svg text", has_text=name).count()
        page.get_by_role("button", name="Continue").click()
        page.locator("#console", has_text="ready>").wait_for()
        assert page.locator("#links tbody tr").count() == 6 and page.locator("#harts tbody tr").count() == 8

        page.get_by_role("button", name="Pause").click()
        page.wait_for_selector("#state[data-state=paused]")
        page.get_by_role("button", name="Continue").click()
        page.select_option("#console-node", "1")
        page.fill("#line", "to the other rank")
        page.press("#line", "Enter")
        page.locator("#console", has_text="you typed to the other rank").wait_for()

        faults = page.evaluate("fetch('description.json').then((response) => response.json())")["faults"]
        lost = next(f for f in faults if f["target"].startswith("node1.hca0") and f["kind"] == "link_down")
        page.select_option("#fault-target", lost["target"])
        page.select_option("#fault-kind", "link_down")
        page.fill("#fault-arguments input[name=lasting]", "10 s")
        page.get_by_role("button", name="Inject").click()
        page.locator("#links tbody", has_text="down").wait_for()

        for node in ("0", "1"):
            page.select_option("#console-node", node)
            page.fill("#line", "off")
            page.press("#line", "Enter")
        page.wait_for_selector("#state[data-state=stopped]")
        page.locator("#time", has_text="node0 powered off; node1 powered off").wait_for()
        assert run.wait() == 0, run.errors
