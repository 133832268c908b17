// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "base/bus.h"
#include "base/slot_table.h"
#include "base/statistics.h"
#include "gpu/gpu_unit.h"

namespace fabricvp::gpu {

/// A range of the host's addresses behind which a GPU's front lies: its registers, its doorbells, or its memory.
/// Accesses to memory wait outside while the front has no room, and stay in order.
class apu_window final : public bus_target {
public:
    enum class side { registers, doorbells, memory };

    counter reads{*this, "reads", "1", "reads of harts and devices"};
    counter writes{*this, "writes", "1", "writes of harts and devices"};

    /// \param way time of an access to the GPU and back
    apu_window(const sc_core::sc_module_name& name, side what, gpu_unit& gpu, ticks access_latency);

    /// The front has the data of a read, or room.
    void memory_read(std::uint64_t cookie);
    void retry_waiting();

    void reset() override;

private:
    struct pending_read {
        bus_payload* payload = nullptr;
        buffer_slice data;
    };
    outcome access(bus_payload& payload, ticks& latency) override;
    unsigned debug_access(bus_payload& payload) override;
    outcome reach_memory(bus_payload& payload);
    void atomic(bus_payload& payload);

    const side m_side;
    gpu_unit& m_gpu;
    ticks m_access_latency;
    std::deque<bus_payload*> m_waiting;
    slot_table<pending_read> m_reads;  // by cookie
};

}  // namespace fabricvp::gpu
