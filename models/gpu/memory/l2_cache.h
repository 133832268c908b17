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
    l2_bank& bank_of(std::uint64_t offset) { return *banks[offset >> m_interleave_bits & (banks.size() - 1)]; }

    void reset() override;

private:
    unsigned m_interleave_bits;
};

}  // namespace fabricvp::gpu
