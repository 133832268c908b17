// SPDX-License-Identifier: Apache-2.0
#include "fabric/interconnect.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/described_blocks.h"
#include "base/log.h"
#include "fabric/stage_plan.h"

namespace fabricvp::fabric {

using link::find_routes, link::no_link, link::routing_table, link::topology;

namespace {

[[noreturn]] void reject(const std::string& origin, const std::string& why) { reject_at(origin, "fabric: " + why); }

void check_name(const std::string& name, const std::string& origin, const char* kind, std::set<std::string>& taken) {
    if (!is_block_name(name))
        reject(origin, fmt::format("'{}' is no name for a {}: give letters, digits and _", name, kind));
    if (!taken.insert(name).second) reject(origin, fmt::format("the name '{}' is taken twice", name));
}

const interconnect_params& checked(const interconnect_params& p) {
    std::set<std::string> names;
    for (const auto& d : p.devices) check_name(d, {}, "device", names);
    for (const auto& g : p.generators) check_name(g.name, g.where.of("name"), "generator", names);
    if (names.size() > max_terminals)
        reject(p.where.own(), fmt::format("{} devices and generators: at most {}", names.size(), max_terminals));
    const auto ends = names;
    for (const auto& s : p.switches) check_name(s.name, s.where.of("name"), "switch", names);
    std::map<std::string, unsigned> uses;
    for (const auto& l : p.links) {
        for (const auto* key : {"from", "to"}) {
            const auto& end = *key == 'f' ? l.from : l.to;
            if (!names.count(end))
                reject(l.where.of(key),
                       fmt::format("a link goes {} '{}', which is neither a switch nor a device (allowed: {})", key,
                                   end, allowed_names(names)));
            if (ends.count(end) && ++uses[end] > 1)
                reject(l.where.of(key),
                       fmt::format("'{}' has more than one link: devices have one, switches many", end));
        }
        if (l.from == l.to) reject(l.where.of("to"), fmt::format("a link goes from '{}' to itself", l.from));
        if (l.forward_lanes >= 2 * l.lanes)
            reject(l.where.of("forward_lanes"),
                   fmt::format(
                       "forward_lanes of {} from '{}' to '{}': the link has {} lanes, and one at least must lead back",
                       l.forward_lanes, l.from, l.to, 2 * l.lanes));
    }
    for (const auto& s : p.switches)
        if (const auto n = std::count_if(p.links.begin(), p.links.end(),
                                         [&](const auto& l) { return l.from == s.name || l.to == s.name; });
            n > max_switch_ports)
            reject(s.where.own(), fmt::format("the switch '{}' has {} links: at most {}", s.name, n, max_switch_ports));
    for (const auto& g : p.generators)
        if (!uses[g.name]) reject(g.where.own(), fmt::format("the generator '{}' has no link", g.name));
    if (p.packet.crc.bytes >= p.packet.flit.bytes) reject(p.where.of("packet"), "packet.crc leaves no byte of a flit");
    // A buffer that could never hold the longest packet would stop everything.
    const auto longest =
        p.packet.flits(static_cast<std::uint32_t>(p.packet.header.bytes + p.packet.address.bytes) + line_bytes);
    const auto check_room = [&](std::uint64_t entries, const std::string& what, const std::string& origin) {
        if (entries / data_channels < longest)
            reject(origin, fmt::format("{} of {} flits leaves {} for requests: the longest packet has {}", what,
                                       entries, entries / data_channels, longest));
    };
    const auto check_walks = [&](std::uint64_t entries, const std::string& what, const std::string& origin) {
        const auto flits = p.packet.flits(static_cast<std::uint32_t>(p.packet.header.bytes + p.packet.address.bytes));
        if (p.packet.page_table_channels && entries / 2 < flits)
            reject(origin, fmt::format("{} of {} flits leaves {} for requests: a page-table packet has {}", what,
                                       entries, entries / 2, flits));
    };
    check_room(p.device.input.entries, "device.input.entries", p.where.of("device"));
    check_walks(p.device.input.page_table_entries, "device.input.page_table_entries", p.where.of("device"));
    for (const auto& s : p.switches) {
        check_room(s.input.entries, s.name + ".input.entries", s.where.of("input"));
        check_walks(s.input.page_table_entries, s.name + ".input.page_table_entries", s.where.of("input"));
        check_room(s.output_entries, s.name + ".output_entries", s.where.of("output_entries"));
    }
    stage_plan(p).check();
    return p;
}

/// Which ports everything needs.
struct link_plan {
    struct end {
        std::size_t vertex;
        unsigned port;
    };
    std::vector<std::vector<port_node>> ports;  // by vertex
    std::vector<end> from, to;                  // by link
};

link_plan plan_links(const interconnect_params& p, const std::map<std::string, std::size_t>& vertex,
                     std::size_t terminals) {
    link_plan plan;
    plan.ports.resize(vertex.size());
    const stage_plan stages(p);
    const auto add = [&](std::size_t link, bool forward, std::size_t at, bool crosses) {
        const auto& l = p.links[link];
        const auto& towards = forward ? l.to : l.from;
        auto& ports = plan.ports[at];
        const auto taken = [&](const std::string& name) {
            return std::any_of(ports.begin(), ports.end(), [&](const auto& n) { return n.name == name; });
        };
        auto name = "to_" + towards;
        for (unsigned n = 1; taken(name); ++n) name = fmt::format("to_{}_{}", towards, n);
        const auto* sends = stages.of(link, forward);
        ports.push_back({name, forward ? l.forward_params() : l.reverse_params(), crosses,
                         sends ? &sends->settings() : nullptr, stages.ingress(link, !forward),
                         sends ? sends->origin : "", sends ? sends->path : ""});
        return link_plan::end{at, static_cast<unsigned>(ports.size() - 1)};
    };
    const auto cluster = [&](std::size_t v) { return p.switches[v - terminals].cluster; };
    for (std::size_t i = 0; i < p.links.size(); ++i) {
        const auto a = vertex.at(p.links[i].from), b = vertex.at(p.links[i].to);
        const bool crosses = a >= terminals && b >= terminals && cluster(a) != cluster(b);
        plan.from.push_back(add(i, true, a, crosses));
        plan.to.push_back(add(i, false, b, crosses));
    }
    return plan;
}

/// Links between the same two ends are numbered from the second one on.
std::string lanes_name(const std::vector<interconnect_params::link_node>& links, std::size_t index) {
    const auto same = [&](const auto& l) { return l.from == links[index].from && l.to == links[index].to; };
    const auto before = std::count_if(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(index), same);
    auto name = fmt::format("lanes_{}_{}", links[index].from, links[index].to);
    return before ? fmt::format("{}_{}", name, before) : name;
}

}  // namespace

void interconnect_params::switch_node::describe(parameter_visitor& v) {
    where.note(v, {"name", "input", "output_entries", "stage"});
    v.field("name", name, "name of the switch");
    v.field("cluster", cluster, between{0, 1000}, "cluster to which it and the devices on it belong");
    switch_params::describe(v);
}

void interconnect_params::link_node::describe(parameter_visitor& v) {
    where.note(v, {"from", "to", "forward_lanes", "stage", "forward_stage", "reverse_stage"});
    v.field("from", from, "a switch, a GPU or a generator");
    v.field("to", to, "a switch, a GPU or a generator");
    link_params::describe(v);
    v.field("forward_lanes", forward_lanes, between{0, 127},
            "how many of the link's lanes, which are twice `lanes`, lead from `from` to `to` to begin with; the others "
            "lead back. 0: half of them");
    v.group("stage", stage, "of what is sent both ways, in the place of those of the switches or devices");
    v.group("forward_stage", forward_stage, "the same of what `from` sends alone");
    v.group("reverse_stage", reverse_stage, "the same of what `to` sends alone");
}

link_params interconnect_params::link_node::with_lanes(std::uint64_t count) const {
    link_params direction = *this;
    direction.lanes = count;
    return direction;
}

void interconnect_params::generator_node::describe(parameter_visitor& v) {
    where.note(v, {"name"});
    v.field("name", name, "name of the generator");
    generator_params::describe(v);
}

void interconnect_params::describe(parameter_visitor& v) {
    where.note(v, {"packet", "device"});
    v.group("packet", packet, "sizes of packets and flits");
    v.group("device", device, "where every device is attached");
    v.field("failure_time", failure_time, between{0, 1e12},
            "from the loss of a packet at a dead link or switch until its requester is told");
    describe_blocks(v, "switches", switches, nullptr, "switches between GPUs");
    v.list("links", links, "links between switches, GPUs and generators; a GPU or a generator has one");
    describe_blocks(v, "generators", generators, nullptr,
                    "traffic generators in the place of GPUs; they are numbered after the GPUs");
}

interconnect::interconnect(const sc_core::sc_module_name& name, const interconnect_params& p)
    : model(name), params(checked(p)) {
    std::map<std::string, std::size_t> vertex;
    std::vector<std::string> ends = params.devices;
    for (const auto& g : params.generators) ends.push_back(g.name);
    for (const auto& e : ends) vertex.emplace(e, vertex.size());
    for (const auto& s : params.switches) vertex.emplace(s.name, vertex.size());
    const auto plan = plan_links(params, vertex, ends.size());
    m_topology = {ends.size(), params.switches.size(), {}};
    for (std::size_t t = 0; t < ends.size(); ++t) {
        const auto number = static_cast<unsigned>(t);
        const auto* link = plan.ports[t].empty() ? nullptr : &plan.ports[t][0];
        if (t < params.devices.size()) {
            terminals.push_back(
                std::make_unique<terminal>(ends[t].c_str(), params.device, number, params.packet, link));
            continue;
        }
        auto made = std::make_unique<generator>(ends[t].c_str(), params.generators[t - params.devices.size()],
                                                params.device, number, params.packet, link);
        generators.push_back(made.get());
        terminals.push_back(std::move(made));
    }
    for (const auto& s : params.switches)
        switches.push_back(std::make_unique<fabric_switch>(s.name.c_str(), s, static_cast<unsigned>(s.cluster),
                                                           params.packet, plan.ports[ends.size() + switches.size()]));
    const auto port_at = [&](const link_plan::end& e) -> port& {
        return e.vertex < ends.size() ? *terminals[e.vertex]->link : switches[e.vertex - ends.size()]->at(e.port);
    };
    for (std::size_t i = 0; i < params.links.size(); ++i) {
        auto &from = port_at(plan.from[i]), &to = port_at(plan.to[i]);
        connect(from, to);
        m_topology.links.emplace_back(plan.from[i].vertex, plan.to[i].vertex);
        m_links.push_back({params.links[i].from, params.links[i].to, &from, &to});
        if (params.links[i].reversible.policy != link::lane_policy_kind::none) {
            reversible.push_back(std::make_unique<link::lane_controller>(lanes_name(params.links, i).c_str(),
                                                                         params.links[i].reversible, from.duplex(),
                                                                         from.transmitter, to.transmitter));
            m_links.back().lanes = reversible.back().get();
        }
        if (from.crosses_clusters) m_crossing.insert(m_crossing.end(), {&from, &to});
    }
    m_dead.resize(m_links.size());
    for (std::size_t i = 0; i < m_links.size(); ++i)
        for (auto* p : {m_links[i].a, m_links[i].b}) p->faults.on_failure = [this, i] { fail_link(i); };
    for (std::size_t i = 0; i < switches.size(); ++i) {
        switches[i]->on_failure = [this, i] { fail_switch(i); };
        switches[i]->on_lost = [this](const packet_ptr& p) { drop(p); };
    }
    for (auto& t : terminals) {
        t->on_lost = [this](const packet_ptr& p) { drop(p); };
        if (t->link) t->on_link_controls = [this, &of_device = *t->link] { return controls_beside(of_device); };
    }
    route();
    for (const auto& s : switches) s->check_stages();  // of a machine; a dead link may ask more of a queue than it has
}

/// Of the switch at the other end of a device's link, or, where that is a device, of that link.
std::vector<link_control> interconnect::controls_beside(const port& of_device) const {
    const auto lanes = [](const link_ends& l) { return l.lanes ? &l.lanes->policy() : nullptr; };
    const auto own = std::find_if(m_links.begin(), m_links.end(),
                                  [&](const auto& l) { return l.a == &of_device || l.b == &of_device; });
    const auto& towards = own->a == &of_device ? own->to : own->from;
    for (const auto& s : switches) {
        if (towards != s->basename()) continue;
        std::vector<link_control> all(s->ports());
        for (const auto& l : m_links)
            for (const auto* p : {l.a, l.b})
                if (p->index < s->ports() && p == &s->at(p->index))
                    all[p->index] = {lanes(l), s->egress_of(p->index).controls()};
        return all;
    }
    return {{lanes(*own), nullptr}};
}

/// Ways over the links that live.
void interconnect::route() {
    topology living{m_topology.terminals, m_topology.switches, {}};
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < m_links.size(); ++i) {
        if (m_dead[i]) continue;
        living.links.push_back(m_topology.links[i]);
        numbers.push_back(i);
    }
    auto table = find_routes(living);
    for (auto& next_links : table)
        for (auto& link : next_links)
            if (link != no_link) link = numbers[link];
    const auto shared_map = std::make_shared<terminal_map>();
    shared_map->cluster.resize(terminals.size());
    shared_map->reaches.resize(terminals.size(), boost::dynamic_bitset<>(terminals.size()));
    const auto belongs = [&](std::size_t t, std::size_t to) {
        if (t < terminals.size() && to >= terminals.size())
            shared_map->cluster[t] = static_cast<std::uint16_t>(switches[to - terminals.size()]->cluster);
    };
    for (const auto& [a, b] : m_topology.links) {
        belongs(a, b);
        belongs(b, a);
    }
    for (std::size_t s = 0; s < terminals.size(); ++s)
        for (std::size_t d = 0; d < terminals.size(); ++d) shared_map->reaches[s][d] = d != s && table[s][d] != no_link;
    for (auto& t : terminals) t->set_terminal_map(shared_map);
    for (std::size_t i = 0; i < switches.size(); ++i) {
        const auto v = terminals.size() + i;
        switches[i]->clear_routes();
        for (std::size_t d = 0; d < terminals.size(); ++d) {
            const auto link = table[v][d];
            if (link == no_link) continue;
            const auto& ends = m_links[link];
            const bool first = m_topology.links[link].first == v;
            switches[i]->set_route(static_cast<unsigned>(d), (first ? ends.a : ends.b)->index, shared_map->cluster[d]);
        }
    }
    register_reversible_lanes(table);
}

