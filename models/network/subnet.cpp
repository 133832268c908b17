// SPDX-License-Identifier: Apache-2.0
#include "network/subnet.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted_warning.h"
#include "base/described_blocks.h"
#include "base/log.h"
#include "base/rejection.h"
#include "network/switch_agent.h"

namespace fabricvp::network {

namespace {

[[noreturn]] void reject(const std::string& origin, const std::string& why) { reject_at(origin, "network: " + why); }

void check_name(const std::string& name, const std::string& origin, const char* kind, std::set<std::string>& taken) {
    if (!is_block_name(name))
        reject(origin, fmt::format("'{}' is no name for a {}: give letters, digits and _", name, kind));
    if (!taken.insert(name).second) reject(origin, fmt::format("the name '{}' is taken twice", name));
}

void check_multicast(const subnet_params& p, const std::vector<subnet::adapter>& adapters) {
    std::set<std::uint64_t> lids;
    for (const auto& m : p.multicast) {
        if (p.subnet_manager == manager_kind::guest)
            reject(m.where.own(), "multicast needs subnet_manager: configuration; a guest's makes groups by itself");
        if (m.lid < first_multicast_lid || m.lid >= permissive_lid)
            reject(m.where.of("lid"), fmt::format("{} is no multicast LID (allowed: {} … {})", m.lid,
                                                  first_multicast_lid, permissive_lid - 1));
        if (!lids.insert(m.lid).second)
            reject(m.where.of("lid"), fmt::format("the multicast LID {} is taken twice", m.lid));
        for (const auto& name : m.members)
            if (std::none_of(adapters.begin(), adapters.end(), [&](const auto& known) { return known.first == name; }))
                reject(m.where.of("members"),
                       fmt::format("there is no adapter '{}'{}", name,
                                   adapters.empty() ? "" : "; the first one is " + adapters.front().first));
    }
}

const subnet_params& checked(const subnet_params& p, const std::vector<subnet::adapter>& adapters) {
    std::set<std::string> names, one_link, linked;
    for (const auto& a : adapters) {
        names.insert(a.first);
        one_link.insert(a.first);
    }
    for (const auto& g : p.generators) {
        check_name(g.name, g.origin, "generator", names);
        one_link.insert(g.name);
        if (p.subnet_manager == manager_kind::guest)
            reject(g.origin, fmt::format("the generator '{}' has no manager that could give it a LID: it needs "
                                         "subnet_manager: configuration",
                                         g.name));
    }
    for (const auto& s : p.switches) check_name(s.name, s.origin, "switch", names);
    for (const auto& a : p.adapters)
        if (std::none_of(adapters.begin(), adapters.end(), [&](const auto& known) { return known.first == a.name; }))
            reject(a.origin, fmt::format("there is no adapter '{}'{}", a.name,
                                         adapters.empty() ? "" : "; the first one is " + adapters.front().first));
    for (const auto& l : p.links) {
        for (const auto& end : {l.from, l.to}) {
            if (!names.count(end)) reject(l.origin, fmt::format("'{}' is none of: {}", end, fmt::join(names, ", ")));
            if (one_link.count(end) && !linked.insert(end).second)
                reject(l.origin, fmt::format("'{}' is linked twice: it has one port", end));
        }
        if (l.from == l.to) reject(l.origin, fmt::format("a link goes from '{}' to itself", l.from));
    }
    for (const auto& g : p.generators)
        if (!linked.count(g.name)) reject(g.origin, fmt::format("no link goes to the generator '{}'", g.name));
    check_multicast(p, adapters);
    return p;
}

/// Names of the ports of each switch, in the order of the links.
std::map<std::string, std::vector<std::string>> plan_ports(const subnet_params& p) {
    std::map<std::string, std::vector<std::string>> ports;
    const auto add = [&](const std::string& at, const std::string& towards) {
        auto& names = ports[at];
        auto base = "to_" + towards;
        std::replace(base.begin(), base.end(), '.', '_');
        auto name = base;
        for (unsigned n = 1; std::find(names.begin(), names.end(), name) != names.end(); ++n)
            name = fmt::format("{}_{}", base, n);
        names.push_back(name);
    };
    for (const auto& l : p.links) {
        add(l.from, l.to);
        add(l.to, l.from);
    }
    return ports;
}

template <class Node>
void describe_lid(parameter_visitor& v, Node& node) {
    v.field("lid", node.lid, between{0, first_multicast_lid - 1}, "its local identifier; 0: the lowest that is free");
}

template <class Node>
void note_origin(parameter_visitor& v, const char* key, Node& node) {
    if (auto where = v.origin_of(key); !where.empty()) node.origin = std::move(where);
}

}  // namespace

void subnet_params::switch_node::describe(parameter_visitor& v) {
    v.field("name", name, "name of the switch");
    note_origin(v, "name", *this);
    describe_lid(v, *this);
    switch_params::describe(v);
}

void subnet_params::link_node::describe(parameter_visitor& v) {
    v.field("from", from, "a switch, an adapter (node0.hca0) or a generator");
    v.field("to", to, "a switch, an adapter or a generator");
    note_origin(v, "", *this);
    link_params::describe(v);
}

void subnet_params::adapter_node::describe(parameter_visitor& v) {
    v.field("name", name, "the adapter: node0.hca0");
    note_origin(v, "name", *this);
    describe_lid(v, *this);
}

void subnet_params::generator_node::describe(parameter_visitor& v) {
    v.field("name", name, "name of the generator");
    note_origin(v, "name", *this);
    describe_lid(v, *this);
    generator_params::describe(v);
}

void subnet_params::multicast_node::describe(parameter_visitor& v) {
    where.note(v, {"lid", "members"});
    v.field("lid", lid, "a multicast LID: 49152 (0xc000) … 65534");
    v.field("members", members, "adapters that its packets go to; none: all");
}

void subnet_params::describe(parameter_visitor& v) {
    v.choice("subnet_manager", subnet_manager,
             "what gives LIDs and fills forwarding tables: this configuration, before software starts; or a guest's "
             "subnet manager");
    v.choice("routing", routing,
             "min_hop: shortest ways, those as short in turns by LID; up_down: first towards the first switch, then "
             "away from it, which "
             "cannot deadlock in any topology");
    v.field("sweep", sweep, between{0, 1e15},
            "with subnet_manager: configuration: from a change of links until forwarding tables follow");
    describe_blocks(v, "switches", switches, nullptr, "switches between nodes");
    v.list("links", links, "cables between switches, adapters and generators");
    v.list("adapters", adapters, "what is said of single adapters: their LIDs");
    v.list("multicast", multicast,
           "multicast LIDs, with subnet_manager: configuration; their packets follow a tree of links");
    describe_blocks(v, "generators", generators, nullptr, "traffic generators in the place of nodes");
}

ticks min_propagation(const subnet_params& p) {
    ticks shortest = never;
    for (const auto& l : p.links) shortest = std::min(shortest, l.propagation.value);
    return shortest;
}

template <class Function>
void subnet::for_each_port(Function f) const {
    for (const auto& a : m_adapters)
        if (a.second) f(*a.second);
    for (const auto& g : generators)
        if (g) f(g->link);
    for (const auto& s : switches)
        if (s)
            for (const auto& p : s->ports) f(*p);
}

subnet::subnet(const sc_core::sc_module_name& name, const subnet_params& p, const std::vector<adapter>& adapters,
               subnet_cut cut, const std::vector<std::uint64_t>& guids)
    : model(name), params(checked(p, adapters)), m_cut(std::move(cut)), m_adapters(adapters) {
    auto ports = plan_ports(params);
    for (const auto& g : params.generators)
        generators.push_back(here(g.name) ? std::make_unique<generator>(g.name.c_str(), g) : nullptr);
    for (const auto& s : params.switches) {
        const auto number = static_cast<unsigned>(switches.size());
        switches.push_back(here(s.name) ? std::make_unique<network_switch>(s.name.c_str(), s, ports[s.name], number)
                                        : nullptr);
    }
    assign_lids();
    connect_links();
    rank_ports();
    if (params.subnet_manager == manager_kind::configuration) {
        administer(guids);
        configure();
        check_payloads();
    }
    m_running = true;
}

void subnet::assign_lids() {
    std::map<std::uint64_t, std::string> taken;
    const auto take = [&](const std::string& who, std::uint64_t lid, const std::string& origin) {
        m_ends.push_back({who, static_cast<std::uint16_t>(lid)});
        if (!lid) return;
        const auto [at, free] = taken.emplace(lid, who);
        if (!free) reject(origin, fmt::format("{} and {} have one LID, {}", at->second, who, lid));
    };
    for (const auto& a : m_adapters) {
        const auto said = std::find_if(params.adapters.begin(), params.adapters.end(),
                                       [&](const auto& n) { return n.name == a.first; });
        if (said == params.adapters.end())
            take(a.first, 0, {});
        else
            take(a.first, said->lid, said->origin);
    }
    for (const auto& g : params.generators) take(g.name, g.lid, g.origin);
    for (const auto& s : params.switches) take(s.name, s.lid, s.origin);
    std::uint64_t next = 1;
    for (auto& e : m_ends) {
        if (e.lid) continue;
        while (taken.count(next)) ++next;
        if (next >= first_multicast_lid)
            reject({}, fmt::format("there are more adapters and switches than LIDs, {}", first_multicast_lid - 1));
        e.lid = static_cast<std::uint16_t>(next);
        taken.emplace(next, e.name);
    }
}

void subnet::connect_links() {
    std::map<std::string, std::size_t> vertex, used;
    for (std::size_t i = 0; i < ends(); ++i) vertex[m_ends[i].name] = i;
    for (std::size_t s = 0; s < switches.size(); ++s) vertex[params.switches[s].name] = switch_vertex(s);
    m_ends_of.resize(switches.size());
    m_down.resize(2 * params.links.size());
    const auto next_port = [&](const std::string& at, std::uint32_t end) -> port* {
        const auto v = vertex.at(at);
        if (v < m_adapters.size()) return m_adapters[v].second;
        if (v < ends()) return here(at) ? &generators[v - m_adapters.size()]->link : nullptr;
        m_ends_of[v - switch_vertex(0)].push_back(end);
        const auto index = used[at]++;
        return here(at) ? switches[v - switch_vertex(0)]->ports[index].get() : nullptr;
    };
    for (const auto& l : params.links) {
        const auto end = static_cast<std::uint32_t>(2 * m_links.size());
        auto *a = next_port(l.from, end), *b = next_port(l.to, end + 1);
        if (a && b)
            connect(*a, *b, l);
        else if (a)
            join(end, *a, end + 1, l.to, port_of(vertex.at(l.to)), l);
        else if (b)
            join(end + 1, *b, end, l.from, port_of(vertex.at(l.from)), l);
        m_links.push_back({l.from, l.to, a, b});
        m_vertices.emplace_back(vertex.at(l.from), vertex.at(l.to));
    }
    for (std::size_t s = 0; s < switches.size(); ++s) {
        if (!switches[s]) continue;
        switches[s]->update_lane_tables();
        switches[s]->on_state = [this, s](unsigned number, port_state state) {
            state_changed(m_ends_of[s][number - 1], state);
        };
    }
}

/// Where a link is cut.
void subnet::join(std::uint32_t end, port& at, std::uint32_t there, const std::string& who, const port_params& other,
                  const link_params& cable) {
    auto far = std::make_unique<far_end>(fmt::format("far_end{}", end).c_str(), at, there,
                                         [this, who](const far_end::message_type& m) { m_cut.send(who, {m}); });
    connect(at, *far, other, cable);
    m_far.emplace(end, std::move(far));
}

void subnet::receive(const link_message& m) {
    if (m.state_change || m.membership)
        note(m);
    else
        m_far.at(m.end)->receive(m);
}

void subnet::rank_ports() {
    std::vector<port*> all;
    for_each_port([&](port& p) { all.push_back(&p); });
    link::rank_by_path(std::move(all), m_order);
}

/// What a subnet manager would do.
void subnet::configure() {
    for (std::size_t i = 0; i < m_adapters.size(); ++i)
        if (m_adapters[i].second) m_adapters[i].second->configure(m_ends[i].lid, 0, manager_lid());
    for (std::size_t i = 0; i < generators.size(); ++i)
        if (generators[i]) generators[i]->link.configure(m_ends[m_adapters.size() + i].lid);
    for (std::size_t i = 0; i < switches.size(); ++i) {
        if (!switches[i]) continue;
        for (auto& p : switches[i]->ports) p->configure(0);
        switches[i]->agent->set_lid(m_ends[ends() + i].lid);
    }
    route(true);
}

void subnet::route(bool first) {
    link::topology t{ends() + switches.size(), switches.size(), {}};
    std::vector<std::size_t> numbers;  // of the links that are up
    for (std::size_t l = 0; l < m_links.size(); ++l) {
        if (!usable(l)) continue;
        t.links.push_back(m_vertices[l]);
        numbers.push_back(l);
    }
    const auto cables = t.links.size();
    for (std::size_t s = 0; s < switches.size(); ++s)
        t.links.emplace_back(ends() + s, switch_vertex(s));  // to its own port
    auto table = params.routing == routing_kind::up_down ? link::up_down_routes(t) : link::shortest_routes(t);
    if (params.routing == routing_kind::min_hop &&
        link::can_deadlock(t, table, ends(),
                           multicast_dependencies(numbers))) {  // what goes to switches waits for no credits
        if (first)
            reject({},
                   "on the shortest ways through these switches packets can wait for each other in a ring: routing: "
                   "up_down has none");
        count_warning(
            detours, *this,
            "on the shortest ways that are left packets can wait for each other in a ring: routes go up and down "
            "instead");
        table = link::up_down_routes(t);
    }
    if (first) check_routes(t, table);
    for (std::size_t s = 0; s < switches.size(); ++s) {
        if (!switches[s]) continue;
        const auto v = switch_vertex(s);
        switches[s]->clear_routes();
        for (std::size_t d = 0; d < t.terminals; ++d) {
            const auto next_link = table[v][d];
            if (next_link == link::no_link) continue;
            if (next_link >= cables) {
                switches[s]->set_route(m_ends[d].lid, network_switch::own_port);
                continue;
            }
            switches[s]->set_route(m_ends[d].lid, static_cast<std::uint8_t>(port_number(s, numbers[next_link])));
        }
    }
    m_table = std::move(table);
    m_links_up = std::move(numbers);
    route_multicast();
}

unsigned subnet::port_number(std::size_t s, std::size_t link) const {
    const auto& ends = m_ends_of[s];
    return 1 +
           static_cast<unsigned>(
               std::find_if(ends.begin(), ends.end(), [&](std::uint32_t e) { return e / 2 == link; }) - ends.begin());
}

void subnet::check_routes(const link::topology& t, const link::routing_table& table) const {
    std::vector<bool> linked(t.vertices());
    for (const auto& [a, b] : m_vertices) linked[a] = linked[b] = true;
    for (std::size_t from = 0; from < ends(); ++from)
        for (std::size_t to = 0; to < ends(); ++to)
            if (from != to && linked[from] && linked[to] && table[from][to] == link::no_link)
                reject({}, fmt::format("there is no way from {} to {}", m_ends[from].name, m_ends[to].name));
}

/// What a generator sends has to fit into the packets of all links that it goes by.
void subnet::check_payloads() const {
    auto least = std::numeric_limits<std::uint64_t>::max();
    for (const auto& s : params.switches) least = std::min(least, s.port.mtu);
    for (const auto& g : params.generators) least = std::min(least, g.port.mtu);
    std::vector<unsigned> all(params.generators.size());
    std::iota(all.begin(), all.end(), 0u);
    for (const auto self : all) {
        const auto& g = params.generators[self];
        if (g.payload.bytes <= least) continue;
        for (const auto target : generator::targets_of(g.pattern, all, self)) {
            const auto way = path_between(m_adapters.size() + self, m_adapters.size() + target);
            if (const auto mtu = way ? mtu_bytes(way->mtu) : g.payload.bytes; g.payload.bytes > mtu)
                reject(g.origin, fmt::format("the generator '{}' sends payloads of {} bytes, and links on its way to "
                                             "'{}' have an MTU of {} (allowed payload: 8 … {})",
                                             g.name, g.payload.bytes, params.generators[target].name, mtu, mtu));
        }
    }
}

/// Routing knows it when the message has crossed the shortest cable, in whatever simulation.
void subnet::state_changed(std::uint32_t end, port_state s) {
    if (!m_running || params.subnet_manager != manager_kind::configuration ||
        (s != port_state::down && s != port_state::active))
        return;
    link_message state_change;
    state_change.state_change = true;
    state_change.signal = s == port_state::down;
    state_change.end = end;
    announce(state_change);
}

/// Tells all simulations, this one too.
void subnet::announce(link_message m) {
    m.sent = now();
    m.when = now() + min_propagation(params);
    note(m);
    if (m_cut.send) m_cut.send({}, m);
}

void subnet::note(const link_message& state_change) {
    m_state_changes.insert(std::upper_bound(m_state_changes.begin(), m_state_changes.end(), state_change,
                                            [](const auto& a, const auto& b) { return a.when < b.when; }),
                           state_change);
    schedule(m_apply_state_changes, m_state_changes.front().when);
}

void subnet::apply_state_changes() {
    while (!m_state_changes.empty() && m_state_changes.front().when <= now()) {
        const auto state_change = m_state_changes.front();
        m_state_changes.pop_front();
        if (state_change.membership) {
            apply_membership(state_change);
            continue;
        }
        m_down[state_change.end] = state_change.signal != 0;
        if (!m_sweep.scheduled()) schedule(m_sweep, std::max(state_change.sent + params.sweep, now()));
    }
    if (!m_state_changes.empty()) schedule(m_apply_state_changes, m_state_changes.front().when);
}

void subnet::resweep() {
    ++sweeps;
    route(false);
}

std::uint16_t subnet::lid_of(const std::string& who) const {
    const auto at = std::find_if(m_ends.begin(), m_ends.end(), [&](const vertex& v) { return v.name == who; });
    return at == m_ends.end() ? 0 : at->lid;
}

void subnet::start() {
    std::vector<unsigned> participants;
    std::vector<std::uint16_t> lids;
    for (std::size_t i = 0; i < generators.size(); ++i) {
        participants.push_back(static_cast<unsigned>(i));
        lids.push_back(m_ends[m_adapters.size() + i].lid);
    }
    for (std::size_t i = 0; i < generators.size(); ++i) {
        if (!generators[i]) continue;
        generators[i]->set_peers(participants, static_cast<unsigned>(i), lids);
        generators[i]->begin();
    }
}

std::size_t subnet::tap(const std::function<bool(const port&, bool)>& chosen, packet_tap* by) {
    std::size_t count = 0;
    const auto offer = [&](port& p, bool end) {
        if (!chosen(p, end)) return;
        p.tap = by;
        ++count;
    };
    for (const auto& a : m_adapters)
        if (a.second) offer(*a.second, true);
    for (const auto& g : generators)
        if (g) offer(g->link, true);
    for (const auto& s : switches)
        if (s)
            for (const auto& p : s->ports) offer(*p, false);
    return count;
}

std::uint64_t subnet::packet_hops() const {
    std::uint64_t sum = 0;
    for_each_port([&](const port& p) { sum += p.packets_sent.total(); });
    return sum;
}

std::uint64_t subnet::sum_sent() const {
    std::uint64_t sum = 0;
    for_each_port([&](const port& p) { sum += p.packets_offered.total(); });
    return sum;
}

std::uint64_t subnet::sum_copied() const {
    std::uint64_t sum = 0;
    for (const auto& s : switches)
        if (s) sum += s->copied.total();
    for_each_port([&](const port& p) { sum += p.duplicated.total(); });
    return sum;
}

std::uint64_t subnet::sum_delivered() const {
    std::uint64_t sum = 0;
    for (const auto& a : m_adapters)
        if (a.second) sum += a.second->packets_received.total();
    for (const auto& g : generators)
        if (g) sum += g->link.packets_received.total();
    for (const auto& s : switches)
        if (s) sum += s->local_packets.total();
    return sum;
}

std::uint64_t subnet::sum_dropped() const {
    std::uint64_t sum = 0;
    for_each_port([&](const port& p) {
        for (unsigned r = 0; r < drop_reasons; ++r) sum += p.dropped(static_cast<drop_reason>(r)).total();
    });
    return sum;
}

void subnet::reset() {
    cancel(m_sweep);
    cancel(m_apply_state_changes);
    m_state_changes.clear();
    m_joined.clear();
    std::fill(m_down.begin(), m_down.end(), 0);
    m_order.clear();
    m_running = false;
    model::reset();
    for (const auto& l : m_links)
        for (auto* p : {l.a, l.b})
            if (p) p->power_on();
    if (params.subnet_manager == manager_kind::configuration) configure();
    m_running = true;
    // Faults outlast a reset.
    for (const auto& l : m_links)
        for (auto* p : {l.a, l.b})
            if (p && p->faults.holds_down()) p->hold_down();
    for (auto& s : switches)
        if (s && !s->alive())
            for (auto& p : s->ports) p->hold_down();
    m_in_flight_at_reset = sum_sent() + sum_copied() - sum_delivered() - sum_dropped();
    for (auto& g : generators)
        if (g) g->begin();
}

}  // namespace fabricvp::network
