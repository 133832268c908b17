// SPDX-License-Identifier: Apache-2.0
// Shows frames of a run, and sends commands; platform/run_monitor.h has the format of both.
"use strict";

const at = (id) => document.getElementById(id);
const maxKept = 200000; // characters of a console
const maxRows = 40; // of the table of links
const session = Math.random().toString(36).slice(2);

let described = null; // description.json
let socket = null;
let commands = 0;
let before = null; // the last frame that had links
let lines = new Map(); // name of a link → its line in the picture, and the title of it
const consoles = []; // {decoder, text}

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

// Commands

function send(command) {
  if (socket?.readyState !== WebSocket.OPEN) return say("there is no connection to the run");
  command.id = `${session} ${++commands}`;
  say("");
  socket.send(JSON.stringify(command));
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

function print(number, latin1) {
  const bytes = Uint8Array.from(latin1, (c) => c.charCodeAt(0));
  const one = (consoles[number] ??= { decoder: new TextDecoder(), text: "" });
  const text = one.decoder.decode(bytes, { stream: true }).replace(/\r|\x1b\[[0-9;?]*[A-Za-z]/g, "");
  if (!text) return;
  one.text = (one.text + text).slice(-maxKept);
  if (number === node()) showConsole();
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

/// From grey over yellow to red.
function colour(share) {
  const [grey, yellow, red] = [[176, 190, 197], [249, 178, 51], [198, 40, 40]];
  const [low, high, part] = share < 0.5 ? [grey, yellow, 2 * share] : [yellow, red, 2 * share - 1];
  return `rgb(${low.map((from, n) => Math.round(from + (high[n] - from) * part)).join(" ")})`;
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
  const passed = before ? frame.wall_s - before.wall_s : 0;
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

// Connection

function connect() {
  socket = new WebSocket(new URL("frames", location.href.replace(/^http/, "ws")));
  socket.onmessage = (event) => {
    const frame = JSON.parse(event.data);
    if (frame.silent) return say("no answer: no run is going on, or one event takes long");
    frame.consoles?.forEach((text, number) => print(number, text));
    if (frame.time_ps !== undefined) show(frame);
  };
  socket.onclose = (event) => {
    if (at("state").textContent !== "stopped") at("state").textContent = "disconnected";
    say(event.reason || "the simulator is gone");
  };
}

async function start() {
  described = await (await fetch("description.json")).json();
  document.title = at("title").textContent = described.title;
  described.nodes.forEach((name, number) => at("console-node").append(new Option(name, number)));
  fillSelect(at("fault-target"), [...new Set(described.faults.map((f) => f.target))]);
  at("fault-section").classList.toggle("absent", described.faults.length === 0);
  if (described.faults.length) at("fault-target").onchange();
  const picture = new DOMParser().parseFromString(await (await fetch("machine.svg")).text(), "image/svg+xml");
  at("picture").append(document.adoptNode(picture.documentElement));
  for (const path of at("picture").querySelectorAll("[data-link]")) {
    const title = path.querySelector("title") ?? path.appendChild(document.createElementNS(path.namespaceURI, "title"));
    lines.set(path.dataset.link, { path, title });
  }
  connect();
}

start().catch((error) => say(String(error)));
