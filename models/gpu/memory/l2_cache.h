// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "gpu/memory/l2_bank.h"

namespace fabricvp::gpu {

/// The L2 cache: its banks, over which lines are interleaved, and the reservations on its lines.
class l2_cache final : public model {
public:
    const l2_params params;

    std::vector<std::unique_ptr<l2_bank>> banks;  ///< bank0, bank1, …
    l2_reservations reservations;

    l2_cache(const sc_core::sc_module_name& name, const l2_params& params, const l2_wiring& to);

    /// The bank of the line at an offset in device memory.
    l2_bank& bank_of(std::uint64_t offset) { return *banks[m_interleaving.unit_of(offset)]; }

    /// Keeps copies of lines of memory that is shared with the host, from now on.
    void attach_coherent_port(coherent_port& port);

    /// Which lines are those of queues that the command processor's harts consume, and whether they are locked
    /// (abi/gpu_queue_lines.h).
    void watch(std::uint64_t physical, std::uint64_t bytes, bool lock);

    void reset() override;

private:
    interleaving m_interleaving;
    l2_queue_lines m_queue_lines;
};

}  // namespace fabricvp::gpu
