// SPDX-License-Identifier: Apache-2.0
#include "platform/pci_enumeration.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "abi/memory_map.h"
#include "platform/common/input_error.h"

namespace fabricvp {
namespace {

constexpr std::uint64_t window_granularity = 1 << 20;
constexpr unsigned command = 0x04, bus_numbers = 0x18, memory_window = 0x20, prefetchable_window = 0x24;
constexpr std::uint32_t memory_and_master = 0x6;

std::uint64_t align(std::uint64_t at, std::uint64_t to) { return (at + to - 1) / to * to; }

/// Addresses that are given away in order.
struct address_space {
    const char* what;
    std::uint64_t next, end;

    std::uint64_t take(std::uint64_t size) {
        const auto base = align(next, size);
        if (base >= end || size > end - base)
            throw input_error(fmt::format("the PCIe tree needs more {} addresses than the host has", what));
        next = base + size;
        return base;
    }
    void round_up() { next = align(next, window_granularity); }
};

class enumerator {
public:
    /// \param high prefetchable memory goes above 4 GiB; else it gets the upper half of the 32-bit window
    enumerator(node& n, bool high) : m_root(n.pcie->root) {
        constexpr auto begin = VIRT_PCIE_MMIO32_BASE, end = begin + VIRT_PCIE_MMIO32_SIZE,
                       middle = begin + VIRT_PCIE_MMIO32_SIZE / 2;
        const auto above = n.host.pcie_mmio64_base();
        m_memory = {"32-bit", begin, high ? end : middle};
        m_prefetchable = high ? address_space{"64-bit", above, above + n.host.pcie_mmio64_size()}
                              : address_space{"32-bit", middle, end};
    }

    std::vector<pci_function> run() {
        scan(0);
        set_max_payload();
        return std::move(m_found);
    }

private:
    std::uint32_t read(const pci_function& f, unsigned reg) {
        std::uint32_t value = ~std::uint32_t{0};
        m_root.debug_configuration(f.ecam_offset() | reg, &value);
        return value;
    }
    void write(const pci_function& f, unsigned reg, std::uint32_t value) {
        m_root.debug_configure(f.ecam_offset() | reg, value);
    }

    void scan(unsigned bus) {
        for (unsigned device = 0; device < 32; ++device) {
            bool several = false;
            for (unsigned function = 0; function < (several ? 8u : 1u); ++function) {
                pci_function f{bus, device, function, 0, 0, 0, false, 0, 0, {}};
                const auto id = read(f, 0);
                if ((id & 0xffff) == 0xffff) continue;
                f.vendor_id = static_cast<std::uint16_t>(id);
                f.device_id = static_cast<std::uint16_t>(id >> 16);
                f.class_code = read(f, 0x08) >> 8;
                const auto header = read(f, 0x0c) >> 16;
                several = several || header & 0x80;
                f.bridge = (header & 0x7f) == 1;
                const auto index = m_found.size();
                m_found.push_back(f);
                place_bars(m_found[index]);
                if (f.bridge) {
                    write(f, bus_numbers, 0);  // of an enumeration before
                    open(index);
                }
                write(f, command, read(f, command) | memory_and_master);
            }
        }
    }

    void place_bars(pci_function& f) {
        for (unsigned i = 0; i < (f.bridge ? 2u : 6u); ++i) {
            const unsigned reg = 0x10 + 4 * i;
            write(f, reg, ~std::uint32_t{0});
            const auto low = read(f, reg);
            if (low == 0 || low & 1) continue;  // absent, or of I/O space, which this host does not assign
            const bool wide = (low >> 1 & 3) == 2;
            std::uint64_t mask = low & ~std::uint32_t{0xf};
            if (wide) {
                write(f, reg + 4, ~std::uint32_t{0});
                mask |= std::uint64_t{read(f, reg + 4)} << 32;
            } else {
                mask |= std::uint64_t{0xffffffff} << 32;
            }
            f.bars.push_back({i, 0, ~mask + 1, wide, (low & 8) != 0});
            i += wide;
        }
        // The largest first, so that no room is lost by alignment.
        std::vector<pci_bar*> order;
        for (auto& b : f.bars) order.push_back(&b);
        std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->size > b->size; });
        for (auto* b : order) {
            // A bridge has a 64-bit window for prefetchable memory only.
            b->base = (b->wide && b->prefetchable ? m_prefetchable : m_memory).take(b->size);
            write(f, 0x10 + 4 * b->index, static_cast<std::uint32_t>(b->base));
            if (b->wide) write(f, 0x14 + 4 * b->index, static_cast<std::uint32_t>(b->base >> 32));
        }
    }

