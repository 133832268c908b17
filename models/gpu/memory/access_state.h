// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "base/large_pages.h"
#include "gpu/memory/coalescer.h"

namespace fabricvp::gpu {

struct access_state;

/// Hears of the pieces of its accesses (a vector memory unit).
class transaction_client {
public:
    /// A load's piece: `line` holds its bytes, which reach the registers at `ready`; or `fault` says why not.
    virtual void transaction_loaded(access_state& state, unsigned transaction, const std::uint8_t* line,
                                    memory_fault fault, ticks ready) = 0;
    /// A cache that could not take a piece can again.
    virtual void cache_available() = 0;

protected:
    ~transaction_client() = default;
};

/// A vector access that a unit works on.
struct alignas(wavefront_lanes) access_state : on_large_pages {
    // What each piece needs lies in one line of the host.
    transaction_client* unit = nullptr;
    vector_access_ptr access;
    unsigned pending = 0;       ///< pieces that have not ended, and one more until all are translated
    unsigned count = 0;         ///< pieces as the coalescer has made them
    unsigned total = 0;         ///< with those that were cut out of them, which stand behind
    unsigned translated = 0;    ///< pieces that translation has dealt with, done or waiting
    std::uint64_t bypass = 0;   ///< bit n: transaction n bypasses the L1 cache
    std::uint64_t ordered = 0;  ///< bit n: piece n is counted in remote_order
    ticks lookup_at = 0;        ///< earliest time of the first lookup
    ticks ready = 0;            ///< when what is there so far has reached the registers
    std::uint64_t exact = 0;    ///< bit n: piece n is one lane's access to a device, and asks for its bytes alone
    std::uint64_t serial = 0;
    access_state* next_free = nullptr;
    std::uint64_t reorder_first = 0;  ///< number of its first line in the reorder buffer
    unsigned reordered = 0;           ///< pieces that are in the reorder buffer or have left it
    bool spanned = false;             ///< spans were recorded when it was issued: `since` counts
    alignas(64) coalescer::transactions transactions;
    std::array<ticks, wavefront_lanes> since;  ///< for spans: since when a piece waits for what it waits for

    /// Whether the spans of its pieces are to be recorded.
    bool records_spans() const { return spanned && span_recorder::on(); }

    transaction_ref ref(unsigned transaction) { return reinterpret_cast<transaction_ref>(this) | transaction; }
    static access_state& of(transaction_ref r) {
        return *reinterpret_cast<access_state*>(r & ~transaction_ref{wavefront_lanes - 1});
    }
    static unsigned transaction_of(transaction_ref r) { return static_cast<unsigned>(r & (wavefront_lanes - 1)); }
};

/// Pieces that wait, in order.
class transaction_queue {
public:
    bool empty() const { return m_first == 0; }
    transaction_ref front() const { return m_first; }
    void push(transaction_ref r) {
        link(r) = 0;
        (m_first ? link(m_last) : m_first) = r;
        m_last = r;
    }
    void push_front(transaction_ref r) {
        link(r) = m_first;
        if (!m_first) m_last = r;
        m_first = r;
    }
    /// Puts others before all that wait.
    void prepend(const transaction_queue& others) {
        if (others.empty()) return;
        link(others.m_last) = m_first;
        if (!m_first) m_last = others.m_last;
        m_first = others.m_first;
    }
    transaction_ref pop() {
        const transaction_ref r = m_first;
        m_first = link(r);
        return r;
    }
    void clear() { m_first = 0; }

private:
    static transaction_ref& link(transaction_ref r) {
        return access_state::of(r).transactions[access_state::transaction_of(r)].next;
    }
    transaction_ref m_first = 0, m_last = 0;
};

}  // namespace fabricvp::gpu
