// SPDX-License-Identifier: Apache-2.0
#include "riscv/pmp.h"

namespace fabricvp::riscv {

namespace {
constexpr std::uint8_t bit_r = 1, bit_w = 2, bit_x = 4, bit_a = 0x18, bit_locked = 0x80;
enum matching : unsigned { off = 0, top_of_range = 1, naturally_aligned_4 = 2, power_of_two = 3 };
constexpr unsigned matching_of(std::uint8_t config) { return (config & bit_a) >> 3; }
constexpr std::uint64_t address_mask = (std::uint64_t{1} << 54) - 1;
}  // namespace

void pmp::update() {
    m_regions.clear();
    region r;
    for (unsigned i = 0; i < m_entries; ++i)
        if (bounds(i, r)) m_regions.push_back(r);
}

bool pmp::bounds(unsigned entry, region& r) const {
    const auto address = m_state.pmpaddr[entry];
    r.config = m_state.pmpcfg[entry];
    switch (matching_of(m_state.pmpcfg[entry])) {
        case top_of_range: {
            const auto low = entry ? m_state.pmpaddr[entry - 1] << 2 : 0, high = address << 2;
            r.first = low;
            r.last = high - 1;
            return high > low;
        }
        case naturally_aligned_4:
            r.first = address << 2;
            r.last = r.first + 3;
            return true;
        case power_of_two: {
            const auto ones = address ^ (address + 1);  // trailing ones and the zero above them
            r.first = (address & ~ones) << 2;
            r.last = r.first | ones << 2 | 3;
            return true;
        }
        default: return false;
    }
}

bool pmp::allows(std::uint64_t address, std::uint64_t size, access_type kind, privilege mode) const {
    if (m_entries == 0) return true;
    const auto last = address + (size - 1);
    for (const auto& r : m_regions) {
        if (last < r.first || address > r.last) continue;
        if (address < r.first || last > r.last) return false;
        if (mode == privilege::machine && !(r.config & bit_locked)) return true;
        switch (kind) {
            case access_type::read: return r.config & bit_r;
            case access_type::write: return r.config & bit_w;
            default: return r.config & bit_x;
        }
    }
    return mode == privilege::machine;
}

bool pmp::uniform(std::uint64_t page_address) const {
    const auto last = page_address + 0xfff;
    for (const auto& r : m_regions) {
        if (last < r.first || page_address > r.last) continue;
        return page_address >= r.first && last <= r.last;  // lower entries that do not touch the page do not matter
    }
    return true;
}

std::uint64_t pmp::read_config(unsigned first) const {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8 && first + i < m_entries; ++i)
        value |= std::uint64_t{m_state.pmpcfg[first + i]} << (8 * i);
    return value;
}

void pmp::write_config(unsigned first, std::uint64_t value) {
    for (unsigned i = 0; i < 8 && first + i < m_entries; ++i) {
        auto& config = m_state.pmpcfg[first + i];
        if (config & bit_locked) continue;
        const auto byte = static_cast<std::uint8_t>(value >> (8 * i) & 0x9f);
        if ((byte & bit_w) && !(byte & bit_r)) continue;  // reserved: keeps the old value
        config = byte;
    }
    update();
}

void pmp::write_address(unsigned entry, std::uint64_t value) {
    if (entry >= m_entries || (m_state.pmpcfg[entry] & bit_locked)) return;
    if (entry + 1 < m_entries) {
        const auto next = m_state.pmpcfg[entry + 1];
        if ((next & bit_locked) && matching_of(next) == top_of_range) return;
    }
    m_state.pmpaddr[entry] = value & address_mask;
    update();
}

}  // namespace fabricvp::riscv