    /// Numbers the buses behind a bridge, and lets through what lies there.
    void open(std::size_t index) {
        const auto f = m_found[index];
        if (m_last_bus == 255) throw input_error("the PCIe tree has more than 255 buses");
        const auto secondary = ++m_last_bus;
        const auto number = [&](unsigned subordinate) {
            write(f, bus_numbers, f.bus | secondary << 8 | subordinate << 16);
        };
        number(255);
        m_memory.round_up();
        m_prefetchable.round_up();
        const auto memory = m_memory.next, prefetchable = m_prefetchable.next;
        scan(secondary);
        m_memory.round_up();
        m_prefetchable.round_up();
        number(m_last_bus);
        // Base and limit in MiB; a base above the limit closes the window.
        const auto window = [](std::uint64_t base, std::uint64_t end) {
            const auto first = end == base ? 0xfff0 : base >> 16 & 0xfff0,
                       last = end == base ? 0 : (end - 1) >> 16 & 0xfff0;
            return static_cast<std::uint32_t>(first | last << 16);
        };
        const bool closed = m_prefetchable.next == prefetchable;
        write(f, memory_window, window(memory, m_memory.next));
        write(f, prefetchable_window, window(prefetchable, m_prefetchable.next));
        write(f, prefetchable_window + 4, closed ? ~std::uint32_t{0} : static_cast<std::uint32_t>(prefetchable >> 32));
        write(f, prefetchable_window + 8, closed ? 0 : static_cast<std::uint32_t>((m_prefetchable.next - 1) >> 32));
        m_found[index].secondary = secondary;
        m_found[index].subordinate = m_last_bus;
    }

    /// Offset of the PCI Express capability, 0 if there is none.
    unsigned express(const pci_function& f) {
        const auto byte = [&](unsigned at) { return read(f, at & ~3u) >> 8 * (at & 3) & 0xff; };
        unsigned at = byte(0x34) & ~3u;
        for (unsigned i = 0; at && byte(at) != 0x10 && i < 48; ++i) at = byte(at + 1) & ~3u;
        return at;
    }

    /// Max_Payload_Size becomes what every function can take.
    void set_max_payload() {
        unsigned min = 5;
        for (const auto& f : m_found)
            if (const auto at = express(f)) min = std::min(min, read(f, at + 4) & 7);
        for (const auto& f : m_found)
            if (const auto at = express(f))
                write(f, at + 8, (read(f, at + 8) & 0xff1f) | min << 5);  // status keeps its bits
    }

    pcie::root_complex& m_root;
    address_space m_memory, m_prefetchable;
    std::vector<pci_function> m_found;
    unsigned m_last_bus = 0;
};

}  // namespace

std::vector<pci_function> enumerate_pci(node& n, pci_placement placement) {
    if (!n.pcie) return {};
    if (placement == pci_placement::above_4g) return enumerator(n, true).run();
    try {
        return enumerator(n, false).run();
    } catch (const input_error&) {
        return enumerator(n, true).run();
    }
}

std::array<std::uint8_t, 4096> read_configuration(node& n, const pci_function& f) {
    std::array<std::uint8_t, 4096> bytes;
    bytes.fill(0xff);
    for (unsigned reg = 0; reg < bytes.size(); reg += 4)
        n.pcie->root.debug_configuration(f.ecam_offset() | reg, bytes.data() + reg);
    return bytes;
}

std::string pci_dump(machine& m) {
    std::string text;
    for (std::size_t i = 0; i < m.nodes.size(); ++i) {
        auto& n = *m.nodes[i];
        for (const auto& f : enumerate_pci(n)) {
            if (m.nodes.size() > 1) text += fmt::format("{:04x}:", i);
            const auto bytes = read_configuration(n, f);
            text += fmt::format("{:02x}:{:02x}.{:x} Class {:04x}: {:04x}:{:04x} (rev {:02x})\n", f.bus, f.device,
                                f.function, f.class_code >> 8, f.vendor_id, f.device_id, bytes[8]);
            for (std::size_t at = 0; at < bytes.size(); at += 16) {
                text += fmt::format("{:02x}:", at);
                for (std::size_t b = 0; b < 16; ++b) text += fmt::format(" {:02x}", bytes[at + b]);
                text += '\n';
            }
            text += '\n';
        }
    }
    return text;
}

}  // namespace fabricvp
