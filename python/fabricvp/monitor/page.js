// SPDX-License-Identifier: Apache-2.0
// The page of `--monitor`: run_view.js, with a WebSocket.

import { createRunView } from "./run_view.js";

let socket = null;
const view = createRunView(document, (command) => {
  if (socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify(command));
  return true;
});

function connect() {
  socket = new WebSocket(new URL("frames", location.href.replace(/^http/, "ws")));
  socket.onmessage = (event) => {
    const frame = JSON.parse(event.data);
    if (frame.silent) return view.say("no answer: no run is going on, or one event takes long");
    frame.consoles?.forEach((text, number) => view.print(number, text));
    if (frame.time_ps !== undefined) view.show(frame);
  };
  socket.onclose = (event) => view.disconnected(event.reason);
}

async function start() {
  const description = await (await fetch("description.json")).json();
  document.title = description.title;
  view.describe(description, await (await fetch("machine.svg")).text());
  connect();
}

start().catch((error) => view.say(String(error)));
