// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "base/growing_ring.h"
#include "gpu/memory/access_state.h"

namespace fabricvp::gpu {

/// Lines of a compute unit's accesses return to its registers in the order in which they were translated, however
/// memory serves them. It holds so many lines, from translation to return.
class reorder_buffer {
public:
    /// \param lines that it holds; 0: none, lines return as they come
    explicit reorder_buffer(std::uint64_t lines) : m_capacity(lines) {}

    bool in_use() const { return m_capacity != 0; }
    bool full() const { return in_use() && m_lines.size() >= m_capacity; }
    /// The next line of an access enters; lines of an access enter one behind the other.
    void enter(access_state& state, unsigned transaction) {
        if (transaction == 0) state.reorder_first = m_next;
        ++m_next;
        m_lines.push_back({&state, 0, false});
    }
    /// What a line brings has come, and reaches the registers at `ready` unless one before it comes later.
    void complete(const access_state& state, unsigned transaction, ticks ready) {
        auto& line = m_lines[static_cast<std::size_t>(state.reorder_first + transaction - (m_next - m_lines.size()))];
        line.ready = ready;
        line.complete = true;
    }
    /// The oldest line's access, if the line has come, which leaves; null: it has not. \param ready becomes when the
    /// line reaches the registers
    access_state* pop(ticks& ready) {
        if (m_lines.empty() || !m_lines.front().complete) return nullptr;
        m_returned = std::max(m_returned, m_lines.front().ready);
        ready = m_returned;
        return m_lines.take_front().state;
    }
    void clear() { m_lines.clear(); }

private:
    struct entry {
        access_state* state;
        ticks ready;
        bool complete;
    };
    const std::uint64_t m_capacity;
    growing_ring<entry> m_lines;
    std::uint64_t m_next = 0;  // number of the next line that enters
    ticks m_returned = 0;      // when the last line that has left reaches the registers
};

}  // namespace fabricvp::gpu
