// SPDX-License-Identifier: Apache-2.0
#include "pcie/configuration_space.h"

#include <stdexcept>

namespace fabricvp::pcie {

namespace {
std::uint8_t byte_of(std::uint64_t value, unsigned index) { return static_cast<std::uint8_t>(value >> 8 * index); }
}  // namespace

void configuration_space::declare(std::size_t offset, unsigned bytes, std::uint64_t reset, std::uint64_t writable,
                                  std::uint64_t write_one_to_clear) {
    for (unsigned i = 0; i < bytes; ++i) {
        m_value[offset + i] = m_reset[offset + i] = byte_of(reset, i);
        m_writable[offset + i] = byte_of(writable, i);
        m_clearable[offset + i] = byte_of(write_one_to_clear, i);
    }
}

void configuration_space::declare_sticky(std::size_t offset, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) m_sticky[offset + i] = 1;
}

void configuration_space::on_write(std::size_t offset, unsigned bytes, write_hook call) {
    m_hooks.push_back({offset, offset + bytes, std::move(call)});
}

void configuration_space::on_read(std::size_t offset, unsigned bytes, read_hook call) {
    m_read_hooks.push_back({offset, offset + bytes, std::move(call)});
}

std::uint32_t configuration_space::read(std::size_t offset, unsigned bytes) const {
    for (const auto& h : m_read_hooks)
        if (offset < h.end && h.begin < offset + bytes) h.call();
    return static_cast<std::uint32_t>(get(offset, bytes));
}

void configuration_space::write(std::size_t offset, unsigned bytes, std::uint32_t value) {
    for (unsigned i = 0; i < bytes; ++i) {
        const auto at = offset + i;
        const auto v = byte_of(value, i);
        auto next = static_cast<std::uint8_t>((m_value[at] & ~m_writable[at]) | (v & m_writable[at]));
        m_value[at] = static_cast<std::uint8_t>(next & ~(v & m_clearable[at]));
    }
    // A hook may declare more hooks never, but may write other registers: iterate by index.
    for (std::size_t h = 0; h < m_hooks.size(); ++h)
        if (offset < m_hooks[h].end && m_hooks[h].begin < offset + bytes) m_hooks[h].call();
}

std::uint64_t configuration_space::get(std::size_t offset, unsigned bytes) const {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(m_value[offset + i]) << 8 * i;
    return value;
}

void configuration_space::set(std::size_t offset, unsigned bytes, std::uint64_t value) {
    for (unsigned i = 0; i < bytes; ++i) m_value[offset + i] = byte_of(value, i);
}

std::size_t configuration_space::add_capability(std::uint8_t id, std::size_t bytes) {
    const auto at = m_next_capability;
    m_next_capability = (at + bytes + 3) & ~std::size_t{3};
    if (m_next_capability > 0x100) throw std::length_error("no room for another capability");
    declare(m_last_link, 1, at);
    m_last_link = at + 1;
    declare(at, 2, id);
    declare(0x06, 2, get(0x06, 2) | 0x10, 0, 0xf900);  // status: capabilities list; error bits are cleared by 1
    return at;
}

std::size_t configuration_space::add_extended_capability(std::uint16_t id, unsigned version, std::size_t bytes) {
    const auto at = m_next_extended;
    m_next_extended = (at + bytes + 3) & ~std::size_t{3};
    if (m_next_extended > size) throw std::length_error("no room for another extended capability");
    if (m_last_extended) declare(m_last_extended, 4, (get(m_last_extended, 4) & 0xfffff) | at << 20);
    declare(at, 4, id | version << 16);
    m_last_extended = at;
    return at;
}

std::size_t configuration_space::find_capability(std::uint8_t id) const {
    for (std::size_t at = m_reset[0x34]; at; at = m_reset[at + 1])
        if (m_reset[at] == id) return at;
    return 0;
}

std::size_t configuration_space::find_extended_capability(std::uint16_t id) const {
    for (std::size_t at = 0x100; at;) {
        const auto header = static_cast<std::uint32_t>(get(at, 4));
        if (header == 0) return 0;
        if ((header & 0xffff) == id) return at;
        at = header >> 20;
    }
    return 0;
}

void configuration_space::reset(bool power_on) {
    for (std::size_t i = 0; i < size; ++i)
        if (power_on || !m_sticky[i]) m_value[i] = m_reset[i];
}

}  // namespace fabricvp::pcie
