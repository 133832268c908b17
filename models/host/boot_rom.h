// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bus.h"
#include "base/sparse_memory.h"

namespace fabricvp::host {

/// Where the boot ROM sends harts, and what it tells them (OpenSBI's fw_dynamic protocol).
struct boot_information {
    std::uint64_t entry = 0;        ///< first instruction of the firmware
    std::uint64_t device_tree = 0;  ///< address of the blob, in a1
    std::uint64_t next_stage = 0;   ///< entry of what the firmware starts in supervisor mode; 0 if there is none
};

/// Mask ROM at the reset vector: sets a0 (hart), a1 (device tree) and a2 (fw_dynamic information) and jumps to the
/// firmware, as QEMU's `virt` machine does. Writes are bus errors.
class boot_rom final : public bus_target {
public:
    sparse_memory memory;

    explicit boot_rom(const sc_core::sc_module_name& name);

    void program(const boot_information& information);

private:
    outcome access(bus_payload& payload, ticks& latency) override;
    unsigned debug_access(bus_payload& payload) override;
};

}  // namespace fabricvp::host
