// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include <tlm>

#include "network/link_message.h"
#include "network/port.h"

namespace fabricvp::network {

/// Stands in for the other end of a link where that is in another simulation: what this end says becomes messages, and
/// what comes as messages this end hears as if the other one had said it.
class far_end final : public sc_core::sc_module,
                      private tlm::tlm_fw_transport_if<link_protocol>,
                      private tlm::tlm_bw_transport_if<link_protocol> {
public:
    const port_params params;  ///< of the other end
    tlm::tlm_target_socket<32, link_protocol> in{"in"};
    tlm::tlm_initiator_socket<32, link_protocol> out{"out"};

    /// \param number of the other end (link_message::end) \param send takes what this end says to it
    far_end(const sc_core::sc_module_name& name, port& here, const port_params& there, std::uint32_t number,
            std::function<void(const link_message&)> send);

    /// What the other end has said. It counts later than now.
    void receive(const link_message& m);
    /// This end holds the link down, or does no longer; the other one knows it at `when`.
    void signal(bool held, ticks when);

private:
    tlm::tlm_sync_enum nb_transport_fw(packet& p, link::phase&, sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_bw(packet& p, link::phase&, sc_core::sc_time& delay) override;
    void b_transport(packet&, sc_core::sc_time&) override {
        SC_REPORT_ERROR(name(), "links are not blocking: use nb_transport");
    }
    bool get_direct_mem_ptr(packet&, tlm::tlm_dmi&) override { return false; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    unsigned transport_dbg(packet&) override { return 0; }
    link_message message(link_message::kind what, ticks when) const;

    port& m_here;
    const std::uint32_t m_number;
    std::function<void(const link_message&)> m_send;
};

/// Joins a port by a cable to one in another simulation.
void connect(port& here, far_end& there, const link_params& cable);

}  // namespace fabricvp::network
