// SPDX-License-Identifier: Apache-2.0
#include "fabric/terminal.h"

#include <fmt/format.h>

namespace fabricvp::fabric {

void terminal_params::describe(parameter_visitor& v) {
    v.group("input", input, "every device's input buffer");
    v.field("serving", serving, between{1, 1e6}, "requests of others that a device serves at a time");
    v.field("latency", latency, between{0, 1e9}, "from a packet's last byte until the device acts on it");
}

terminal::terminal(const sc_core::sc_module_name& name, const terminal_params& p, unsigned n, const packet_format& f, const link_params* l)
    : model(name), params(p), number(n), format(f), m_held(16) {
    if (l) link = std::make_unique<port>("link", *l, params.input, format, static_cast<port_owner&>(*this), 0, false);
}

void terminal::send(const packet_ptr& p) {
    p->source = static_cast<std::uint16_t>(number);
    if (!is_response(p->type)) {
        ++requests_sent;
        p->born = now();
        p->spans.resume(p->born);
    }
    m_queue.push(p);
    transmit();
}

void terminal::transmit() {
    if (m_queue.empty()) return;
    if (!link->idle()) {
        link->call_when_idle();
        return;
    }
    const auto p = m_queue.next(*link);
    if (!p) return;
    link->send(p, now());
    if (!m_queue.empty()) link->call_when_idle();
    if (!is_response(p->type)) return;
    --m_serving;
    if (m_held.empty()) return;
    const auto next = std::move(m_held.front());
    m_held.pop_front();
    m_held_since = m_held.empty() ? never : now();
    next->pass(m_held_span, span_kind::queueing, now());
    serve(next);
}

void terminal::packet_arrived(port&, const packet_ptr& p) {
    p->pass(link->tail_span, span_kind::service, p->tail);
    p->pass(m_input_span, span_kind::service, now());
    if (is_response(p->type)) {
        link->release(*p, now());
        round_trip.add(now() - p->born);
        m_client->packet_received(p);
        return;
    }
    if (m_serving < params.serving && m_held.empty()) return serve(p);
    ++held;
    if (m_held.empty()) m_held_since = now();
    if (m_held.full()) m_held.set_capacity(2 * m_held.capacity());
    m_held.push_back(p);
}

void terminal::serve(const packet_ptr& p) {
    ++m_serving;
    ++requests_served;
    one_way.add(now() - p->born);
    link->release(*p, now());
    m_client->packet_received(p);
}

std::optional<model::wait> terminal::waits() const {
    if (m_held_since == never) return std::nullopt;
    return wait{m_held_since, fmt::format("its device, which serves {} requests and lets {} wait", m_serving, m_held.size())};
}

void terminal::reset() {
    m_held.clear();
    m_held_since = never;
    m_serving = 0;
    model::reset();
}

}  // namespace fabricvp::fabric
