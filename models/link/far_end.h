// SPDX-License-Identifier: Apache-2.0
// Stands in for the other end of a link where that is in another simulation. What this end says becomes messages, which
// an exchange of the user's carries; what comes as messages this end hears as if the other one had said it. An exchange
// hands a message over before the time at which it counts: the shortest time of flight is its lookahead.
//
//     using far_end = link::far_end<port_traits>;
//     far_end beyond{"beyond", port, 1, [&](const auto& m) { append(to_the_other_process, m); }};
//     connect(port, beyond, parameters_of_the_other_end);       // of the protocol
//     beyond.receive(message_from_there);
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include <tlm>

#include "link/port.h"

namespace fabricvp::link {

template <class Traits>
class far_end final : public sc_core::sc_module,
                      protected tlm::tlm_fw_transport_if<typename Traits::protocol>,
                      protected tlm::tlm_bw_transport_if<typename Traits::protocol> {
public:
    using protocol = typename Traits::protocol;
    using packet = typename protocol::tlm_payload_type;
    using message_type = typename port<Traits>::message_type;

    tlm::tlm_target_socket<32, protocol> in{"in"};
    tlm::tlm_initiator_socket<32, protocol> out{"out"};

    /// \param number of the other end (message::end) \param send takes what this end says to it
    far_end(const sc_core::sc_module_name& name, port<Traits>& here, std::uint32_t number,
            std::function<void(const message_type&)> send)
        : sc_module(name), m_here(here), m_number(number), m_send(std::move(send)) {
        in.bind(static_cast<tlm::tlm_fw_transport_if<protocol>&>(*this));
        out.bind(static_cast<tlm::tlm_bw_transport_if<protocol>&>(*this));
    }

    /// What the other end has said. It counts later than now.
    void receive(const message_type& m) { m_here.receive(m); }
    /// Of the protocol's own; the other end knows it at `when`.
    void send_signal(std::uint32_t what, ticks when) {
        auto m = make(message_kind::signal, when);
        m.signal = what;
        m_send(m);
    }

private:
    tlm::tlm_sync_enum nb_transport_fw(packet& p, phase&, sc_core::sc_time& delay) override {
        auto m = make(message_kind::packet, calendar::current().now() + delay.value());
        m.packet = pooled_ptr<packet>(&p);
        m_send(m);
        return tlm::TLM_ACCEPTED;
    }
    tlm::tlm_sync_enum nb_transport_bw(packet& p, phase&, sc_core::sc_time& delay) override {
        auto m = make(message_kind::credits, calendar::current().now() + delay.value());
        m.credit_class = static_cast<std::uint8_t>(Traits::class_of(p));
        m.credits = Traits::credits_of(p);
        m_send(m);
        return tlm::TLM_ACCEPTED;
    }
    void b_transport(packet&, sc_core::sc_time&) override {
        SC_REPORT_ERROR(name(), "links are not blocking: use nb_transport");
    }
    bool get_direct_mem_ptr(packet&, tlm::tlm_dmi&) override { return false; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    /// A debugger of this simulation does not reach another one.
    unsigned transport_dbg(packet&) override { return 0; }
    message_type make(message_kind what, ticks when) const {
        message_type m;
        m.what = what;
        m.end = m_number;
        m.sent = calendar::current().now();
        m.when = when;
        return m;
    }

    port<Traits>& m_here;
    const std::uint32_t m_number;
    std::function<void(const message_type&)> m_send;
};

/// Makes a link of an end here and one in another simulation, whose buffers become this one's credits.
template <class Traits>
void join(port<Traits>& here, far_end<Traits>& there, const typename port<Traits>::buffers& of_there) {
    here.tx.bind(there.in);
    there.out.bind(here.rx);
    here.m_far = &there;
    here.set_credits(of_there);
}

}  // namespace fabricvp::link
