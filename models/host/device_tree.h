// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/host_device.h"
#include "host/interrupt_controllers.h"

namespace fabricvp::host {

/// A device that stands in the device tree by what it says itself.
struct device_tree_device {
    device_tree_node node;
    std::uint64_t base = 0, size = 0;
    std::uint64_t interrupt = 0;  ///< 0: none
    std::vector<std::pair<std::uint64_t, std::uint64_t>> additional_ranges =
        {};  ///< ranges (base, size) behind the first
};

/// What the device tree of a host says. Only hardware that exists appears in it, since a node invites a probe.
struct device_tree_description {
    std::vector<std::string> isa;  ///< one canonical ISA string a hart
    bool supervisor = true;
    std::uint64_t timebase = 10'000'000;
    std::uint64_t memory_base = 0;
    std::uint64_t memory_size = 0;
    std::uint64_t pcie_mmio64_base = 0, pcie_mmio64_size = 0;
    interrupt_controllers interrupts = interrupt_controllers::plic;
    std::uint64_t imsic_identities = 255;
    frequency uart_clock{3'686'400};
    std::vector<device_tree_device> devices;  ///< beside those that every host has
    std::size_t node_count = 1;               ///< of the machine, this one included
    std::string bootargs;
    std::uint64_t rng_seed = 1;
    std::uint64_t initrd_start = 0;  ///< [start, end); equal: none
    std::uint64_t initrd_end = 0;
};

/// Flattened device tree blob (version 17), compatible with what QEMU's `virt` machine offers for the same devices.
std::vector<std::uint8_t> make_device_tree(const device_tree_description& d);

}  // namespace fabricvp::host
