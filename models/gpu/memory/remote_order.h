// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/memory/access_state.h"

namespace fabricvp::gpu {

/// Keeps a wavefront's accesses to one line of remote memory in order: on the way to this GPU's own L2 nothing
/// overtakes, but between GPUs packets of different classes may. A piece that conflicts with one under way is parked.
/// Lanes of one access need no order. Another wavefront's fetch of the line may be performed before a write that was
/// sent earlier; so the L1 cache must release the line once more when the write is acknowledged.
///
/// Posted writes keep order among each other, and reads stay behind them. They may overtake what waits for a response,
/// though: so they are never under way here, and wait for reads and atomics alone.
///
/// What is under way stands in a table of open addresses, by line and wavefront; it allocates only when there is more
/// than there has ever been.
class remote_order {
public:
    /// \returns true if the piece may go (leave() must follow); otherwise it is parked
    bool enter(access_state& state, unsigned transaction, bool write) {
        if (2 * (m_count + 1) > m_entries.size()) grow();
        entry& e = m_entries[find(state.transactions[transaction].line, state.access->wavefront)];
        if (!e.used()) {
            ++m_count;
            e.line = state.transactions[transaction].line;
            e.wavefront = state.access->wavefront;
        }
        const bool conflict = e.writes || (write && e.reads);
        if (!e.parked.empty() || (conflict && e.serial != state.serial)) {
            e.parked.push(state.ref(transaction));
            return false;
        }
        ++(write ? e.writes : e.reads);
        e.serial = state.serial;
        state.ordered |= std::uint64_t{1} << transaction;
        return true;
    }
    /// \returns true if the piece of a posted write may go; otherwise it is parked
    bool enter_posted(access_state& state, unsigned transaction) {
        if (m_entries.empty()) return true;
        entry& e = m_entries[find(state.transactions[transaction].line, state.access->wavefront)];
        if (!e.used() || (e.parked.empty() && e.serial == state.serial)) return true;
        e.parked.push(state.ref(transaction));
        return false;
    }
    /// \returns pieces to be tried again
    transaction_queue leave(access_state& state, unsigned transaction, bool write) {
        state.ordered &= ~(std::uint64_t{1} << transaction);
        const std::size_t at = find(state.transactions[transaction].line, state.access->wavefront);
        entry& e = m_entries[at];
        --(write ? e.writes : e.reads);
        if (e.used()) return {};
        const transaction_queue again = e.parked;
        erase(at);
        return again;
    }
    void clear() {
        m_count = 0;
        for (auto& e : m_entries) e = {};
    }
    /// Lines and wavefronts that have something under way.
    std::size_t size() const { return m_count; }

private:
    struct entry {
        std::uint64_t line = 0;
        std::uint32_t wavefront = 0;
        std::uint32_t reads = 0, writes = 0;  // under way
        std::uint64_t serial = 0;             // of the access that entered last
        transaction_queue parked;
        bool used() const { return (reads | writes) != 0; }
    };
    std::size_t home_of(std::uint64_t line, std::uint32_t wavefront) const {
        const std::uint64_t key = line / line_bytes ^ std::uint64_t{wavefront} * 0xd6e8feb86659fd93u;
        return (key * 0x9e3779b97f4a7c15u) >> m_shift;
    }
    std::size_t mask() const { return m_entries.size() - 1; }
    /// Where the key is, or the free place where it belongs.
    std::size_t find(std::uint64_t line, std::uint32_t wavefront) const {
        std::size_t at = home_of(line, wavefront);
        while (m_entries[at].used() && (m_entries[at].line != line || m_entries[at].wavefront != wavefront))
            at = (at + 1) & mask();
        return at;
    }
    /// Entries behind move up, so that a search never has to look beyond a free place.
    void erase(std::size_t hole) {
        --m_count;
        for (std::size_t at = (hole + 1) & mask(); m_entries[at].used(); at = (at + 1) & mask()) {
            const std::size_t home = home_of(m_entries[at].line, m_entries[at].wavefront);
            if (((at - home) & mask()) < ((at - hole) & mask())) continue;  // its home lies behind the hole
            m_entries[hole] = m_entries[at];
            hole = at;
        }
        m_entries[hole] = {};
    }
    void grow() {
        const auto old = std::exchange(m_entries, std::vector<entry>(m_entries.empty() ? 64 : 2 * m_entries.size()));
        m_shift = 64 - static_cast<unsigned>(__builtin_ctzll(m_entries.size()));
        for (const auto& e : old)
            if (e.used()) m_entries[find(e.line, e.wavefront)] = e;
    }

    std::vector<entry> m_entries;  // a power of two, at most half of them used
    std::size_t m_count = 0;
    unsigned m_shift = 64;
};

}  // namespace fabricvp::gpu
