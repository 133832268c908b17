// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bus.h"
#include "base/registers.h"

namespace fabricvp::host {

/// A device that consists of declared registers: accesses of 1, 2, 4 or 8 bytes, answered at once.
class register_target : public bus_target {
public:
    register_bank registers;

    register_target(const sc_core::sc_module_name& name, std::uint64_t size,
                    register_bank::gaps gaps = register_bank::gaps::ignored)
        : bus_target(name), registers(size, gaps) {}

    void reset() override {
        registers.reset();
        model::reset();
    }

protected:
    /// The bank that answers at `offset` now (devices with banked registers override it).
    virtual register_bank& bank_at(std::uint64_t offset) { return registers; }

    outcome access(bus_payload& payload, ticks& latency) override;
    unsigned debug_access(bus_payload& payload) override;
};

}  // namespace fabricvp::host
