// SPDX-License-Identifier: Apache-2.0
// Which register of abi an access to PCI Express fell into: configuration registers by the capability that
// they belong to, memory by the BAR.
#pragma once

#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "abi/copy_engine.h"
#include "abi/memory_map.h"
#include "abi/pci.h"
#include "pcie/tree.h"

namespace fabricvp::test {

class pci_audit {
public:
    using accesses = std::set<std::pair<std::uint64_t, unsigned>>;

    explicit pci_audit(pcie::tree& tree) : m_tree(tree) {}

    /// Offsets of ECAM that no register explains.
    std::vector<std::string> unexplained_configuration(const accesses& all) {
        std::vector<std::string> list;
        for (const auto& [offset, size] : all)
            if (!configuration(offset, size)) list.push_back(fmt::format("ecam+{:#x}/{}", offset, size));
        return list;
    }
    /// Offsets from `base` that lie in no BAR, or in none of its registers.
    std::vector<std::string> unexplained_memory(const accesses& all, std::uint64_t base) {
        std::vector<std::string> list;
        for (const auto& [offset, size] : all)
            if (!memory(base + offset, size)) list.push_back(fmt::format("{:#x}/{}", base + offset, size));
        return list;
    }

private:
    static bool holds(const std::vector<abi_register>& registers, std::uint64_t offset, unsigned size) {
        for (const auto& r : registers) {
            if (offset < r.offset) continue;
            const auto index = (offset - r.offset) / r.stride, byte = (offset - r.offset) % r.stride;
            if (index < r.count && byte + size <= r.bytes) return true;
        }
        return false;
    }

    std::uint32_t word(std::uint64_t function, std::uint64_t at) {
        std::uint32_t value = ~0u;
        m_tree.root.debug_configuration(function | (at & ~std::uint64_t{3}), &value);
        return value >> 8 * (at & 3);
    }

    bool configuration(std::uint64_t offset, unsigned size) {
        const auto function = offset & ~std::uint64_t{0xfff}, at = offset & 0xfff;
        if (at == PCI_ID && size == 4) return true;  // of anything, to see whether it is there
        if (word(function, PCI_ID) == PCI_NO_FUNCTION) return false;
        const bool bridge = (word(function, PCI_HEADER_TYPE) & PCI_HEADER_TYPE_MASK) == PCI_HEADER_BRIDGE;
        if (at < 0x40)
            return holds({PCI_COMMON_REGISTERS(ABI_ROW)}, at, size) ||
                   holds(bridge ? std::vector<abi_register>{PCI_BRIDGE_REGISTERS(ABI_ROW)}
                                : std::vector<abi_register>{PCI_DEVICE_REGISTERS(ABI_ROW)},
                         at, size);
        return at < PCI_FIRST_EXTENDED ? capability(function, at, size) : extended(function, at, size);
    }

    bool capability(std::uint64_t function, std::uint64_t at, unsigned size) {
        std::uint64_t begin = 0;
        for (auto c = word(function, PCI_CAPABILITIES) & 0xfc; c; c = word(function, c + PCI_CAPABILITY_NEXT) & 0xfc)
            if (c <= at && c > begin) begin = c;
        if (begin == 0) return false;
        if (holds({PCI_CAPABILITY_REGISTERS(ABI_ROW)}, at - begin, size)) return true;
        switch (word(function, begin) & 0xff) {
            case PCI_CAPABILITY_PM: return holds({PCI_PM_REGISTERS(ABI_ROW)}, at - begin, size);
            case PCI_CAPABILITY_MSIX: return holds({PCI_MSIX_REGISTERS(ABI_ROW)}, at - begin, size);
            case PCI_CAPABILITY_EXPRESS: return holds({PCI_EXPRESS_REGISTERS(ABI_ROW)}, at - begin, size);
            default: return false;
        }
    }

    bool extended(std::uint64_t function, std::uint64_t at, unsigned size) {
        std::uint64_t begin = 0;
        for (std::uint64_t c = PCI_FIRST_EXTENDED; c; c = word(function, c) >> 20)
            if (c <= at && c > begin) begin = c;
        if (holds({PCI_EXTENDED_CAPABILITY_REGISTERS(ABI_ROW)}, at - begin, size)) return true;
        switch (word(function, begin) & 0xffff) {
            case PCI_EXTENDED_AER: return holds({PCI_AER_REGISTERS(ABI_ROW)}, at - begin, size);
            case PCI_EXTENDED_ACS: return holds({PCI_ACS_REGISTERS(ABI_ROW)}, at - begin, size);
            default: return false;
        }
    }

    bool memory(std::uint64_t address, unsigned size) {
        for (const auto& e : m_tree.endpoints) {
            const auto hit = e->config.decode(address, size);
            if (!hit) continue;
            if (hit->bar == COPY_ENGINE_BAR_MEMORY) return true;
            if (hit->offset < COPY_ENGINE_MSIX_TABLE) return holds({COPY_ENGINE_REGISTERS(ABI_ROW)}, hit->offset, size);
            return holds({PCI_MSIX_ENTRY_REGISTERS(ABI_ROW)},
                         (hit->offset - COPY_ENGINE_MSIX_TABLE) % PCI_MSIX_ENTRY_SIZE, size);
        }
        return false;
    }

    pcie::tree& m_tree;
};

}  // namespace fabricvp::test
