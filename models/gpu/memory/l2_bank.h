// SPDX-License-Identifier: Apache-2.0
// One bank of the L2 cache, the point of coherence for its lines. Requests are performed in the order in which they
// arrive, at their arrival: reads sample and writes commit then. What the bank works out in closed form is when the
// answer is there: after the requests before it, the lookup, and on a miss the memory channel. A read of a line that is
// being fetched waits for that fetch (it shares the MSHR). A miss that finds all MSHRs taken, or whose victim is dirty
// while all write-backs are under way, waits, looked up, for the first that ends; hits pass it, requests for its line
// and other misses queue behind it. A write of a whole line fetches nothing and needs no MSHR.
// A write that asks for it (`at_service`) commits when its turn has come in that reckoning, so that requests that
// arrive until then still see what was there before.
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "base/clock_domain.h"
#include "base/growing_ring.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/spans.h"
#include "base/statistics.h"
#include "gpu/memory/cell_flip.h"
#include "gpu/memory/gpu_memory.h"
#include "gpu/memory/hbm.h"
#include "gpu/memory/interleaving.h"
#include "gpu/memory/l2_errors.h"
#include "gpu/memory/l2_reservations.h"
#include "gpu/memory/l2_tags.h"
#include "gpu/memory/line_bytes.h"

namespace fabricvp::gpu {

struct l2_params {
    byte_size size{2 << 20};  ///< all banks together
    std::uint64_t banks = 16;
    std::uint64_t ways = 16;
    std::uint64_t mshrs = 64;  ///< a bank
    std::uint64_t write_backs = 128;
    byte_size interleave{128};   ///< bytes after which the next bank takes over
    bool hashed = false;         ///< see interleaving
    cycles latency{50};          ///< of a lookup, data included
    cycles service{1};           ///< from one request to the next
    std::uint64_t requests = 1;  ///< taken at a time
    cycles atomic_latency{4};    ///< more for an atomic
    std::uint64_t atomic_units = 16;
    std::uint64_t locked_ways = 8;  ///< most lines of a set that may be locked
    bool ecc = false;               ///< see l2_errors
    cycles ecc_latency{2};          ///< of a lookup with ECC
    void describe(parameter_visitor& v);
};

/// What an L2 cache and its banks work with.
struct l2_wiring {
    const clock_domain& clock;
    ticks response_latency;  ///< from a bank back to the requester
    gpu_memory& memory;
    hbm& dram;
    line_request_scheduler& scheduler;
};

/// Lines whose contents the harts of the command processor wait for, by their keys (key_of).
struct l2_queue_lines {
    std::uint64_t begin = 0, bytes = 0;
    bool lock = false;  ///< others' stores lock them, the harts' stores unlock them
    bool holds(std::uint64_t offset) const { return offset - begin < bytes; }
};

class coherent_port;

/// By what lines of memory that is shared with the host are told from those of device memory at the same offset.
inline constexpr std::uint64_t shared_line = std::uint64_t{1} << 52;
constexpr std::uint64_t key_of(std::uint64_t physical) {
    return offset_of(physical) | (where(physical) == GPU_PA_SYSTEM ? shared_line : 0);
}

class l2_bank final : public model {
public:
    const l2_params params;

    counter reads{*this, "reads", "1", "reads of a line"};
    counter writes{*this, "writes", "1", "writes to a line"};
    counter atomics{*this, "atomics", "1", "requests with atomics, load-reserved and store-conditional"};
    counter atomic_operations{*this, "atomic_operations", "1",
                              "operations of atomics on words, of which a request has one or more"};
    counter hits{*this, "hits", "1", "requests for a line that was there"};
    counter misses{*this, "misses", "1", "requests for a line that was not there"};
    counter mshr_merges{*this, "mshr_merges", "1", "hits on a line that was still being fetched"};
    counter mshr_stalls{*this, "mshr_stalls", "1",
                        "requests that waited, themselves or behind others, for an MSHR or a write-back"};
    counter evictions{*this, "evictions", "1", "lines given up for others"};
    counter writebacks{*this, "writebacks", "1", "dirty lines written to memory"};
    counter queueing{*this, "queueing", "ps", "time that requests waited for the bank, an MSHR or a write-back"};
    counter locks{*this, "locks", "1", "lines locked"};
    counter lock_rejections{*this, "lock_rejections", "1", "locks refused because of the cap of the set"};
    counter queue_reads{*this, "queue_reads", "1", "reads of lines of queues by the command processor"};
    counter queue_misses{*this, "queue_misses", "1", "those whose line was not there"};
    counter queue_evictions{*this, "queue_evictions", "1", "lines of queues given up for others"};
    counter page_table_reads{*this, "page_table_reads", "1", "reads by page-table walks"};
    l2_errors errors;
    fault_kind<cell_flip_arguments> flip{*this, "flip", "bits of a line of device memory that it holds flip",
                                         [this](const auto& a) { flip_cells(a); }};

    /// \param bank its number among the banks
    l2_bank(const sc_core::sc_module_name& name, const l2_params& params, unsigned bank, const l2_wiring& to,
            const interleaving& over_banks, l2_reservations& reservations, const l2_queue_lines& queue_lines);

