// SPDX-License-Identifier: Apache-2.0
// Shows frames of a run, and makes commands; platform/run_monitor.h has the format of both. The page of `--monitor`
// (page.js) and the widget of notebooks (at the end) show a run by this module.

const maxKept = 200000; // characters of a console
const maxRows = 40; // of the table of links

// What a terminal does not print: strings for it (a title, say), sequences that move its cursor or set colours, and
// other escapes. One that a frame ends in may go on in the next.
const maxString = 4096; // characters
const escapes = new RegExp(
  `\\x1b(?:[\\]P^_X][^\\x07\\x1b\\n]{0,${maxString}}(?:\\x07|\\x1b\\\\)|\\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])`, "g");
const unfinished = new RegExp(
  `\\x1b(?:[\\]P^_X][^\\x07\\x1b\\n]{0,${maxString}}\\x1b?|\\[[0-?]{0,64}[ -/]{0,64}|[ -/]{0,64})$`);
const unprinted = /[\0-\x07\x0b-\x1f\x7f]/g; // controls but backspace, tab and end of line

// Texts

function amount(value, unit, base, names) {
  let n = 0;
  while (value >= base && n + 1 < names.length) { value /= base; ++n; }
  return `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${names[n]}${unit}`;
}
const rateText = (bytes) => (bytes ? amount(bytes, "B/s", 1000, ["", "k", "M", "G", "T"]) : "");
function timeText(ps) {
  const magnitude = Math.abs(ps);
  for (const [size, unit] of [[1e12, "s"], [1e9, "ms"], [1e6, "µs"], [1e3, "ns"]])
    if (magnitude >= size) return `${(ps / size).toPrecision(6)} ${unit}`;
  return `${ps} ps`;
}

/// From grey over yellow to red.
function colour(share) {
  const [grey, yellow, red] = [[176, 190, 197], [249, 178, 51], [198, 40, 40]];
  const [low, high, part] = share < 0.5 ? [grey, yellow, 2 * share] : [yellow, red, 2 * share - 1];
  return `rgb(${low.map((from, n) => Math.round(from + (high[n] - from) * part)).join(" ")})`;
}

