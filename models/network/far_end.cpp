// SPDX-License-Identifier: Apache-2.0
#include "network/far_end.h"

#include <utility>

namespace fabricvp::network {

far_end::far_end(const sc_core::sc_module_name& name, port& here, const port_params& there, std::uint32_t number,
                 std::function<void(const link_message&)> send)
    : sc_module(name), params(there), m_here(here), m_number(number), m_send(std::move(send)) {
    in.bind(static_cast<tlm::tlm_fw_transport_if<link_protocol>&>(*this));
    out.bind(static_cast<tlm::tlm_bw_transport_if<link_protocol>&>(*this));
    here.tx.bind(in);
    out.bind(here.rx);
}

link_message far_end::message(link_message::kind what, ticks when) const {
    link_message m;
    m.what = what;
    m.end = m_number;
    m.sent = calendar::current().now();
    m.when = when;
    return m;
}

tlm::tlm_sync_enum far_end::nb_transport_fw(packet& p, link::phase&, sc_core::sc_time&) {
    auto m = message(link_message::kind::packet, p.head);
    m.packet = packet_ptr(&p);
    m_send(m);
    return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum far_end::nb_transport_bw(packet& p, link::phase&, sc_core::sc_time& delay) {
    auto m = message(link_message::kind::credits, calendar::current().now() + delay.value());
    m.lane = p.lrh.vl;
    m.blocks = p.blocks;
    m_send(m);
    return tlm::TLM_ACCEPTED;
}

void far_end::signal(bool held, ticks when) {
    auto m = message(link_message::kind::signal, when);
    m.held = held;
    m_send(m);
}

void far_end::receive(const link_message& m) {
    switch (m.what) {
        case link_message::kind::packet: {
            // What was under way when the link went down is lost, also where that is heard of only now.
            if (m.sent < m_here.m_down_since) return m_here.drop(*m.packet, drop_reason::link_down);
            auto what = link::phase::transfer;
            auto delay = sc_core::sc_time::from_value(m.packet->head - calendar::current().now());
            out->nb_transport_fw(*m.packet, what, delay);
            return;
        }
        case link_message::kind::credits: return m_here.credits_returned(m.lane, {m.blocks}, m.when);
        case link_message::kind::signal: return m_here.receive(false, m.held, m.when);
        case link_message::kind::state_change: return;  // is the network's
    }
}

void connect(port& here, far_end& there, const link_params& cable) {
    here.m_cable = cable;
    here.m_other = &there.params;
    here.m_far = &there;
    here.set_credits(port::room_of(there.params));
    here.update_link();
    here.faults.set_bit_error_rate(cable.bit_error_rate, cable.seed);
    here.duplex().set_lanes(lanes_of(here.m_width), lanes_of(here.m_width));
    here.update_link_state();
}

}  // namespace fabricvp::network