/// Which links' lanes a launch concerns: the device's own, and those between switches that packets from or to it pass.
void interconnect::register_reversible_lanes(const routing_table& table) {
    if (reversible.empty()) return;
    for (auto& t : terminals) t->clear_reversible();
    std::vector<boost::dynamic_bitset<>> users(m_links.size(), boost::dynamic_bitset<>(terminals.size()));
    for (std::size_t s = 0; s < terminals.size(); ++s)
        for (std::size_t d = 0; d < terminals.size(); ++d)
            for (std::size_t at = s; at != d && table[at][d] != no_link;) {
                const auto link = table[at][d];
                const auto [first, second] = m_topology.links[link];
                users[link].set(s).set(d);
                at = first == at ? second : first;
            }
    for (std::size_t l = 0; l < m_links.size(); ++l) {
        if (!m_links[l].lanes) continue;
        const auto [first, second] = m_topology.links[l];
        const bool of_device = std::min(first, second) < terminals.size();
        for (std::size_t t = 0; t < terminals.size(); ++t)
            if (of_device ? t == first || t == second : users[l].test(t))
                terminals[t]->add_reversible(*m_links[l].lanes);
    }
}

void interconnect::fail_link(std::size_t link) {
    if (m_dead[link]) return;
    m_dead[link] = true;
    for (auto* p : {m_links[link].a, m_links[link].b}) p->faults.fail();
    log(log_level::warning, *this, "the link from {} to {} is dead", m_links[link].from, m_links[link].to);
    reroute();
}