    /// A request has arrived.
    void arrive(const line_request_ptr& request);
    /// Whether the line at this offset is there, and whether it is locked (for debuggers and tests).
    bool holds(std::uint64_t offset) const { return m_tags.holds(index_of(offset)); }
    bool locked(std::uint64_t offset);
    void unlock_all() { m_tags.unlock_all(); }
    /// From now on requests for lines of shared memory may arrive.
    void attach_coherent_port(coherent_port& port) { m_shared = &port; }
    /// Another agent has written a line of shared memory.
    void drop_copy(std::uint64_t line);
    /// Tells the host that a request will arrive.
    void prefetch(std::uint64_t offset) const { m_tags.prefetch(index_of(offset)); }

    void reset() override;

private:
    /// When a request is looked up, and may go on behind that.
    struct lookup {
        ticks begin, end;
        ticks go;  ///< not before `end`; later where it has waited for an MSHR or a write-back
    };
    /// A request that waits, looked up.
    struct stalled {
        line_request_ptr request;
        ticks end;            ///< of its lookup
        std::uint64_t index;  ///< of its line
        bool misses;          ///< certainly: nothing that waited before it can bring its line
    };
    /// What is under way at the memory, by when it ends.
    class under_way {
    public:
        explicit under_way(std::size_t limit) : m_limit(limit) { m_ends.reserve(limit); }
        /// Forgets what has ended. \returns whether another one may begin at this time
        bool available(ticks at) {
            if (!m_ends.empty() && m_ends.front() <= at) end_until(at);
            return m_ends.size() < m_limit;
        }
        ticks first() const { return m_ends.front(); }
        void add(ticks end);
        void clear() { m_ends.clear(); }

    private:
        void end_until(ticks at);

        std::size_t m_limit;
        std::vector<ticks> m_ends;  // a heap, earliest on top
    };
    bool may_pass(const line_request& request, std::uint64_t index) const;
    bool serve(const line_request_ptr& request, const lookup& times);
    bool mshr_available(ticks at);
    bool victim_can_leave(std::uint64_t index, ticks at);
    ticks begin_lookup(std::uint64_t rounds);
    std::uint64_t rounds_of(const line_request& request) const {
        return request.operands ? (request.operands + params.atomic_units - 1) / params.atomic_units : 1;
    }
    static std::uint64_t key_in_tags(const line_request& request);
    std::uint32_t& stalled_of(std::uint64_t index) { return m_stalled_lines[index % m_stalled_lines.size()]; }
    ticks fetch(const line_request& request, std::uint64_t index, ticks at, std::size_t victim);
    void evict(std::size_t victim, ticks at);
    void perform(line_request& request, std::size_t at);
    /// Performs one operation after the other of an atomic that has several, by perform_one(offset in the line,
    /// operand).
    template <class F>
    void perform_operands(line_request& request, F perform_one);
    void commit(const line_request_ptr& request);
    void flip_cells(const cell_flip_arguments& a);
    bool lock(std::size_t at);
    void unlock(line_request& request, std::uint64_t index);
    void watch(const line_request& request, std::size_t at, bool hit);
    void retry();
    void expect_stalled() const;
    bool serve_shared(const line_request_ptr& request, const lookup& times);
    void account(line_request& request, const lookup& times, ticks done);
    ticks reach_shared(const line_request& request, std::uint64_t index, std::size_t at, ticks looked_up);
    void perform_shared(line_request& request, std::uint64_t key, std::size_t at);
    void fill_copy(std::uint64_t index, ticks ready);
    std::uint64_t index_of(std::uint64_t offset) const;
    std::uint64_t offset_of_index(std::uint64_t index) const;

    ticks m_latency, m_service, m_atomic, m_response_latency;
    unsigned m_bank, m_chunk_bits;  // lines of a chunk in one bank
    const interleaving& m_interleaving;
    gpu_memory& m_memory;
    hbm& m_dram;
    l2_reservations& m_reservations;
    const l2_queue_lines& m_queue_lines;
    line_request_scheduler& m_scheduler;
    span_stage m_queue_span{*this, "queue"};
    span_stage m_lookup_span{*this, "lookup"};
    span_stage m_fetch_span{*this, "fetch"};
    span_stage m_atomic_span{*this, "atomic"};
    span_stage m_response_span{*this, "response"};

    coherent_port* m_shared = nullptr;
    l2_tags m_tags;
    ticks m_free = 0;  // when the next request can be looked up, if no more fit beside the last one
    ticks m_taken_at = 0;
    std::uint64_t m_taken = 0;  // requests that are looked up together, from m_taken_at on
    under_way m_fetches, m_write_backs;
    growing_ring<stalled> m_stalled;                    // in order of arrival
    std::array<std::uint32_t, 1024> m_stalled_lines{};  // how many of them, by the low bits of their lines
    calendar_event m_retry{method<&l2_bank::retry>, this};
};

template <class F>
void l2_bank::perform_operands(line_request& r, F perform_one) {
    for (auto left = r.byte_mask; left;) {
        const auto at = static_cast<unsigned>(__builtin_ctzll(left));
        std::uint64_t operand = 0;
        std::memcpy(&operand, &r.data[at], r.size);
        const std::uint64_t old = perform_one(at, operand);
        std::memcpy(&r.data[at], &old, r.size);
        left &= ~bytes_of(at, r.size);
    }
    atomic_operations += r.operands;
    r.valid_sectors = sectors_of(r.byte_mask);
}

}  // namespace fabricvp::gpu