/// \param root a document, or a tree of its own, with the elements of run.html
/// \param post sends a command; gives whether that can be
export function createRunView(root, post) {
  const at = (id) => root.getElementById(id);
  const session = Math.random().toString(36).slice(2);

  let described = null; // what there is to see
  let commands = 0;
  let before = null; // the last frame in which time had passed
  const lines = new Map(); // name of a link → its line in the picture, and the title of it
  const consoles = []; // {decoder, text, tail, end}

  // Commands

  function send(command) {
    say("");
    if (!post({ ...command, id: `${session} ${++commands}` })) say("there is no connection to the run");
  }
  function say(text) { at("message").textContent = text; }

  at("pause").onclick = () => send({ do: "pause" });
  at("continue").onclick = () => send({ do: "continue" });
  at("step").onclick = () => send({ do: "step", time: at("step-time").value });
  at("speed").onclick = () => send({ do: "speed", time: at("speed-time").value.trim() || null });
  at("controls").onsubmit = (event) => event.preventDefault();
  at("step-time").onkeydown = (event) => { if (event.key === "Enter") { event.preventDefault(); at("step").click(); } };
  at("speed-time").onkeydown = (event) => { if (event.key === "Enter") { event.preventDefault(); at("speed").click(); } };

  const node = () => Number(at("console-node").value || 0);
  at("typing").onsubmit = (event) => {
    event.preventDefault();
    send({ do: "type", node: node(), text: at("line").value + "\n" });
    at("line").value = "";
  };
  at("console").onkeydown = (event) => {
    const named = { Enter: "\r", Backspace: "\x7f", Escape: "\x1b" };
    let text = named[event.key];
    if (event.ctrlKey && /^[a-z]$/.test(event.key)) text = String.fromCharCode(event.key.charCodeAt(0) - 96);
    else if (!text && event.key.length === 1 && !event.ctrlKey && !event.metaKey) text = event.key;
    if (!text) return;
    event.preventDefault();
    send({ do: "type", node: node(), text });
  };
  at("console-node").onchange = showConsole;

  // Consoles

  /// \param end how many bytes came before what will be printed
  const blank = (end) => ({ decoder: new TextDecoder(), text: "", tail: "", end });
  /// A line without its last character.
  function withoutLast(text) {
    const last = text.slice(-1);
    return last === "\n" ? text : text.slice(0, /[\udc00-\udfff]/.test(last) ? -2 : -1);
  }
  function print(number, latin1) {
    const bytes = Uint8Array.from(latin1, (c) => c.charCodeAt(0));
    const one = (consoles[number] ??= blank(0));
    let text = one.tail + one.decoder.decode(bytes, { stream: true });
    one.end += latin1.length;
    one.tail = unfinished.exec(text)?.[0] ?? "";
    text = text.slice(0, text.length - one.tail.length).replace(escapes, "").replace(unprinted, "");
    if (!text) return;
    const [first, ...others] = text.split("\b");
    one.text += first;
    for (const other of others) one.text = withoutLast(one.text) + other; // a shell writes "\b \b" over what is erased
    one.text = one.text.slice(-maxKept);
    if (number === node()) showConsole();
  }
  /// \param end how many bytes a console has printed in all \param tail the last of them
  function printTail(number, end, tail) {
    const missing = end - (consoles[number]?.end ?? 0);
    if (missing > tail.length) consoles[number] = blank(end - tail.length);
    if (missing > 0) print(number, tail.slice(-missing));
  }
  /// What follows is all from the beginning.
  function clear() {
    consoles.length = 0;
    say("");
    showConsole();
  }
  function showConsole() {
    const shown = at("console");
    const atEnd = shown.scrollTop + shown.clientHeight >= shown.scrollHeight - 4;
    shown.textContent = consoles[node()]?.text ?? "";
    if (atEnd) shown.scrollTop = shown.scrollHeight;
  }

  // Tables

  function fill(id, rows) {
    const body = at(id).tBodies[0] ?? at(id).createTBody();
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((cells, n) => {
      const row = body.rows[n] ?? body.insertRow();
      cells.forEach((text, column) => {
        const cell = row.cells[column] ?? row.insertCell();
        if (cell.textContent !== text) cell.textContent = text;
      });
    });
  }

  function showLinks(frame) {
    const passed = before ? frame.time_ps - before.time_ps : 0;
    const rows = [];
    const picture = new Map();
    described.links.forEach((link, n) => {
      const [bytes, busy, queue, up] = frame.links[n];
      const since = before?.links[n] ?? [bytes, busy];
      // Where no time has passed, as in a paused run, the last share stays.
      const share = passed > 0 ? Math.min((busy - since[1]) / passed, 1) : (link.share ?? 0);
      const rate = passed > 0 ? ((bytes - since[0]) * 1e12) / passed : (link.rate ?? 0);
      Object.assign(link, { share, rate });
      const queueText = queue ? `${queue} ${link.unit}` : "";
      rows.push([up ? share : 2, bytes, [link.from, link.to, up ? `${(100 * share).toFixed(0)} %` : "down", rateText(rate), queueText]]);
      const one = picture.get(link.link) ?? { share: 0, up: true, texts: [] };
      one.up &&= up;
      one.share = Math.max(one.share, share);
      one.texts.push(`${link.from} to ${link.to}: ${(100 * share).toFixed(1)} % ${rateText(rate)} ${queueText}`);
      picture.set(link.link, one);
    });
    for (const [name, one] of picture) {
      const line = lines.get(name);
      if (!line) continue;
      line.path.setAttribute("stroke", colour(one.share));
      line.path.setAttribute("stroke-width", (2 + 8 * one.share).toFixed(1));
      line.path.setAttribute("stroke-dasharray", one.up ? "none" : "2 5");
      line.title.textContent = one.texts.join("\n");
    }
    rows.sort((a, b) => b[0] - a[0] || b[1] - a[1]);
    fill("links", rows.slice(0, maxRows).map((row) => row[2]));
  }

  function show(frame) {
    at("state").textContent = frame.state;
    at("state").dataset.state = frame.state;
    at("time").textContent = `${timeText(frame.time_ps)} simulated ${frame.outcome}`;
    at("time").dataset.ps = frame.time_ps;
    const passed = before && before.state !== "stopped" ? frame.wall_s - before.wall_s : 0;
    if (passed > 0) at("rate").textContent = `${timeText((frame.time_ps - before.time_ps) / passed)} a second`;
    showLinks(frame);
    fill("waits", frame.waits.map((w) => [w.who, w.since_ps === null ? "" : timeText(frame.time_ps - w.since_ps), w.what]));
    fill("gpus", frame.gpus.map((gpu) => [
      gpu.name, `${gpu.wavefronts} of ${gpu.slots}`,
      gpu.kernels.map((k) => `${k.name} ${k.finished} of ${k.work_groups}`).join("\n"), gpu.queues.join("\n")]));
    at("queue-pairs").textContent = frame.queue_pairs.join("\n");
    fill("harts", frame.harts.map((h) => [h.name, h.state, h.pc, String(h.instructions)]));
    at("gpu-section").classList.toggle("absent", frame.gpus.length === 0);
    at("qp-section").classList.toggle("absent", frame.queue_pairs.length === 0);
    at("waiting").classList.toggle("absent", frame.waits.length === 0);
    for (const reply of frame.replies)
      if (String(reply.id).startsWith(session + " ") && reply.error) say(reply.error);
    if (!before || frame.time_ps > before.time_ps) before = frame;
    // Wall time in which a run stands still is no part of its rate.
    else if (frame.state !== "running") before = { ...before, wall_s: frame.wall_s, state: frame.state };
  }

  // Faults

  function fillSelect(select, values) {
    select.replaceChildren(...values.map((value) => new Option(value, value)));
  }
  const faultsOf = (target) => described.faults.filter((f) => f.target === target);
  const chosenFault = () => faultsOf(at("fault-target").value).find((f) => f.kind === at("fault-kind").value);
  function showFault() {
    const fault = chosenFault();
    at("fault-help").textContent = fault?.help ?? "";
    at("fault-arguments").replaceChildren(...(fault?.arguments ?? []).map((argument) => {
      const label = document.createElement("label"), input = document.createElement("input");
      Object.assign(input, { name: argument.name, value: argument.value, size: 10, title: `${argument.help} (${argument.allowed})` });
      label.append(argument.name + " ", input, " ");
      return label;
    }));
  }
  at("fault-target").onchange = () => {
    fillSelect(at("fault-kind"), faultsOf(at("fault-target").value).map((f) => f.kind));
    showFault();
  };
  at("fault-kind").onchange = showFault;
  at("fault").onsubmit = (event) => {
    event.preventDefault();
    const fault = chosenFault();
    if (!fault) return;
    const given = Object.fromEntries([...at("fault-arguments").querySelectorAll("input")].map((i) => [i.name, i.value]));
    send({ do: "inject", target: fault.target, kind: fault.kind, arguments: given });
  };

  // What is not a frame's

  /// \param description of the machine \param drawing of it, with its links marked: SVG
  function describe(description, drawing) {
    described = description;
    at("title").textContent = described.title;
    at("console-node").replaceChildren(...described.nodes.map((name, number) => new Option(name, number)));
    fillSelect(at("fault-target"), [...new Set(described.faults.map((f) => f.target))]);
    at("fault-section").classList.toggle("absent", described.faults.length === 0);
    if (described.faults.length) at("fault-target").onchange();
    const picture = new DOMParser().parseFromString(drawing, "image/svg+xml");
    at("picture").replaceChildren(document.adoptNode(picture.documentElement));
    for (const path of at("picture").querySelectorAll("[data-link]")) {
      const title = path.querySelector("title") ?? path.appendChild(document.createElementNS(path.namespaceURI, "title"));
      lines.set(path.dataset.link, { path, title });
    }
  }
  function disconnected(reason) {
    if (at("state").textContent !== "stopped") at("state").textContent = "disconnected";
    say(reason || "the simulator is gone");
  }

  return { describe, show, print, printTail, clear, say, disconnected };
}

