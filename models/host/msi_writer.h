// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bus.h"
#include "base/statistics.h"

namespace fabricvp::host {

/// Sends MSIs over the host's bus: posted writes of one word each, as devices make them.
class msi_writer final : public model, private tlm::tlm_bw_transport_if<> {
public:
    bus_initiator_socket bus{"bus"};

    counter sent{*this, "sent", "1", "MSIs sent"};
    counter errors{*this, "errors", "1", "MSIs that nothing took"};

    explicit msi_writer(const sc_core::sc_module_name& name);
    ~msi_writer() override;

    void send(std::uint64_t address, std::uint32_t data);

private:
    struct message;

    void finish(const bus_payload& payload);
    tlm::tlm_sync_enum nb_transport_bw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    std::vector<std::unique_ptr<message>> m_in_flight;  // where a target does not answer at once
    initiator_extension m_initiator;
};

}  // namespace fabricvp::host
