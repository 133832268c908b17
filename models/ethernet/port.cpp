// SPDX-License-Identifier: Apache-2.0
#include "ethernet/port.h"

#include <algorithm>
#include <utility>

#include "link/far_end.h"

namespace fabricvp::ethernet {

namespace {

link::channel_params channel_of(const port_params& p) {
    link::channel_params c;
    c.lanes = 1;
    c.lane_rate = p.rate;
    c.propagation = {0};  // the cable's, which is not known yet
    return c;
}

}  // namespace

void port_params::describe(parameter_visitor& v) {
    v.field("rate", rate, between{1e6, 1e12},
            "bytes a second each way; a link has what both its ends and its cable can");
    v.field("queue", queue, between{1, 1e6}, "frames that wait to be sent");
}

void link_params::describe(parameter_visitor& v) {
    v.field("rate", rate, between{1e6, 1e12}, "most bytes a second each way that the cable can");
    v.field("propagation", propagation, between{1, 1e12}, "time of flight");
}

port::port(const sc_core::sc_module_name& name, const port_params& p, port_owner& owner, unsigned i)
    : link::port<port_traits>(name, channel_of(p)), params(p), index(i), m_owner(owner), m_queue(p.queue) {}

/// An end without a cable hears itself, if it could say anything: TLM sockets want to be bound.
void port::before_end_of_elaboration() {
    if (!m_connected) tx.bind(rx);
}

void port::send(const frame_ptr& f) {
    ++frames_offered;
    if (!m_connected || m_queue.full()) {
        ++dropped;
        return;
    }
    m_queue.push_back(f);
    transmit();
}

void port::transmit() {
    if (m_queue.empty()) return;
    if (!idle()) return call_when_idle();
    const auto f = m_queue.front();
    m_queue.pop_front();
    const auto transmission = transmitter.send(now(), 0, f->wire_bytes(), f->wire_bytes());
    ++frames_sent;
    bytes_sent += f->bytes.length;
    transmit_packet(*f, transmission.tail_arrival + m_cable.propagation);
    if (!m_queue.empty()) call_when_idle();
    if (std::exchange(m_space_requested, false)) m_owner.space_available(*this);
}

void port::deliver(const frame_ptr& f) {
    ++frames_received;
    bytes_received += f->bytes.length;
    m_owner.frame_arrived(*this, f);
}

void port::reset() {
    m_queue.clear();
    m_space_requested = false;
    link::port<port_traits>::reset();
    settle();
}

/// What follows from both ends and the cable.
void port::settle() {
    if (m_connected) transmitter.set_lane_rate(std::min({params.rate, m_other_rate, m_cable.rate}));
}

void port::plug(const port_params& other, const link_params& cable) {
    m_other_rate = other.rate;
    m_cable = cable;
    m_connected = true;
    settle();
}

void connect(port& a, port& b, const link_params& cable) {
    link::join<port_traits>(a, {}, b, {});
    a.plug(b.params, cable);
    b.plug(a.params, cable);
}

void connect(port& here, far_end& there, const port_params& of_there, const link_params& cable) {
    link::join<port_traits>(here, there, {});
    here.plug(of_there, cable);
}

}  // namespace fabricvp::ethernet
