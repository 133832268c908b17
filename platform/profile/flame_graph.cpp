// SPDX-License-Identifier: Apache-2.0
#include "platform/profile/flame_graph.h"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fabricvp {
namespace {

constexpr const char* head = R"html(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>@TITLE@</title>
<style>
:root { color-scheme: light dark; --text: #111; --page: #fff; --light: 78%; }
@media (prefers-color-scheme: dark) { :root { --text: #eee; --page: #181818; --light: 32%; } }
body { font: 14px sans-serif; color: var(--text); background: var(--page); margin: 1em; }
#graph { position: relative; }
#graph button { position: absolute; height: 19px; border: 0; padding: 0 3px; overflow: hidden; white-space: nowrap;
  font: 12px monospace; text-align: left; color: var(--text); border-radius: 2px; cursor: pointer; }
#graph button:focus-visible, #graph button:hover { outline: 2px solid var(--text); z-index: 1; }
#graph button.found { font-weight: bold; text-decoration: underline; }
#status { min-height: 1.4em; overflow-wrap: anywhere; }
</style></head><body>
<h1 style="font-size: 1.2em">@TITLE@</h1>
<p><label>Find a function: <input id="find" type="search"></label>
<button id="all" type="button">Show all</button></p>
<p id="status" role="status"></p>
<div id="graph" role="group" aria-label="Flame graph: callers stand above the functions that they call"></div>
<script type="application/json" id="stacks">)html";

constexpr const char* tail = R"html(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("stacks").textContent);
const graph = document.getElementById("graph"), status = document.getElementById("status");
const root = { name: "all", value: 0, self: 0, children: new Map(), parent: null, depth: 0 };
for (const [stack, samples] of Object.entries(data.stacks)) {
  let at = root;
  at.value += samples;
  for (const name of stack.split(";")) {
    if (!at.children.has(name))
      at.children.set(name, { name, value: 0, self: 0, children: new Map(), parent: at, depth: at.depth + 1 });
    at = at.children.get(name);
    at.value += samples;
  }
  at.self += samples;
}
const time = (samples) => {
  const ns = samples * data.period_ps / 1000;
  const [unit, by] = ns < 1e3 ? ["ns", 1] : ns < 1e6 ? ["µs", 1e3] : ns < 1e9 ? ["ms", 1e6] : ["s", 1e9];
  return `${(ns / by).toPrecision(3)} ${unit}`;
};
const describe = (n) => `${n.name}: ${n.value} samples, ${time(n.value)}, ` +
  `${(100 * n.value / (root.value || 1)).toFixed(1)} % of all; ${time(n.self)} in itself`;
const hue = (name) => {
  if (name.startsWith("[")) return null;
  let h = 0;
  for (const c of name) h = (h * 31 + c.codePointAt(0)) % 60;
  return h;
};
let shown = root;
function draw() {
  graph.replaceChildren();
  const wanted = document.getElementById("find").value, width = graph.clientWidth;
  let deepest = 0, found = 0;
  const box = (n, left, wide) => {
    if (wide < 1) return;
    deepest = Math.max(deepest, n.depth);
    const b = document.createElement("button"), h = hue(n.name);
    b.type = "button";
    b.style.cssText = `left: ${left}px; width: ${Math.max(wide - 1, 1)}px; top: ${n.depth * 20}px; background: ` +
      (h === null ? "hsl(210 12% var(--light))" : `hsl(${h} 80% var(--light))`);
    b.textContent = wide > 24 ? n.name : "";
    b.title = describe(n);
    b.setAttribute("aria-label", b.title);
    if (wanted && n.name.includes(wanted)) { b.classList.add("found"); ++found; }
    b.onclick = () => { shown = n; draw(); };
    b.onfocus = b.onmouseenter = () => { status.textContent = describe(n); };
    graph.append(b);
  };
  const below = (n, left, wide) => {
    box(n, left, wide);
    let x = left;
    for (const c of [...n.children.values()].sort((a, b) => a.name < b.name ? -1 : 1)) {
      const w = wide * c.value / n.value;
      if (w >= 1) below(c, x, w);
      x += w;
    }
  };
  const above = [];
  for (let p = shown.parent; p; p = p.parent) above.push(p);
  for (const p of above.reverse()) box(p, 0, width);
  if (shown.value) below(shown, 0, width);
  graph.style.height = `${(deepest + 1) * 20}px`;
  status.textContent = wanted ? `${found} boxes with "${wanted}"` : describe(shown);
}
document.getElementById("find").oninput = draw;
document.getElementById("all").onclick = () => { shown = root; draw(); };
window.onresize = draw;
draw();
</script></body></html>
)html";

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '&')
            out += "&amp;";
        else
            out += c;
    }
    return out;
}

}  // namespace

std::string flame_graph_page(const std::map<std::string, std::uint64_t>& stacks, const std::string& title,
                             ticks period) {
    std::string page = head;
    constexpr std::string_view mark = "@TITLE@";
    const auto text = escaped(title);
    for (auto at = page.find(mark); at != std::string::npos; at = page.find(mark, at + text.size()))
        page.replace(at, mark.size(), text);
    nlohmann::ordered_json data;
    data["period_ps"] = period;
    data["stacks"] = nlohmann::ordered_json::object();
    for (const auto& [stack, samples] : stacks) data["stacks"][stack] = samples;
    auto json = data.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
    for (auto at = json.find('<'); at != std::string::npos; at = json.find('<', at)) json.replace(at, 1, "\\u003c");
    return page + json + tail;
}

}  // namespace fabricvp
