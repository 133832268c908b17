// SPDX-License-Identifier: Apache-2.0
#include "platform/topology.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/statistics_window.h"
#include "platform/machine.h"

namespace fabricvp {
namespace {

using json = nlohmann::ordered_json;

template <class Enum>
std::string choice_text(Enum value) {
    for (const auto& [e, name] : choice_traits<Enum>::names)
        if (e == value) return name;
    return {};
}

/// The direction that leaves by a port; null where another process has the port.
template <class Port>
json direction_of(const Port* p, std::uint64_t bytes_per_second, std::uint64_t lanes, ticks propagation) {
    if (!p) return nullptr;
    return {{"port", p->name()},
            {"bytes_per_second", bytes_per_second},
            {"lanes", lanes},
            {"propagation_ps", propagation},
            {"statistics", {{"bytes", {p->transmitter.bytes.path()}}, {"busy", {p->transmitter.busy.path()}}}}};
}

json host_of(const node& n) {
    json harts = json::array(), targets = json::array();
    for (const auto& hart : n.host.harts)
        harts.push_back({{"name", hart->basename()},
                         {"path", hart->name()},
                         {"isa", hart->isa_string()},
                         {"hertz", hart->params.clock.hertz}});
    for (const auto& r : n.host.bus.ranges())
        targets.push_back({{"name", r.value.name},
                           {"path", fmt::format("{}.{}", n.host.name(), r.value.name)},
                           {"base", r.base},
                           {"size", r.size},
                           {"memory", static_cast<bool>(r.value.memory)}});
    return {{"bus", n.host.bus.name()}, {"harts", std::move(harts)}, {"targets", std::move(targets)}};
}

/// \param of whose statistics the links' are part of
json graph_of(const model& of, json blocks, json links) {
    return {{"path", of.name()},
            {"blocks", std::move(blocks)},
            {"links", std::move(links)},
            {"since_ps", statistics_window_start(of.name())}};
}

json pcie_of(pcie::tree& tree) {
    json blocks = json::array({{{"name", "root"}, {"path", tree.root.name()}, {"kind", "root_complex"}}});
    json links = json::array();
    const auto add = [&](const std::string& name, const std::string& below, const char* kind, const pcie::port* down,
                         const pcie::port* up) {
        blocks.push_back({{"name", name}, {"path", fmt::format("{}.{}", tree.name(), name)}, {"kind", kind}});
        const auto direction = [](const pcie::port* p) {
            return direction_of(p, p ? p->transmitter.bytes_per_second() : 0, p ? p->lanes() : 0,
                                p ? p->params.propagation.value : 0);
        };
        json link = {{"from", below}, {"to", name}, {"directions", {direction(down), direction(up)}}};
        if (const auto* end = up ? up : down) {
            link["generation"] = end->generation();
            link["lanes"] = end->lanes();
        }
        links.push_back(std::move(link));
    };
    for (std::size_t i = 0; i < tree.switches.size(); ++i) {
        const auto& up = tree.switches[i]->upstream_port();
        add(tree.params.switches[i].name, tree.params.switches[i].below, "switch", up.partner(), &up);
    }
    for (std::size_t i = 0; i < tree.endpoints.size(); ++i) {
        const auto& up = tree.endpoints[i]->link;
        add(tree.params.endpoints[i].name, tree.params.endpoints[i].below, "endpoint", up.partner(), &up);
    }
    for (std::size_t i = 0; i < tree.params.slots.size(); ++i) {
        const auto& down = tree.slot(i);
        add(tree.params.slots[i].name, tree.params.slots[i].below, "device", &down, down.partner());
    }
    return graph_of(tree, std::move(blocks), std::move(links));
}

json fabric_of(const fabric::interconnect& f) {
    json blocks = json::array(), links = json::array();
    for (std::size_t t = 0; t < f.terminals.size(); ++t)
        blocks.push_back({{"name", f.terminals[t]->basename()},
                          {"path", f.terminals[t]->name()},
                          {"kind", t < f.params.devices.size() ? "device" : "generator"},
                          {"number", t},
                          {"cluster", f.terminals[t]->cluster()}});
    for (const auto& s : f.switches)
        blocks.push_back({{"name", s->basename()}, {"path", s->name()}, {"kind", "switch"}, {"cluster", s->cluster}});
    const auto direction = [](const fabric::port& p) {
        auto d = direction_of(&p, p.params.bytes_per_second(), p.params.lanes, p.params.propagation.value);
        auto& flits = d["statistics"]["flits"];
        for (unsigned c = 0; c < fabric::packet_classes; ++c)
            flits.push_back(fmt::format("{}.{}.flits", p.sent.path(), name_of(static_cast<fabric::packet_class>(c))));
        return d;
    };
    for (const auto& l : f.links())
        links.push_back({{"from", l.from},
                         {"to", l.to},
                         {"directions", {direction(*l.a), direction(*l.b)}},
                         {"crosses_clusters", l.a->crosses_clusters},
                         {"reversible", l.lanes != nullptr}});
    return graph_of(f, std::move(blocks), std::move(links));
}

json network_of(const network::subnet& n) {
    json blocks = json::array(), links = json::array();
    const auto add = [&](const std::string& name, const char* kind) {
        blocks.push_back({{"name", name},
                          {"path", std::string(kind) == "adapter" ? name : fmt::format("{}.{}", n.name(), name)},
                          {"kind", kind},
                          {"lid", n.lid_of(name)}});
    };
    for (const auto& a : n.adapters()) add(a.first, "adapter");
    for (const auto& g : n.params.generators) add(g.name, "generator");
    for (const auto& s : n.params.switches) add(s.name, "switch");
    const auto direction = [](const network::port* p) {
        if (!p) return json();
        auto d =
            direction_of(p, p->transmitter.bytes_per_second(), p->transmitter.lanes(), p->cable().propagation.value);
        d["rate"] = choice_text(p->rate());
        d["width"] = choice_text(p->width());
        return d;
    };
    for (const auto& l : n.links())
        links.push_back({{"from", l.from}, {"to", l.to}, {"directions", {direction(l.a), direction(l.b)}}});
    return graph_of(n, std::move(blocks), std::move(links));
}

json ethernet_of(const ethernet::segment& e) {
    json blocks = json::array(), links = json::array();
    for (const auto& a : e.adapters()) blocks.push_back({{"name", a.name}, {"path", a.name}, {"kind", "adapter"}});
    for (const auto& s : e.switches)
        blocks.push_back({{"name", s->basename()}, {"path", s->name()}, {"kind", "switch"}});
    // Ports of a switch stand in the order of the links.
    std::map<std::string, std::vector<const ethernet::port*>> ports;
    for (const auto& a : e.adapters()) ports[a.name].push_back(a.port);
    for (const auto& s : e.switches)
        for (const auto& p : s->ports) ports[s->basename()].push_back(p.get());
    std::map<std::string, std::size_t> used;
    for (const auto& l : e.params.links) {
        const auto direction = [&](const std::string& end) {
            const auto* p = ports.at(end)[used[end]++];
            return direction_of(p, p->transmitter.bytes_per_second(), p->transmitter.lanes(), l.propagation.value);
        };
        auto there = direction(l.from), back = direction(l.to);
        links.push_back({{"from", l.from}, {"to", l.to}, {"directions", {std::move(there), std::move(back)}}});
    }
    return graph_of(e, std::move(blocks), std::move(links));
}

double in_seconds(ticks t) { return static_cast<double>(t) / static_cast<double>(ticks_per_second); }

/// Snapshots whose values count together: those of all regions of a label.
using snapshots = std::vector<const statistics_snapshot*>;

double sum_of(const snapshots& all, const std::string& path) {
    double sum = 0;
    for (const auto* values : all)
        if (const auto at = values->find(path); at != values->end()) sum += at->second;
    return sum;
}

json traffic_of(const json& direction, const snapshots& values, double passed) {
    if (direction.is_null()) return nullptr;
    const auto sum = [&](const char* what) {
        double total = 0;
        for (const auto& path : direction.at("statistics").at(what))
            total += sum_of(values, path.get_ref<const std::string&>());
        return total;
    };
    json t = {{"bytes", sum("bytes")},
              {"busy", passed > 0 ? sum("busy") / static_cast<double>(ticks_per_second) / passed : 0.0}};
    if (direction.at("statistics").contains("flits")) t["flits"] = sum("flits");
    return t;
}

json interval_of(const json& graph, const snapshots& values, json region, std::size_t regions, double passed) {
    json links = json::array();
    for (const auto& l : graph.at("links")) {
        const auto& d = l.at("directions");
        links.push_back({traffic_of(d.at(0), values, passed), traffic_of(d.at(1), values, passed)});
    }
    return {{"region", std::move(region)}, {"regions", regions}, {"seconds", passed}, {"links", std::move(links)}};
}

/// Regions of interest of one label, together.
struct regions_of_a_label {
    ticks time = 0;
    std::size_t count = 0;
    snapshots values;
};

void add_to_graph(json& graph, const statistics_snapshot& values, ticks now,
                  const std::map<std::string, regions_of_a_label>& labels) {
    const auto since = graph.at("since_ps").get<ticks>();
    graph.erase("since_ps");
    auto all = json::array();
    all.push_back(interval_of(graph, {&values}, nullptr, 0, in_seconds(now - std::min(now, since))));
    for (const auto& [label, r] : labels)
        all.push_back(interval_of(graph, r.values, label, r.count, in_seconds(r.time)));
    graph["traffic"] = std::move(all);
}

}  // namespace

json topology_of(machine& m) {
    json nodes = json::array();
    for (const auto& n : m.nodes) {
        if (!n) {
            nodes.push_back(nullptr);
            continue;
        }
        json described = {{"name", n->name()}, {"host", host_of(*n)}};
        if (n->pcie) described["pcie"] = pcie_of(*n->pcie);
        if (n->fabric) described["fabric"] = fabric_of(*n->fabric);
        nodes.push_back(std::move(described));
    }
    json topology = {{"version", 1}, {"nodes", std::move(nodes)}};
    if (m.network) topology["network"] = network_of(*m.network);
    if (m.ethernet) topology["ethernet"] = ethernet_of(*m.ethernet);
    return topology;
}

json merged_topology(const std::vector<json>& ranks) {
    auto all = ranks.front();
    for (const auto& other : ranks) {
        for (std::size_t i = 0; i < all.at("nodes").size(); ++i)
            if (all["nodes"][i].is_null()) all["nodes"][i] = other.at("nodes").at(i);
        if (!all.contains("network")) continue;
        auto& links = all["network"]["links"];
        for (std::size_t i = 0; i < links.size(); ++i)
            for (std::size_t d = 0; d < 2; ++d)
                if (auto& direction = links[i]["directions"][d]; direction.is_null())
                    direction = other.at("network").at("links").at(i).at("directions").at(d);
    }
    return all;
}

void add_traffic(json& topology, const statistics_snapshot& values, ticks now,
                 const std::map<std::size_t, const std::vector<host::marker::region>*>& regions) {
    auto& nodes = topology.at("nodes");
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        std::map<std::string, regions_of_a_label> labels;
        if (const auto own = regions.find(i); own != regions.end())
            for (const auto& r : *own->second) {
                auto& sum = labels[r.label];
                sum.time += r.to - r.from;
                ++sum.count;
                sum.values.push_back(&r.values);
            }
        for (const char* graph : {"pcie", "fabric"})
            if (nodes[i].is_object() && nodes[i].contains(graph)) add_to_graph(nodes[i][graph], values, now, labels);
    }
    for (const char* graph : {"network", "ethernet"})
        if (topology.contains(graph)) add_to_graph(topology[graph], values, now, {});
}

json topology_of(machine& m, const statistics_snapshot& values) {
    auto topology = topology_of(m);
    std::map<std::size_t, const std::vector<host::marker::region>*> regions;
    for (std::size_t i = 0; i < m.nodes.size(); ++i)
        if (m.nodes[i]) regions[i] = &m.nodes[i]->host.marker.regions();
    add_traffic(topology, values, m.timeline.now(), regions);
    return topology;
}

std::string topology_text(const json& topology) {
    return topology.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace fabricvp
