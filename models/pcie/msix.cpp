// SPDX-License-Identifier: Apache-2.0
#include "pcie/msix.h"

#include <cstring>
#include <utility>

namespace fabricvp::pcie {

msix_table::msix_table(unsigned vectors, sender send)
    : m_table(vectors), m_pending((vectors + 63) / 64), m_send(std::move(send)) {
    reset();
}

bool msix_table::claims(std::uint64_t offset, std::uint32_t bytes) const {
    const auto inside = [&](std::uint64_t begin, std::uint64_t size) {
        return offset >= begin && offset + bytes <= begin + size;
    };
    return inside(0, m_table.size() * sizeof(entry)) || inside(pending_offset, m_pending.size() * 8);
}

void msix_table::read(std::uint64_t offset, void* to, std::uint32_t bytes) const {
    const auto* from = offset < pending_offset
                           ? reinterpret_cast<const std::uint8_t*>(m_table.data()) + offset
                           : reinterpret_cast<const std::uint8_t*>(m_pending.data()) + offset - pending_offset;
    std::memcpy(to, from, bytes);
}

void msix_table::write(std::uint64_t offset, const void* from, std::uint32_t bytes) {
    if (offset >= pending_offset) return;  // read-only
    std::memcpy(reinterpret_cast<std::uint8_t*>(m_table.data()) + offset, from, bytes);
    for (auto v = offset / sizeof(entry); v * sizeof(entry) < offset + bytes; ++v) {  // a write may cover several
        m_table[v].control &= 1;
        m_table[v].address &= ~std::uint64_t{3};
    }
    send_pending();
}

void msix_table::set_control(bool enabled, bool masked) {
    m_enabled = enabled;
    m_masked = masked;
    send_pending();
}

void msix_table::raise(unsigned v) {
    if (v >= m_table.size()) return;
    m_pending[v / 64] |= std::uint64_t{1} << v % 64;
    send_pending();
}

void msix_table::send_pending() {
    if (!m_enabled || m_masked) return;
    for (unsigned v = 0; v < m_table.size(); ++v) {
        const auto bit = std::uint64_t{1} << v % 64;
        if (!(m_pending[v / 64] & bit) || m_table[v].control & 1) continue;
        m_pending[v / 64] &= ~bit;
        m_send(m_table[v].address, m_table[v].data);
    }
}

void msix_table::reset() {
    for (auto& e : m_table) e = {0, 0, 1};
    for (auto& p : m_pending) p = 0;
    m_enabled = m_masked = false;
}

}  // namespace fabricvp::pcie
