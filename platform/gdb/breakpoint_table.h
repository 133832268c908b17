// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "riscv/hart_debug.h"

namespace fabricvp::gdb {

/// The breakpoints and watchpoints of one debugger. Every thread of the process gets each of them. Inserting one twice
/// is the same as once, as the protocol asks.
class breakpoint_table {
public:
    /// Z packet types.
    enum class kind : unsigned { software = 0, hardware = 1, write = 2, read = 3, access = 4 };
    static constexpr std::size_t max_entries = 4096;
    static constexpr std::uint64_t max_watch_bytes = 0x10000;

    explicit breakpoint_table(const std::vector<riscv::debug_target*>& threads) : m_threads(threads) {}

    /// \param size bytes to watch; of no meaning for breakpoints.
    /// \returns false if the table is full, or the watched range is empty, too long or wraps.
    bool insert(kind k, std::uint64_t address, std::uint64_t size);
    /// \returns false if there is no such entry.
    bool remove(kind k, std::uint64_t address, std::uint64_t size);
    void remove_all();

    bool breaks_at(std::uint64_t address) const;
    bool is_hardware(std::uint64_t address) const { return m_entries.count({kind::hardware, address, 0}); }
    bool watches(std::uint64_t address) const;
    std::size_t size() const { return m_entries.size(); }

private:
    using entry = std::tuple<kind, std::uint64_t, std::uint64_t>;  // size is 0 for breakpoints

    static entry make(kind k, std::uint64_t address, std::uint64_t size);
    void apply(const entry& e, bool inserted);

    const std::vector<riscv::debug_target*>& m_threads;
    std::set<entry> m_entries;
};

}  // namespace fabricvp::gdb
