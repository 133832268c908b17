// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/bus.h"
#include "base/model.h"
#include "base/statistics.h"
#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

/// The way from a GPU on the host's bus to what is no memory there: registers of devices, doorbells of adapters. Line
/// requests become accesses to the bus, of the bytes that they are about.
class bus_port final : public model, public line_target, private tlm::tlm_bw_transport_if<> {
public:
    bus_initiator_socket bus{"bus"};

    counter reads{*this, "reads", "1", "reads of what is no memory"};
    counter writes{*this, "writes", "1", "writes to what is no memory"};
    counter atomics{*this, "atomics", "1", "atomics on what is no memory"};
    counter rejected{*this, "rejected", "1", "requests that a bus has no access for, or that no target answers"};

    /// \param way time to the bus, and of a response back
    bus_port(const sc_core::sc_module_name& name, ticks bus_latency, line_request_scheduler& scheduler);

    void send(const line_request_ptr& request) override;
    void reset() override;

private:
    /// A request at the bus. A write with holes is several accesses, one after the other.
    struct bus_access {
        line_request_ptr request;  // null: forgotten by a reset, and waiting for the bus to release the payload
        bus_payload* payload = nullptr;
        atomic_extension atomic;
        std::array<std::uint8_t, line_bytes> data;
        std::uint64_t left = 0;  // bytes to be written yet
        unsigned first = 0;      // of the line, of the present access
        bool open = false;
    };
    void arrive(const line_request_ptr& request);
    void begin(bus_access& v, ticks delay);
    bool prepare(bus_access& v);
    void access_done(bus_access& v, ticks delay);
    bus_access& allocate_access();

    tlm::tlm_sync_enum nb_transport_bw(bus_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    ticks m_bus_latency;
    line_request_scheduler& m_scheduler;
    initiator_extension m_self;
    std::vector<std::unique_ptr<bus_access>> m_bus_accesses;
};

}  // namespace fabricvp::gpu
