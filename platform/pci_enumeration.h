// SPDX-License-Identifier: Apache-2.0
// What firmware does with a PCIe tree, by debug accesses to configuration space alone: it finds functions, numbers
// buses, sizes and places BARs, opens windows. It takes no simulated time. What it knows of the tree is what
// configuration space says, so that its findings can be held against the description that the tree was built from.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/machine.h"

namespace fabricvp {

struct pci_bar {
    unsigned index;
    std::uint64_t base, size;
    bool wide, prefetchable;
};

/// A function as it was found.
struct pci_function {
    unsigned bus, device, function;
    std::uint16_t vendor_id, device_id;
    std::uint32_t class_code;
    bool bridge;
    unsigned secondary = 0, subordinate = 0;  ///< of bridges
    std::vector<pci_bar> bars;                ///< memory BARs, lowest index first

    std::uint64_t ecam_offset() const { return std::uint64_t{bus} << 20 | device << 15 | function << 12; }
};

/// Where prefetchable memory goes: below 4 GiB if all fits there (any bus master and any software reaches it), or
/// always above, where TLP headers have four words.
enum class pci_placement { compact, above_4g };

/// Enumerates the PCIe tree of a node, and leaves it so. Functions come in the order in which they were found: depth
/// first, a bridge before what lies behind it.
/// \throws input_error if buses or addresses do not suffice
std::vector<pci_function> enumerate_pci(node& n, pci_placement placement = pci_placement::compact);

/// The 4 KiB of a function's configuration space.
std::array<std::uint8_t, 4096> read_configuration(node& n, const pci_function& f);

/// Enumerates every node, and prints all configuration spaces as `lspci -xxxx` does; `lspci -F` reads it. With several
/// nodes the PCI domain is the number of the node.
std::string pci_dump(machine& m);

}  // namespace fabricvp
