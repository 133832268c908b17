// SPDX-License-Identifier: Apache-2.0
// The page of `--monitor`: run_view.js, with a WebSocket.

import { createRunView } from "./run_view.js";

// Codes that close a WebSocket where the server goes on: it was lost, the server failed, the page was too slow.
const lost = [1006, 1011, 1013];
const pause = 1000; // ms until it connects again
let socket = null;
const view = createRunView(document, (command) => {
  if (socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify(command));
  return true;
});

function connect() {
  view.clear();
  let opened = false;
  socket = new WebSocket(new URL("frames", location.href.replace(/^http/, "ws")));
  socket.onopen = () => { opened = true; };
  socket.onmessage = (event) => {
    const frame = JSON.parse(event.data);
    if (frame.silent) return view.say("no answer: no run is going on, or one event takes long");
    frame.consoles?.forEach((text, number) => view.print(number, text));
    if (frame.time_ps !== undefined) view.show(frame);
  };
  socket.onclose = (event) => {
    if (!opened || !lost.includes(event.code)) return view.disconnected(event.reason);
    view.disconnected(`${event.reason || "the connection was lost"}: connecting again`);
    setTimeout(connect, pause);
  };
}

async function start() {
  const description = await (await fetch("description.json")).json();
  document.title = description.title;
  view.describe(description, await (await fetch("machine.svg")).text());
  connect();
}

start().catch((error) => view.say(String(error)));
