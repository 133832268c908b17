// SPDX-License-Identifier: Apache-2.0
#include "platform/config/config_reference.h"

#include <fmt/format.h>

#include "platform/params/machine_params.h"

namespace fabricvp {
namespace {

/// Text for a table cell.
std::string cell(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out;
}

}  // namespace

config_reference::config_reference(std::string path, std::string help) {
    m_sections.push_back({std::move(path), std::move(help), {}});
    m_open.push_back(0);
}

void config_reference::open(const std::string& name, const std::string& help) {
    const auto& outer = m_sections[m_open.back()].path;
    m_sections.push_back({outer.empty() ? name : outer + "." + name, help, {}});
    m_open.push_back(m_sections.size() - 1);
}

void config_reference::visit(parameter& p) {
    const auto value = p.text();
    m_sections[m_open.back()].rows +=
        fmt::format("| `{}` | {} | {} | {} |\n", p.name, value.empty() ? "–" : "`" + cell(value) + "`",
                    cell(p.allowed()), cell(p.help));
}

void config_reference::rest(std::vector<unparsed_value>&, const char* help) {
    m_sections[m_open.back()].rows += fmt::format("| others | – | – | {} |\n", cell(help));
}

bool config_reference::enter(const char* name, const char* help) {
    open(name, help);
    return true;
}

void config_reference::leave() { m_open.pop_back(); }

std::size_t config_reference::enter_list(const char* name, const char* help, std::size_t size) {
    open(std::string(name) + "[]", std::string(help) + " (a list; each item has these keys)");
    return size;
}

void config_reference::enter_item(std::size_t) { m_open.push_back(m_open.back()); }

void config_reference::leave_list() { m_open.pop_back(); }

void config_reference::enter_kind(const char* name, const char* help) { open(fmt::format("kind: {}", name), help); }

void config_reference::leave_kind() { m_open.pop_back(); }

std::string config_reference::text() const {
    std::string out;
    for (const auto& s : m_sections) {
        if (s.rows.empty()) continue;
        out += fmt::format("## {}\n\n", s.path.empty() ? "Top level" : "`" + s.path + "`");
        if (!s.help.empty()) out += s.help + "\n\n";
        out += "| key | default | allowed | meaning |\n|---|---|---|---|\n" + s.rows + "\n";
    }
    return out;
}

std::string machine_reference() {
    config_reference head("", "");
    machine_params machine;
    machine.describe_head(head);
    config_reference node(
        "node",
        "What all nodes of the machine have. `nodes:` is the list of nodes; each item has these keys too, and what it "
        "says "
        "lies over `node`. Instead of the list may stand a number, of nodes that are all alike; without `nodes:` "
        "there is one. `--set` names one node by its path: `node1.host.harts=4`.");
    node_params one;
    one.describe(node);
    auto text =
        "# Parameters\n\nMade by `fabricvp reference` from the descriptions in the models. Quantities carry their unit "
        "(`16 GB/s`, `100 ns`, `4 MiB`, `5000 cycles`). `--set key=value` takes the same keys with dots: "
        "`--set node.host.harts=4`. The key `base` names another configuration (a file, from the folder of this one, "
        "or a stock one), "
        "over which this one lies like an override: lists stand for whole lists. "
        "The key `plugins` lists plug-ins (files, from the folder of this one), whose kinds it may name then.\n\n" +
        head.text() + node.text();
    text.pop_back();
    return text;
}

}  // namespace fabricvp
