// SPDX-License-Identifier: Apache-2.0
#include "hca/memory/icm.h"

#include <algorithm>
#include <iterator>

namespace fabricvp::hca {

void icm::map(std::uint64_t address, std::uint64_t bus_address, std::uint64_t pages) {
    unmap(address, pages);
    m_runs.insert_or_assign(address / page, run{pages, bus_address});
    m_pages += pages;
}

bool icm::unmap(std::uint64_t address, std::uint64_t pages) {
    const auto first = address / page, end = first + pages;
    auto at = m_runs.upper_bound(first);
    if (at != m_runs.begin()) --at;
    const bool splits = at != m_runs.end() && at->first < first && at->first + at->second.pages > end;
    if (splits && m_runs.size() >= max_runs) return false;
    while (at != m_runs.end() && at->first < end) {
        const auto begin = at->first;
        const auto r = at->second;
        if (begin + r.pages <= first) {
            ++at;
            continue;
        }
        at = m_runs.erase(at);
        m_pages -= r.pages;
        if (begin < first) insert_run(begin, {first - begin, r.bus_address});
        if (begin + r.pages > end) insert_run(end, {begin + r.pages - end, r.bus_address + (end - begin) * page});
    }
    return true;
}

void icm::insert_run(std::uint64_t first, const run& r) {
    m_runs.emplace(first, r);
    m_pages += r.pages;
}

std::optional<std::uint64_t> icm::bus_address(std::uint64_t address) const {
    const auto behind = m_runs.upper_bound(address / page);
    if (behind == m_runs.begin()) return std::nullopt;
    const auto& [first, r] = *std::prev(behind);
    if (address / page - first >= r.pages) return std::nullopt;
    return r.bus_address + (address - first * page);
}

void icm::reset() {
    m_runs.clear();
    m_pages = 0;
    model::reset();
}

}  // namespace fabricvp::hca