void interconnect::fail_switch(std::size_t number) {
    const auto v = terminals.size() + number;
    for (std::size_t l = 0; l < m_links.size(); ++l) {
        const auto [first, second] = m_topology.links[l];
        if (m_dead[l] || (first != v && second != v)) continue;
        m_dead[l] = true;
        for (auto* p : {m_links[l].a, m_links[l].b}) p->faults.fail();
    }
    log(log_level::warning, *this, "the switch {} is dead", params.switches[number].name);
    reroute();
}

void interconnect::reroute() {
    ++rerouted;
    route();
    for (std::size_t i = 0; i < switches.size(); ++i) {
        std::vector<bool> dead(switches[i]->ports());
        for (std::size_t l = 0; l < m_links.size(); ++l) {
            if (!m_dead[l]) continue;
            if (m_topology.links[l].first == terminals.size() + i) dead[m_links[l].a->index] = true;
            if (m_topology.links[l].second == terminals.size() + i) dead[m_links[l].b->index] = true;
        }
        switches[i]->follow_routes(dead);
    }
    for (auto& t : terminals) t->follow_routes();
}

/// A packet cannot get on: the requester of its access gets it as a response that says so.
void interconnect::drop(const packet_ptr& p) {
    p->status = access_status::unreachable;
    p->valid_sectors = 0;
    if (!is_response(p->type)) p->make_response(params.packet);
    m_lost.push_back({now() + params.failure_time, p});
    if (!m_report.scheduled()) schedule(m_report, m_lost.front().when);
}

