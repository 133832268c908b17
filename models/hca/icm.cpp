// SPDX-License-Identifier: Apache-2.0
#include "hca/icm.h"

namespace fabricvp::hca {

void icm::map(std::uint64_t address, std::uint64_t bus_address, std::uint64_t pages) {
    for (std::uint64_t i = 0; i < pages; ++i) m_pages[address / page + i] = bus_address + i * page;
}

void icm::unmap(std::uint64_t address, std::uint64_t pages) {
    for (std::uint64_t i = 0; i < pages; ++i) m_pages.erase(address / page + i);
}

std::optional<std::uint64_t> icm::bus_address(std::uint64_t address) const {
    const auto found = m_pages.find(address / page);
    if (found == m_pages.end()) return std::nullopt;
    return found->second | address % page;
}

void icm::reset() {
    m_pages.clear();
    model::reset();
}

}  // namespace fabricvp::hca