// The widget of a notebook (notebook_view.py), for anywidget. Its elements and styles are in a tree of their own, so
// that the notebook's do not reach them.

function render({ model, el }) {
  const host = el.appendChild(document.createElement("div"));
  host.dataset.lmSuppressShortcuts = "true"; // keys go to the guest, and are no shortcuts of JupyterLab's
  host.addEventListener("keydown", (event) => event.stopPropagation()); // nor of others'
  const root = host.attachShadow({ mode: "open" });
  root.innerHTML = `<style>${model.get("style")}</style>${model.get("markup")}`;
  const view = createRunView(root, (command) => (model.send(command), true));
  view.describe(structuredClone(model.get("description")), model.get("drawing"));
  const showConsoles = () => model.get("consoles").forEach(([end, tail], number) => view.printTail(number, end, tail));
  const showFrame = () => { if ("time_ps" in model.get("frame")) view.show(model.get("frame")); };
  const end = () => { if (model.get("ended")) view.disconnected(model.get("ended")); };
  const shown = { "change:consoles": showConsoles, "change:frame": showFrame, "change:ended": end };
  for (const [change, act] of Object.entries(shown)) { model.on(change, act); act(); }
  return () => { for (const [change, act] of Object.entries(shown)) model.off(change, act); };
}

export default { render };
