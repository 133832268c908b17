// SPDX-License-Identifier: Apache-2.0
#include "platform/machine_frame.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "abi/gpu.h"
#include "gpu/debugging/queue_state.h"
#include "platform/fault_plan.h"
#include "platform/topology.h"

namespace fabricvp {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t max_first_output = 64 << 10;  // characters of a console in a frame
constexpr std::size_t max_rows = 256;               // of a table

json lines_of(const std::string& text) {
    auto lines = json::array();
    std::istringstream in(text);
    for (std::string line; lines.size() < max_rows && std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// A character for each byte.
std::string latin1(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80) {
            text += c;
        } else {
            text += static_cast<char>(0xc0 | byte >> 6);
            text += static_cast<char>(0x80 | (byte & 0x3f));
        }
    }
    return text;
}

json faults() {
    auto all = json::array();
    for (const auto& f : describe_faults()) {
        auto arguments = json::array();
        for (const auto& a : f.arguments)
            arguments.push_back({{"name", a.name}, {"value", a.value}, {"allowed", a.allowed}, {"help", a.help}});
        all.push_back({{"target", f.target}, {"kind", f.kind}, {"help", f.help}, {"arguments", std::move(arguments)}});
    }
    return all;
}

}  // namespace

machine_frame::machine_frame(machine& hardware, const watchdog& guard, sources from)
    : m_hardware(hardware), m_guard(guard), m_from(std::move(from)), m_printed(hardware.nodes.size()) {
    for (std::size_t i = 0; i < hardware.nodes.size(); ++i) {
        if (!hardware.nodes[i]) continue;  // another process has it
        for (auto& g : hardware.nodes[i]->devices.gpus) {
            auto others = [this, i](std::uint64_t physical, void* data, std::size_t size, bool write) {
                return m_from.memory(i, physical, data, size, write);
            };
            g->core.log.watch(true);  // keeps read indices
            m_gpus.push_back({g->core.owner.name(), &g->core,
                              std::make_unique<gpu::wavefront_memory>(g->core.memory, std::move(others))});
        }
    }
}

machine_frame::~machine_frame() {
    for (auto& g : m_gpus) g.core->log.watch(false);
}

json machine_frame::description() {
    json d = {{"topology", topology_of(m_hardware)}, {"links", json::array()}, {"nodes", json::array()}};
    find_links(d);
    for (const auto& n : m_hardware.nodes) d["nodes"].push_back(n ? json(n->name()) : json());
    d["faults"] = faults();
    return d;
}

/// Directions of links in the order of the topology: nodes, then what is between them.
void machine_frame::find_links(json& described) {
    m_directions.clear();
    const auto add = [&](const json& graph) {
        const auto& links = graph["links"];
        for (std::size_t l = 0; l < links.size(); ++l)
            for (std::size_t d = 0; d < 2; ++d) {
                if (links[l]["directions"][d].is_null()) continue;  // another process has its port
                const auto name = links[l]["directions"][d]["port"].get<std::string>();
                const auto* found = sc_core::sc_find_object(name.c_str());
                direction shown;
                const char* unit = "";
                if (const auto* p = dynamic_cast<const pcie::port*>(found)) {
                    shown = {&p->transmitter, [p] { return p->outstanding(); }, [p] { return p->up(); }};
                    unit = "TLPs";
                } else if (const auto* p = dynamic_cast<const fabric::port*>(found)) {
                    shown = {&p->transmitter, [p] { return p->outstanding(); }, [p] { return p->transmitter.up(); }};
                    unit = "flits";
                } else if (const auto* p = dynamic_cast<const network::port*>(found)) {
                    shown = {&p->transmitter, [p] { return p->waiting(); }, [p] { return p->transmitter.up(); }};
                    unit = "packets";
                } else if (const auto* p = dynamic_cast<const ethernet::port*>(found)) {
                    shown = {&p->transmitter, [p] { return p->waiting(); }, [p] { return p->transmitter.up(); }};
                    unit = "frames";
                } else {
                    continue;
                }
                m_directions.push_back(std::move(shown));
                described["links"].push_back({{"link", fmt::format("{}/{}", graph["path"].get<std::string>(), l)},
                                              {"from", links[l][d == 0 ? "from" : "to"]},
                                              {"to", links[l][d == 0 ? "to" : "from"]},
                                              {"port", name},
                                              {"bytes_per_second", links[l]["directions"][d]["bytes_per_second"]},
                                              {"unit", unit}});
            }
    };
    const auto& topology = described["topology"];
    for (const auto& node : topology["nodes"])
        for (const char* graph : {"pcie", "fabric"})
            if (node.contains(graph)) add(node[graph]);
    for (const char* graph : {"network", "ethernet"})
        if (topology.contains(graph)) add(topology[graph]);
}

