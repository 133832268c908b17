// SPDX-License-Identifier: Apache-2.0
#include "fabric/switch.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "base/counted_warning.h"
#include "base/rejection.h"
#include "fabric/egress.h"

namespace fabricvp::fabric {

void switch_params::describe(parameter_visitor& v) {
    v.field("clock", clock, between{1e6, 1e11}, "of the pipeline");
    v.field("latency", latency, between{0, 100000}, "of the pipeline, from input to output, in cycles of the switch");
    v.group("input", input, "every input buffer");
    v.field("output_entries", output_entries, between{2, 1e6},
            "flits that wait at an output, half of them requests, half responses");
    v.field("cut_through", cut_through, "a packet goes on when its head has come; otherwise when all of it has come");
    v.group("stage", stage, "of what the ports send, at those that the kind is for");
}

fabric_switch::fabric_switch(const sc_core::sc_module_name& name, const switch_params& p, unsigned c,
                             const packet_format& format, const std::vector<port_node>& nodes)
    : model(name),
      params(p),
      cluster(c),
      m_latency(clock_domain(p.clock).span(p.latency)),
      m_ways(nodes.size()),
      m_ingress(nodes.size()),
      m_blocked_channels(nodes.size()),
      m_next_grant(nodes.size()) {
    for (const auto& n : nodes) {
        m_ports.push_back(std::make_unique<port>(n.name.c_str(), n.link, p.input,
                                                 port_place{*this, format, ports(), n.crosses_clusters}));
        const stage_place place{format, clock_domain(p.clock).span(1), n.crosses_clusters, p.output_entries,
                                p.input.page_table_entries};
        const auto queue = n.name + "_egress";
        auto& w = m_ways[m_egress.size()];
        auto stage = n.egress ? n.egress->make_egress(queue.c_str(), place) : nullptr;
        if (!stage) {
            auto fifo = std::make_unique<fifo_egress>(queue.c_str(), place.entries, place.page_table_entries);
            w.fifo = fifo.get();
            stage = std::move(fifo);
        }
        w.out = m_ports.back().get();
        w.egress = stage.get();
        w.ahead = m_latency + stage->latency();
        w.out->transmitter.mirror_rate(&w.rate);
        m_egress.push_back(std::move(stage));
        m_stage_origins.push_back(n.origin);
        m_stage_paths.push_back(n.path);
        if (n.ingress) m_ports.back()->ingress = n.ingress->make_ingress((n.name + "_ingress").c_str(), place);
    }
}

void fabric_switch::set_route(unsigned terminal, unsigned port, unsigned cluster) {
    if (terminal >= m_routes.size()) m_routes.resize(terminal + 1, no_port);
    m_routes[terminal] = static_cast<std::uint8_t>(port);
    m_ways[port].beyond = m_ways[port].out->partner();
    m_egress[port]->serve(terminal, cluster);
    for (auto& p : m_ports)
        if (p->ingress) p->ingress->add_terminal(terminal);
}

void fabric_switch::check_stages() const {
    for (unsigned i = 0; i < ports(); ++i)
        if (const auto why = m_egress[i]->shortage(); !why.empty())
            reject_at(m_stage_origins[i], fmt::format("fabric: {}.{}", m_stage_paths[i], why));
}

ticks fabric_switch::packet_announced(port& at, packet& p) {
    const auto route = route_to(p.destination);
    p.route = static_cast<std::uint8_t>(route);
    if (route == no_route) return p.tail + m_latency;
    const auto& w = m_ways[route];
    const auto ahead = w.ahead;
    if (!params.cut_through) return p.tail + ahead;
    const auto out = w.serialisation(p);
    return std::max(p.head, p.tail > out ? p.tail - out : 0) + ahead;
}

ticks fabric_switch::packet_announced(port&, packet& p, const arrival_plan& plan) {
    const auto route = route_to(plan.destination);
    p.route = static_cast<std::uint8_t>(route);
    const bool whole = plan.whole || route == no_route;
    if (whole) return p.tail + m_latency + plan.delay + plan.unpacking;
    const auto& w = m_ways[route];
    const auto ahead = w.ahead + plan.delay;
    if (!params.cut_through) return p.tail + ahead;
    const auto out = w.serialisation(p);
    return std::max(p.head, p.tail > out ? p.tail - out : 0) + ahead;
}

void fabric_switch::packet_unpacked(port& at, const packet_ptr& p) {
    p->route = static_cast<std::uint8_t>(route_to(p->destination));
    accept(at, p);
}

void fabric_switch::packet_malformed(port& at, const char* why) {
    count_warning(malformed, *this, "what came by {} is no packets: {}", at.basename(), why);
}

void fabric_switch::accept(port& at, const packet_ptr& p) {
    const auto channel = static_cast<unsigned>(p->channel());
    at.prefetch_release(p->channel());
    if (p->route < m_ways.size()) m_ways[p->route].prefetch(p->channel());
    p->pass(m_tail_span, span_kind::service, p->due - m_latency);
    p->pass(m_pipeline_span, span_kind::service, now());
    if (m_changed) {
        const auto route = route_to(p->destination);
        if (route == no_route) return drop(at.index, p);
        p->route = static_cast<std::uint8_t>(route);
    }
    auto& blocked_channels = m_blocked_channels[at.index];
    if (blocked_channels >> channel & 1 || !m_ways[p->route].has_room(p->channel(), p->flits, p->destination)) {
        ++blocked;
        ++m_waiting;
        ++m_waiting_on[channel];
        blocked_channels = static_cast<std::uint8_t>(blocked_channels | 1u << channel);
        m_ingress[at.index].waiting[channel].push_back({p, p->route, p->flits, p->destination});
        return;
    }
    move(at.index, p);
    transmit(p->route);
}

void fabric_switch::move(unsigned from, const packet_ptr& p) {
    ++packets;
    m_ports[from]->release(*p, p->tail);
    m_ways[p->route].push(p);
}

void fabric_switch::drop(unsigned from, const packet_ptr& p) {
    m_ports[from]->release(*p, p->tail);
    on_lost(p);
}

void fabric_switch::clear_routes() { std::fill(m_routes.begin(), m_routes.end(), no_port); }

void fabric_switch::follow_routes(const std::vector<bool>& dead) {
    m_changed = true;
    for (unsigned from = 0; from < ports(); ++from)
        for (auto& waiting : m_ingress[from].waiting)
            for (auto left = waiting.size(); left; --left) {
                auto e = std::move(waiting.front());
                waiting.pop_front();
                e.route = route_to(e.packet->destination);
                e.packet->route = static_cast<std::uint8_t>(e.route);
                if (e.route != no_route) {
                    waiting.push_back(std::move(e));
                    continue;
                }
                --m_waiting;
                --m_waiting_on[static_cast<unsigned>(e.packet->channel())];
                drop(from, e.packet);
            }
    for (unsigned from = 0; from < ports(); ++from)
        for (unsigned channel = 0; channel < virtual_channels; ++channel)
            if (m_ingress[from].waiting[channel].empty()) unblock(from, channel);
    // What was about to leave by a dead link has no input buffer any more: it goes to another output, whether there is
    // room or not.
    std::vector<packet_ptr> stranded;
    for (unsigned to = 0; to < ports(); ++to)
        while (dead[to]) {
            auto p = m_egress[to]->drain();
            if (!p) break;
            stranded.push_back(std::move(p));
        }
    for (const auto& p : stranded) {
        const auto route = route_to(p->destination);
        p->route = static_cast<std::uint8_t>(route);
        if (route == no_route)
            on_lost(p);
        else
            m_egress[route]->push(p);
    }
    for (unsigned to = 0; to < ports(); ++to) {
        refill(to);
        transmit(to);
    }
}

void fabric_switch::transmit(unsigned to) {
    auto& queue = m_ways[to];
    auto& out = *queue.out;
    if (queue.empty()) return;
    if (!out.idle()) {
        out.call_when_idle();
        return;
    }
    const auto p = queue.next();
    if (!p) return;
    out.send(p, p->tail + m_latency);
    if (m_waiting) refill(to);
    if (!queue.empty()) out.call_when_idle();
}

/// Room has come about at an output: inputs that wait for it move up, in turns.
void fabric_switch::refill(unsigned to) {
    for (unsigned channel = 0; channel < virtual_channels; ++channel) {
        if (!m_waiting_on[channel]) continue;
        auto& next_grant = m_next_grant[to][channel];
        for (unsigned idle = 0; idle < ports() && m_waiting;) {
            const auto from = next_grant;
            next_grant = (from + 1) % ports();
            idle = advance(from, channel, to) ? 0 : idle + 1;
        }
    }
}

/// The head of an input moves up if it is bound for that output. What comes to the front behind it may be bound for
/// others, which are not going to ask on their own. \returns whether it moved
bool fabric_switch::advance(unsigned from, unsigned channel, unsigned to) {
    auto& waiting = m_ingress[from].waiting[channel];
    if (waiting.empty() || waiting.front().route != to || !fits(waiting.front(), channel)) return false;
    do {
        const auto p = std::move(waiting.front().packet);
        waiting.pop_front();
        if (waiting.size() > 1) __builtin_prefetch(waiting[1].packet.get(), 1);
        --m_waiting;
        --m_waiting_on[channel];
        p->pass(m_blocked_span, span_kind::queueing, now());
        move(from, p);
        if (p->route != to) transmit(p->route);
    } while (!waiting.empty() && waiting.front().route != to && fits(waiting.front(), channel));
    if (waiting.empty()) unblock(from, channel);
    return true;
}

void fabric_switch::reset() {
    for (auto& i : m_ingress)
        for (auto& w : i.waiting) w.clear();
    std::fill(m_blocked_channels.begin(), m_blocked_channels.end(), std::uint8_t{0});
    for (auto& t : m_next_grant) t.fill(0);
    m_waiting = 0;
    m_waiting_on.fill(0);
    m_changed = false;
    model::reset();
}

}  // namespace fabricvp::fabric
