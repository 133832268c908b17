// SPDX-License-Identifier: Apache-2.0
#include "network/switch.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "network/switch_agent.h"

namespace fabricvp::network {

void switch_params::describe(parameter_visitor& v) {
    v.group("port", port, "each of its ports");
    v.field("latency", latency, between{0, 1e9}, "from a packet's head at the input to its head at the output");
    v.field("management_latency", management_latency, between{0, 1e12},
            "of its management agent, for each packet that it answers or passes on");
    v.field("cut_through", cut_through, "a packet goes on when its head has come; otherwise when all of it has come");
}

network_switch::network_switch(const sc_core::sc_module_name& name, const switch_params& p,
                               const std::vector<std::string>& names, unsigned number)
    : model(name),
      params(p),
      m_lanes((names.size() + 1) * (names.size() + 1) * 16),
      m_inputs(names.size()),
      m_waiters(names.size()) {
    if (names.size() > max_ports)
        throw std::invalid_argument(
            fmt::format("{}: {} links, a switch has at most {} ports", this->name(), names.size(), max_ports));
    for (const auto& n : names)
        ports.push_back(std::make_unique<port>(n.c_str(), params.port, static_cast<port_owner&>(*this),
                                               static_cast<unsigned>(ports.size())));
    agent = std::make_unique<switch_agent>("agent", *this, switch_guid(number), params.management_latency);
    update_lane_tables();
}

network_switch::~network_switch() = default;

void network_switch::update_lane_tables() {
    m_fastest = 0;
    for (const auto& p : ports)
        m_fastest = std::max(m_fastest, lane_rate(p->rate()).bytes_per_second * lanes_of(p->width()));
    for (unsigned in = 0; in <= ports.size(); ++in)
        for (unsigned out = 1; out <= ports.size(); ++out)
            for (unsigned sl = 0; sl < 16; ++sl) lane_entry(in, out, sl) = ports[out - 1]->sl_to_vl[sl];
}

void network_switch::set_route(std::uint16_t lid, std::uint8_t to) {
    if (lid >= m_forwarding.size()) m_forwarding.resize(lid + 1u, no_port);
    m_forwarding[lid] = to;
}

void network_switch::set_multicast(std::uint16_t lid, const port_set& to) {
    if (to.any())
        m_multicast[lid] = to;
    else
        m_multicast.erase(lid);
}

network_switch::port_set network_switch::multicast_of(std::uint16_t lid) const {
    const auto found = m_multicast.find(lid);
    return found == m_multicast.end() ? port_set{} : found->second;
}

/// A packet goes on as soon as the fastest output could stream it without a gap.
ticks network_switch::packet_announced(port&, packet& p) {
    if (!params.cut_through) return p.tail + params.latency;
    const ticks stream = p.wire_bytes * ticks_per_second / m_fastest;
    return std::max(p.head, p.tail > stream ? p.tail - stream : 0) + params.latency;
}

void network_switch::packet_arrived(port& at, const packet_ptr& p) {
    p->pass(m_pipeline_span, span_kind::service, now());
    const auto input = at.index + 1;
    const bool is_management = p->lrh.vl == management_lane;
    if (route_of(p->lrh.dlid) == own_port || (is_management && p->lrh.dlid == permissive_lid)) {
        if (on_management)
            on_management(input, p);
        else
            drop(at, p, drop_reason::no_route);
        return;
    }
    forward(input, p);
}

void network_switch::forward(unsigned input, const packet_ptr& p) {
    if (is_multicast(p->lrh.dlid) && p->lrh.vl != management_lane) return forward_multicast(input, p);
    forward_to(input, p, route_of(p->lrh.dlid));
}

/// All but the last are copies, which are in no buffer; behind them the packet itself frees its own.
void network_switch::forward_multicast(unsigned input, const packet_ptr& p) {
    const auto outputs = multicast_of(p->lrh.dlid);
    unsigned last = 0;
    for (unsigned n = 1; n <= ports.size(); ++n)
        if (outputs[n] && n != input && ports[n - 1]->up()) last = n;
    for (unsigned n = 1; n < last; ++n) {
        if (!outputs[n] || n == input || !ports[n - 1]->up()) continue;
        const auto copy = copy_packet(*p);
        copy->link_epoch = no_epoch;
        copy->spans.follow(p->spans);
        ++copied;
        forward_to(input, copy, static_cast<std::uint8_t>(n));
    }
    forward_to(input, p, last ? static_cast<std::uint8_t>(last) : no_port);
}

void network_switch::forward_to(unsigned input, const packet_ptr& p, std::uint8_t output) {
    auto& from = *ports[input - 1];
    if (output == no_port || output > ports.size()) return drop(from, p, drop_reason::no_route);
    const bool is_management = p->lrh.vl == management_lane;
    const auto to = is_management ? static_cast<std::uint8_t>(management_lane) : lane(input, output, p->lrh.sl & 15);
    if (!is_management && to >= management_lane) return drop(from, p, drop_reason::no_route);
    const entry e{p, output, to};
    if (is_management)
        return ports[output - 1]->has_room(to) ? move(input, e) : drop(from, p, drop_reason::management_full);
    auto& waiting = m_inputs[input - 1][p->lrh.vl];
    if (waiting.empty() && m_waiters[output - 1][to].empty() && ports[output - 1]->has_room(to)) return move(input, e);
    ++blocked;
    ++m_waiting;
    waiting.push_back(e);
    if (waiting.size() == 1) enqueue_waiter(input, p->lrh.vl);
}

void network_switch::move(unsigned input, const entry& e) {
    ++packets;
    const auto tail = e.packet->tail;
    ports[input - 1]->release(*e.packet, std::max(now(), tail));
    ports[e.output - 1]->send_by(e.lane, e.packet, tail + params.latency);
}

/// The first packet of an input's lane joins those that want its place.
void network_switch::enqueue_waiter(unsigned input, unsigned lane) {
    const auto& first = m_inputs[input - 1][lane].front();
    auto& queue = m_waiters[first.output - 1][first.lane];
    queue.push_back(static_cast<std::uint16_t>(input * virtual_lanes + lane));
    if (queue.size() == 1 && ports[first.output - 1]->has_room(first.lane))
        space_available(*ports[first.output - 1], first.lane);
}

void network_switch::space_available(port& at, unsigned lane) {
    auto& queue = m_waiters[at.index][lane];
    while (!queue.empty() && at.has_room(lane)) {
        const auto from = queue.front();
        queue.pop_front();
        advance(from / virtual_lanes, from % virtual_lanes);
    }
}

/// The first packet of an input's lane moves; the next one waits for a place of its own.
void network_switch::advance(unsigned input, unsigned lane) {
    auto& waiting = m_inputs[input - 1][lane];
    const auto e = std::move(waiting.front());
    waiting.pop_front();
    --m_waiting;
    e.packet->pass(m_blocked_span, span_kind::queueing, now());
    move(input, e);
    if (!waiting.empty()) enqueue_waiter(input, lane);
}

void network_switch::drop(port& at, const packet_ptr& p, drop_reason why) {
    at.release(*p, std::max(now(), p->tail));
    at.drop(*p, why);
}

bool network_switch::send_management(unsigned output, const packet_ptr& p) {
    auto& out = *ports[output - 1];
    const auto lane = out.lane_of(*p);
    if (m_dead || !out.has_room(lane)) {
        out.drop(*p, drop_reason::management_full);
        return false;
    }
    out.send(p);
    return true;
}

void network_switch::state_changed(port& at, port_state s) {
    if (agent) agent->port_changed();
    if (on_state) on_state(at.index + 1, s);
}

void network_switch::empty_inputs(drop_reason why) {
    for (std::size_t i = 0; i < m_inputs.size(); ++i)
        for (auto& q : m_inputs[i]) {
            for (const auto& e : q) ports[i]->drop(*e.packet, why);
            q.clear();
        }
    for (auto& output : m_waiters)
        for (auto& t : output) t.clear();
    m_waiting = 0;
}

void network_switch::fail() {
    if (std::exchange(m_dead, true)) return;
    log(log_level::warning, *this, "the switch is dead");
    empty_inputs(drop_reason::switch_dead);
    for (auto& p : ports) p->hold_down();
}

void network_switch::reset() {
    empty_inputs(drop_reason::link_down);
    clear_routes();
    update_lane_tables();
    model::reset();
}

}  // namespace fabricvp::network
