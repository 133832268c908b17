// SPDX-License-Identifier: Apache-2.0
#include "fabric/terminal.h"

#include <fmt/format.h>

#include "base/counted_warning.h"
#include "fabric/egress.h"

namespace fabricvp::fabric {

void terminal_params::describe(parameter_visitor& v) {
    v.group("input", input, "every device's input buffer");
    v.field("serving", serving, between{1, 1e6}, "requests of others that a device serves at a time");
    v.field("queues_by_destination", queues_by_destination,
            "a device's packets wait in a queue for each destination, so that a slow way holds up nothing else; "
            "otherwise in one a virtual channel");
    v.field("window", window, between{1, 1e6},
            "with queues_by_destination: requests to one device of another cluster that may be without their response");
    v.field("latency", latency, between{0, 1e9}, "from a packet's last byte until the device acts on it");
    v.group("stage", stage, "of what every device sends");
}

terminal::terminal(const sc_core::sc_module_name& name, const terminal_params& p, unsigned n, const packet_format& f,
                   const port_node* l)
    : model(name), params(p), number(n), format(f) {
    if (params.queues_by_destination) {
        auto by_destination = std::make_unique<destination_egress>("queue", params.window);
        m_destination_queues = by_destination.get();
        m_queue = std::move(by_destination);
    } else {
        if (l && l->egress) m_queue = l->egress->make_egress("queue", {format});
        m_stage = m_queue.get();
        if (!m_queue) m_queue = std::make_unique<fifo_egress>("queue", 0, 0);
    }
    if (!l) return;
    link = std::make_unique<port>("link", l->link, params.input, port_place{*this, format});
    if (l->ingress) link->ingress = l->ingress->make_ingress("ingress", {format});
}

void terminal::set_terminal_map(std::shared_ptr<const terminal_map> shared_map) {
    m_terminal_map = std::move(shared_map);
    for (unsigned t = m_destination_queues ? m_destination_queues->destinations() : terminals(); t < terminals(); ++t)
        m_destination_queues->add_destination(cluster_of(t) != cluster());
    const bool staged = m_stage || (link && link->ingress);
    for (unsigned t = 0; staged && t < terminals(); ++t) {
        if (m_stage) m_stage->serve(t, cluster_of(t));
        if (link && link->ingress) link->ingress->add_terminal(t);
    }
}

void terminal::send(const packet_ptr& p) {
    p->source = static_cast<std::uint16_t>(number);
    ++packets_sent;
    if (!is_response(p->type)) {
        ++requests_sent;
        p->injected_at = now();
        p->spans.resume(p->injected_at);
    }
    if (m_cut_off && !reaches(p->destination)) return abort_send(p);
    m_queue->push(p);
    transmit();
}

void terminal::abort_send(const packet_ptr& p) {
    const bool response = is_response(p->type);
    on_lost(p);
    if (response) service_done(*p);
}

void terminal::follow_routes() {
    m_cut_off = true;
    std::vector<packet_ptr> waiting;
    while (auto p = m_queue->drain()) waiting.push_back(std::move(p));
    for (const auto& p : waiting) {
        if (reaches(p->destination))
            m_queue->push(p);
        else
            abort_send(p);
    }
    if (link) transmit();
}

void terminal::fail(const packet_ptr& p) {
    ++packets_failed;
    p->pass(m_lost_span, span_kind::queueing, now());
    note_response(*p);
    m_client->packet_received(p);
}

/// A request to there is no longer under way.
void terminal::note_response(const packet& response) {
    if (!m_destination_queues || !is_data(response.channel())) return;
    m_destination_queues->response_received(response.source);
    transmit();
}

void terminal::transmit() {
    if (m_queue->empty()) return;
    if (!link->idle()) {
        link->call_when_idle();
        return;
    }
    const auto p = m_queue->next(*link);
    if (!p) return;
    link->send(p, now());
    if (!m_queue->empty()) link->call_when_idle();
    for_each_packet(*p, [this](packet& each) {
        if (is_response(each.type)) service_done(each);
    });
}

void terminal::packet_malformed(port&, const char* why) {
    count_warning(malformed, *this, "what came by the link is no packets: {}", why);
}

/// A response has left: the next request of its channel may be served.
void terminal::service_done(const packet& response) {
    auto& s = service_of(response);
    --s.serving;
    if (s.held.empty()) return;
    const auto next = s.held.take_front();
    s.held_since = s.held.empty() ? never : now();
    next->pass(m_held_span, span_kind::queueing, now());
    serve(next);
}

void terminal::packet_arrived(port&, const packet_ptr& p) {
    prefetch(p.get(), sizeof(packet));
    link->prefetch_release(p->channel());
    p->pass(link->tail_span, span_kind::service, p->tail);
    p->pass(m_input_span, span_kind::service, now());
    ++packets_received;
    if (is_response(p->type)) {
        link->release(*p, now());
        round_trip.add(now() - p->injected_at);
        note_response(*p);
        m_client->packet_received(p);
        return;
    }
    auto& s = service_of(*p);
    if (s.serving < params.serving && s.held.empty()) return serve(p);
    ++held;
    if (s.held.empty()) s.held_since = now();
    s.held.push_back(p);
}

void terminal::serve(const packet_ptr& p) {
    ++service_of(*p).serving;
    ++requests_served;
    one_way.add(now() - p->injected_at);
    link->release(*p, now());
    m_client->packet_received(p);
}

std::optional<model::wait> terminal::waits() const {
    const auto& s = m_service[m_service[1].held_since < m_service[0].held_since];
    if (s.held_since == never) return std::nullopt;
    return wait{s.held_since,
                fmt::format("its device, which serves {} requests and lets {} wait", s.serving, s.held.size())};
}

void terminal::reset() {
    for (auto& s : m_service) {
        s.held.clear();
        s.serving = 0;
        s.held_since = never;
    }
    m_cut_off = false;
    model::reset();
}

}  // namespace fabricvp::fabric