void interconnect::report_lost() {
    while (!m_lost.empty() && m_lost.front().when <= now()) {
        const auto p = std::move(m_lost.front().packet);
        m_lost.pop_front();
        terminals[p->destination]->fail(p);
    }
    if (!m_lost.empty() && !m_report.scheduled()) schedule(m_report, m_lost.front().when);
}

std::uint64_t interconnect::in_flight() const {
    std::uint64_t sum = 0;
    for (const auto& t : terminals)
        sum += t->packets_sent.total() - t->packets_received.total() - t->packets_failed.total();
    return sum;
}

void interconnect::reset() {
    m_lost.clear();
    cancel(m_report);
    m_in_flight_at_reset = in_flight();
    model::reset();
    if (std::find(m_dead.begin(), m_dead.end(), true) != m_dead.end())
        for (auto& t : terminals) t->follow_routes();  // some may be out of reach
}

void interconnect::repair() {
    for (const auto& l : m_links)
        for (auto* p : {l.a, l.b}) p->faults.repair();
    if (std::find(m_dead.begin(), m_dead.end(), true) == m_dead.end()) return;
    std::fill(m_dead.begin(), m_dead.end(), false);
    route();
}

void interconnect::start() {
    std::vector<unsigned> attached;
    for (const auto& t : terminals)
        if (t->attached()) attached.push_back(t->number);
    for (auto& g : generators) {
        g->set_peers(attached, static_cast<unsigned>(params.devices.size()));
        g->begin();
    }
}

std::uint64_t interconnect::packet_hops() const {
    std::uint64_t sum = 0;
    for (const auto& l : m_links) sum += l.a->sent.total_packets() + l.b->sent.total_packets();
    return sum;
}

double interconnect::padded_share() const {
    packet_counts::sums s;
    for (const auto* p : m_crossing) s += p->sent.wire();
    return s.flits ? static_cast<double>(s.quarter_padded) / static_cast<double>(s.flits) : 0;
}

double interconnect::page_table_share() const {
    std::uint64_t all = 0, walks = 0;
    for (const auto* p : m_crossing) {
        all += p->sent.all().flits;
        walks +=
            p->sent.of(packet_class::page_table_request).flits + p->sent.of(packet_class::page_table_response).flits;
    }
    return all ? static_cast<double>(walks) / static_cast<double>(all) : 0;
}

double interconnect::mean_utilisation() const {
    double sum = 0;
    for (const auto* p : m_crossing) {
        const auto passed = now() - p->sent.since();
        if (passed) sum += static_cast<double>(p->transmitter.busy.value()) / static_cast<double>(passed);
    }
    return m_crossing.empty() ? 0 : sum / static_cast<double>(m_crossing.size());
}

}  // namespace fabricvp::fabric
