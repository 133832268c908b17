// SPDX-License-Identifier: Apache-2.0
#include "platform/gdb/breakpoint_table.h"

namespace fabricvp::gdb {

using riscv::watch_kind;

breakpoint_table::entry breakpoint_table::make(kind k, std::uint64_t address, std::uint64_t size) {
    return {k, address, k == kind::software || k == kind::hardware ? 0 : size};
}

void breakpoint_table::apply(const entry& e, bool inserted) {
    const auto [k, address, size] = e;
    for (auto* t : m_threads) {
        if (k == kind::software || k == kind::hardware) {
            const bool hardware = k == kind::hardware;
            inserted ? t->insert_breakpoint(address, hardware) : t->remove_breakpoint(address, hardware);
        } else {
            const auto w = k == kind::write  ? watch_kind::write
                           : k == kind::read ? watch_kind::read
                                             : watch_kind::access;
            inserted ? t->insert_watchpoint(address, size, w) : t->remove_watchpoint(address, size, w);
        }
    }
}

bool breakpoint_table::insert(kind k, std::uint64_t address, std::uint64_t size) {
    const bool watch = k != kind::software && k != kind::hardware;
    if (watch && (size == 0 || size > max_watch_bytes || address + (size - 1) < address)) return false;
    const auto e = make(k, address, size);
    if (m_entries.count(e)) return true;
    if (m_entries.size() == max_entries) return false;
    m_entries.insert(e);
    apply(e, true);
    return true;
}

bool breakpoint_table::remove(kind k, std::uint64_t address, std::uint64_t size) {
    const auto e = make(k, address, size);
    if (!m_entries.erase(e)) return false;
    apply(e, false);
    return true;
}

void breakpoint_table::remove_all() {
    for (const auto& e : m_entries) apply(e, false);
    m_entries.clear();
}

bool breakpoint_table::breaks_at(std::uint64_t address) const {
    return m_entries.count({kind::software, address, 0}) || m_entries.count({kind::hardware, address, 0});
}

bool breakpoint_table::watches(std::uint64_t address) const {
    for (const auto& [k, base, size] : m_entries)
        if (size && address - base < size) return true;
    return false;
}

}  // namespace fabricvp::gdb
