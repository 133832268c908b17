// SPDX-License-Identifier: Apache-2.0
#include "pcie/function.h"

namespace fabricvp::pcie {

function::function(const function_identity& id) {
    space.declare(0x00, 2, id.vendor);
    space.declare(0x02, 2, id.device);
    space.declare(0x04, 2, 0, 0x0546);  // memory, bus master, parity response, SERR, interrupt disable
    space.declare(0x06, 2, 0, 0, 0xf900);
    space.declare(0x08, 4, id.class_code << 8 | id.revision);
    space.declare(0x0c, 1, 0, 0xff);  // cache line size: no meaning, but software may write it
    space.declare(0x2c, 2, id.subsystem_vendor);
    space.declare(0x2e, 2, id.subsystem);
    space.declare(0x3c, 1, 0, 0xff);  // interrupt line: software's note
}

void function::add_bar(unsigned bar, std::uint64_t size, bool wide, bool prefetchable) {
    m_bars[bar] = {size, wide};
    const std::uint64_t flags = (wide ? 0x4 : 0) | (prefetchable ? 0x8 : 0);
    const auto address_bits = ~(size - 1);
    space.declare(0x10 + 4 * bar, wide ? 8 : 4, flags, address_bits);
}

void function::add_resizable_bar(unsigned bar, std::uint64_t min_size, std::uint64_t max_size) {
    add_bar(bar, min_size, true, true);
    m_resizable = bar;
    m_resizable_min_size = min_size;
    const auto code = [](std::uint64_t size) { return static_cast<unsigned>(__builtin_ctzll(size)) - 20; };
    const auto sizes = ((std::uint32_t{2} << code(max_size)) - 1) & ~((std::uint32_t{1} << code(min_size)) - 1);
    const auto at = pcie::add_resizable_bar(space, bar, sizes, code(min_size));
    space.on_write(at + 8, 4, [this, bar, at] { resize(bar, at); });
}

void function::resize(unsigned bar, std::size_t at) {
    const auto code = space.get(at + 8, 4) >> 8 & 0x3f;
    const bool supported = code < 28 && space.get(at + 4, 4) >> (4 + code) & 1;
    const auto size = supported ? std::uint64_t{1} << (20 + code) : m_bars[bar].size;
    if (!supported) {
        const auto kept = static_cast<std::uint64_t>(__builtin_ctzll(size)) - 20;
        space.set(at + 8, 4, (space.get(at + 8, 4) & ~std::uint64_t{0x3f00}) | kept << 8);
    }
    if (size != m_bars[bar].size) add_bar(bar, size, true, true);  // its address has to be written again
}

void function::reset(bool power_on) {
    if (m_resizable < m_bars.size()) add_bar(m_resizable, m_resizable_min_size, true, true);
    space.reset(power_on);
}

void function::set_interrupt_pin(unsigned pin) { space.declare(0x3d, 1, pin); }

std::uint64_t function::bar_base(unsigned bar) const {
    return space.get(0x10 + 4 * bar, m_bars[bar].wide ? 8 : 4) & ~std::uint64_t{0xf};
}

std::optional<bar_hit> function::decode(std::uint64_t address, std::uint64_t bytes) const {
    if (!memory_enabled()) return std::nullopt;
    for (unsigned b = 0; b < m_bars.size(); ++b) {
        if (m_bars[b].size == 0) continue;
        const auto base = bar_base(b);
        if (base != 0 && address >= base && address - base < m_bars[b].size &&
            bytes <= m_bars[b].size - (address - base))
            return bar_hit{b, address - base};
    }
    return std::nullopt;
}

void function::set_interrupt_status(bool pending) {
    pending ? space.set_bits(0x06, 2, 0x0008) : space.clear_bits(0x06, 2, 0x0008);
}

std::uint32_t function::max_payload() const {
    const auto at = space.find_capability(express_id);
    return at ? max_payload_of(space.get(at + express::device_control, 2)) : 128;
}

std::uint32_t function::max_read_request() const {
    const auto at = space.find_capability(express_id);
    return at ? 128u << (space.get(at + express::device_control, 2) >> 12 & 7) : 512;
}

}  // namespace fabricvp::pcie
