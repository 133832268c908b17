// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "base/bus.h"
#include "base/memory_code.h"
#include "base/parameters.h"
#include "base/sparse_memory.h"
#include "base/statistics.h"

namespace fabricvp::host {

struct dram_params {
    duration latency{60'000};
    bandwidth rate{17'066'666'667};
    bool ecc = false;             ///< see memory_code
    duration ecc_latency{3'750};  ///< four clocks of DDR4-2133
    void describe(parameter_visitor& v);
};

/// Memory. Harts use `memory` directly where they can; the bus side serves devices, and harts for pages that a device
/// has touched, where it also keeps LR reservations (64-byte sets, one a hart). What its code cannot correct ends an
/// access with an error. reset() keeps the contents.
class dram final : public bus_target, private memory_observer {
public:
    const dram_params params;
    sparse_memory memory;

    memory_code code{*this, memory, params.ecc};

    counter bytes_read{*this, "bytes_read", "B", "bytes read over the bus"};
    counter bytes_written{*this, "bytes_written", "B", "bytes written over the bus"};
    counter atomics{*this, "atomics", "1", "atomic accesses over the bus"};

    /// \param size bytes, a multiple of 4 KiB
    dram(const sc_core::sc_module_name& name, const dram_params& params, std::uint64_t size);
    ~dram();

    void reset() override;

private:
    outcome access(bus_payload& payload, ticks& latency) override;
    unsigned debug_access(bus_payload& payload) override;
    void atomic_access(bus_payload& payload, atomic_extension& atomic);
    void page_marked(sparse_memory&, std::uint64_t, unsigned) override {}
    void marked_page_written(sparse_memory&, std::uint64_t offset, std::uint64_t size, const memory_observer*) override;
    void break_reservations(std::uint64_t offset, std::uint64_t size);

    std::map<std::string, std::uint64_t> m_reservations;  // initiator → first byte of the reservation set
};

}  // namespace fabricvp::host