void machine_frame::add_to(json& frame) {
    const auto now = m_hardware.timeline.now();
    auto links = json::array(), consoles = json::array(), nodes = json::array();
    for (const auto& d : m_directions)
        links.push_back({d.lanes->bytes.total(), d.lanes->busy.until(now), d.queue(), d.up()});
    for (std::size_t i = 0; i < m_hardware.nodes.size(); ++i) {
        consoles.push_back(new_output(i));
        nodes.push_back(m_from.state(i));
    }
    frame["links"] = std::move(links);
    frame["consoles"] = std::move(consoles);
    frame["nodes"] = std::move(nodes);
    frame["harts"] = harts();
    frame["gpus"] = gpus();
    frame["queue_pairs"] = queue_pairs();
    frame["waits"] = waits();
}

/// What a console has printed since the last frame, the end of it where that is much.
std::string machine_frame::new_output(std::size_t node) {
    const auto& all = m_from.console(node);
    const auto from = std::max(m_printed[node], all.size() - std::min(all.size(), max_first_output));
    m_printed[node] = all.size();
    return latin1(std::string_view(all).substr(from));
}

json machine_frame::harts() const {
    auto all = json::array();
    for (const auto& n : m_hardware.nodes) {
        if (!n) continue;
        for (const auto& h : n->host.harts)
            if (all.size() < max_rows)
                all.push_back({{"name", h->name()},
                               {"state", h->debug_state()},
                               {"pc", fmt::format("{:#x}", h->pc())},
                               {"instructions", h->instructions.total()}});
    }
    return all;
}

json machine_frame::gpus() {
    auto all = json::array();
    for (auto& g : m_gpus) {
        std::uint64_t slots = 0, used = 0;
        for (const auto& unit : g.core->compute_units) {
            slots += unit->slots();
            used += unit->slots() - unit->free_slots();
        }
        auto kernels = json::array();
        for (const auto& run : g.core->dispatcher.runs())
            kernels.push_back({{"name", g.memory->name_of(run->what)},
                               {"work_groups", run->group_count},
                               {"started", run->started},
                               {"finished", run->finished}});
        std::string queues;
        for (unsigned q = 0; q < GPU_QUEUES; ++q) queues += gpu::summary_of_queue(*g.core, *g.memory, q);
        all.push_back({{"name", g.name},
                       {"wavefronts", used},
                       {"slots", slots},
                       {"kernels", std::move(kernels)},
                       {"queues", lines_of(queues)}});
    }
    return all;
}

json machine_frame::queue_pairs() const {
    std::string text;
    for (const auto& n : m_hardware.nodes)
        if (n) text += n->devices.list_queue_pairs();
    return lines_of(text);
}

json machine_frame::waits() const {
    auto all = json::array();
    for (const auto& w : m_guard.present())
        if (all.size() < max_rows)
            all.push_back({{"who", w.who}, {"since_ps", w.since ? json(*w.since) : json()}, {"what", w.what}});
    return all;
}

}  // namespace fabricvp
