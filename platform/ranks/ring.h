// SPDX-License-Identifier: Apache-2.0
// A ring of bytes in memory that two processes share: one writes records, the other one reads them.
//
// A record begins at a cache line, with a word that has its size and says that the rest is there, and a mark of the
// writer's. The reader looks at that word alone, so a short record costs one cache line that goes from core to core. It
// clears what it has read, since any line may begin a record in the next round. A message that does not fit goes in
// several records.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "platform/ranks/communicator.h"

namespace fabricvp::ranks {

/// What stands in shared memory before a ring's bytes. All zero: empty.
struct alignas(64) ring_header {
    std::atomic<std::uint64_t> consumed{0};  ///< bytes that the reader has given back, ever
};

/// Where a ring is, as one of its two processes sees it.
class ring_end {
public:
    static constexpr std::size_t line = 64;  ///< bytes; capacities are powers of two, and at least two lines

    ring_end() = default;
    ring_end(void* memory, std::size_t capacity)
        : m_header(static_cast<ring_header*>(memory)),
          m_data(static_cast<std::uint8_t*>(memory) + sizeof(ring_header)),
          m_capacity(capacity) {}
    static std::size_t bytes_needed(std::size_t capacity) { return sizeof(ring_header) + capacity; }

protected:
    using word = std::uint32_t;
    static constexpr word present = 1u << 31, last = 1u << 30, size_mask = last - 1;
    static constexpr std::size_t head = 2 * sizeof(word);
    static_assert(std::atomic<word>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

    std::uint8_t* at() const { return m_data + (m_position & (m_capacity - 1)); }
    static std::atomic<word>& word_at(std::uint8_t* where) { return *reinterpret_cast<std::atomic<word>*>(where); }
    static std::size_t lines_of(std::size_t size) { return (head + size + line - 1) / line; }

    ring_header* m_header = nullptr;
    std::uint8_t* m_data = nullptr;
    std::size_t m_capacity = 0;
    std::uint64_t m_position = 0;  ///< bytes so far
};

class ring_writer : public ring_end {
public:
    using ring_end::ring_end;

    /// Writes what there is room for of a message, from `done` on. \returns whether anything was written; the message
    /// is complete once `done` is its size and `complete` is set
    bool write(const bytes& message, std::uint32_t mark, std::size_t& done, bool& complete) {
        bool moved = false;
        while (!complete) {
            if (free_bytes() < line && !refresh()) break;
            const auto to_end = m_capacity - (m_position & (m_capacity - 1));
            const auto fits = std::min<std::size_t>(free_bytes(), to_end) - head;
            const auto size = std::min(message.size() - done, fits);
            auto* where = at();
            std::memcpy(where + sizeof(word), &mark, sizeof mark);
            if (size) std::memcpy(where + head, message.data() + done, size);
            done += size;
            complete = done == message.size();
            m_position += lines_of(size) * line;
            word_at(where).store(present | (complete ? last : 0) | static_cast<word>(size), std::memory_order_release);
            moved = true;
        }
        return moved;
    }

private:
    std::size_t free_bytes() const { return m_capacity - static_cast<std::size_t>(m_position - m_consumed); }
    bool refresh() {
        m_consumed = m_header->consumed.load(std::memory_order_acquire);
        return free_bytes() >= line;
    }

    std::uint64_t m_consumed = 0;  ///< as last seen
};

class ring_reader : public ring_end {
public:
    using ring_end::ring_end;

    /// Appends records that have come to `message`. \returns whether there were any; `complete` is set with the last
    /// one of a message
    bool read(bytes& message, std::uint32_t& mark, bool& complete) {
        bool moved = false;
        while (!complete) {
            auto* where = at();
            const auto found = word_at(where).load(std::memory_order_acquire);
            if (!(found & present)) break;
            const auto size = static_cast<std::size_t>(found & size_mask);
            std::memcpy(&mark, where + sizeof(word), sizeof mark);
            message.insert(message.end(), where + head, where + head + size);
            const auto lines = lines_of(size);
            for (std::size_t i = 0; i < lines; ++i) word_at(where + i * line).store(0, std::memory_order_relaxed);
            m_position += lines * line;
            m_header->consumed.store(m_position, std::memory_order_release);
            complete = found & last;
            moved = true;
        }
        return moved;
    }
};

}  // namespace fabricvp::ranks
