// SPDX-License-Identifier: Apache-2.0
// Incoming MSI controllers of all harts at one privilege level: a page for each hart's interrupt file, which MSIs of
// devices, of the APLIC and of harts (IPIs) are written to. The harts' CSRs reach the same files through hart_imsic.
#pragma once

#include <cstdint>
#include <deque>

#include "base/parameters.h"
#include "base/statistics.h"
#include "host/interrupt_file.h"
#include "host/register_target.h"

namespace fabricvp::host {

struct imsic_params {
    std::uint64_t identities = 255;
    void describe(parameter_visitor& v);
};

class imsic final : public register_target {
public:
    const imsic_params params;

    device_register seteipnum_le;
    device_register seteipnum_be;  ///< writes are ignored: the system is little-endian

    counter messages{*this, "messages", "1", "MSIs taken"};
    counter ignored{*this, "ignored", "1", "MSIs of identities that are not implemented"};

    std::deque<interrupt_file> files;  ///< by hart

    imsic(const sc_core::sc_module_name& name, const imsic_params& params, std::size_t harts);

    void reset() override;

    /// Bytes of address space: a page a hart, rounded up to a power of two.
    static std::uint64_t size(std::size_t harts);

private:
    outcome access(bus_payload& payload, ticks& latency) override;
};

}  // namespace fabricvp::host
