// SPDX-License-Identifier: Apache-2.0
// A first-level cache with data: the L1 vector cache of a compute unit, and the scalar cache that several share.
// Write-through without allocation: a store updates a line that is there. A fetch is *open* as long as what it brings
// may be kept and shared: an acquire, a store or an atomic on its line by this unit closes it, so that no later load
// sees what was read before. Loads that came earlier still get their data from a closed fetch.
#pragma once

#include <array>
#include <memory>
#include <set>
#include <vector>

#include "base/clock_domain.h"
#include "base/fault.h"
#include "base/growing_ring.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/spans.h"
#include "base/statistics.h"
#include "gpu/memory/access_state.h"
#include "gpu/memory/cell_flip.h"
#include "gpu/memory/l1_lines.h"
#include "gpu/memory/memory_router.h"
#include "gpu/memory/reuse_predictor.h"

namespace fabricvp::gpu {

struct vector_cache_params {
    byte_size size{16 << 10};
    std::uint64_t ways = 4;
    std::uint64_t mshrs = 32;
    cycles latency{20};           ///< hit: lookup to registers
    cycles tag_latency{4};        ///< miss: lookup to request
    cycles fill_latency{4};       ///< miss: line to registers
    std::uint64_t in_flight = 0;  ///< lines, hits and stores among them; 0: no such bound
    bool reserves_ways = false;   ///< at the miss, not when the line comes
    cycles write_latency{0};      ///< of a line that has come, in which loads of it stop the cache
    bool sectored = false;        ///< fetches the sectors of 16 bytes that loads want, not lines
    bool line_pairs = false;      ///< a miss brings the other line of its 128 bytes as well
    bool trim_predictor = false;
    std::uint64_t trim_history = 1;
    bool ecc = false;  ///< a line with a wrong word is fetched again
    /// Lines that can be fetched at a time: with `line_pairs` an MSHR is for two.
    std::uint64_t fetches() const { return line_pairs ? 2 * mshrs : mshrs; }
    void describe(parameter_visitor& v);
};

class vector_cache final : public model, private line_client {
public:
    const vector_cache_params params;
    unsigned number = 0;  ///< among the first-level caches of its GPU

    counter hits{*this, "hits", "1", "loads of a line whose sectors were there"};
    counter misses{*this, "misses", "1", "loads of a line that had to be fetched"};
    counter sector_misses{*this, "sector_misses", "1", "of the misses: the line was there without the sectors"};
    counter mshr_merges{*this, "mshr_merges", "1", "loads of a line that was being fetched"};
    counter mshr_stalls{*this, "mshr_stalls", "1", "loads that waited for an MSHR"};
    counter in_flight_stalls{*this, "in_flight_stalls", "1",
                             "times that lookups stopped because `in_flight` lines were under way"};
    counter way_stalls{*this, "way_stalls", "1",
                       "loads that waited because the lines that they could replace were in use"};
    counter write_stalls{*this, "write_stalls", "1", "loads that waited for their line to be written after a fetch"};
    counter evictions{*this, "evictions", "1", "lines given up for others"};
    counter invalidations{*this, "invalidations", "1", "times that everything was forgotten"};
    counter pair_fetches{*this, "pair_fetches", "1",
                         "with `line_pairs`: lines fetched since the other one of their 128 bytes was"};
    counter refetches{*this, "refetches", "1", "fetches repeated because the line arrived without needed sectors"};
    histogram bytes_needed{*this, "bytes_needed", "B", "bytes that lanes wanted of each line fetched"};
    counter lines_needing_16{*this, "lines_needing_16", "1",
                             "lines fetched of which lanes wanted one sector of 16 bytes"};
    counter lines_needing_32{*this, "lines_needing_32", "1", "lines fetched of which lanes wanted two sectors"};
    counter lines_needing_48{*this, "lines_needing_48", "1", "lines fetched of which lanes wanted three sectors"};
    counter lines_needing_64{*this, "lines_needing_64", "1", "lines fetched of which lanes wanted all four sectors"};
    counter corrected_errors{*this, "corrected_errors", "1", "lines with wrong bits that ECC has found, fetched again"};
    fault_kind<cell_flip_arguments> flip{*this, "flip", "bits of a line that it holds flip",
                                         [this](const auto& a) { flip_cells(a); }};
    histogram miss_latency{*this, "miss_latency", "ps", "from request to line"};

    vector_cache(const sc_core::sc_module_name& name, const vector_cache_params& params, const clock_domain& clock,
                 memory_router& router, pool<line_request>& requests);

    /// Registers one of its users.
    void add_user(transaction_client& user) { m_users.push_back(&user); }

    /// A load's lookup at `at`, which becomes when the line is taken from the cache, where it must be written first.
    /// \returns false if it must wait for an MSHR (cache_available()); otherwise its unit hears transaction_loaded(),
    /// on a hit inside this call
    bool load(access_state& state, unsigned transaction, ticks& at);
    /// Whether no further line can be under way; cache_available() comes.
    bool full() {
        if (!params.in_flight || m_in_flight < params.in_flight) return false;
        ++in_flight_stalls;
        return true;
    }
    /// A store or another access that bypasses the lines is under way, and no longer.
    void take_place() { m_in_flight += bounded(); }
    void give_place() { m_in_flight -= bounded(); }
    void store(std::uint64_t line, const std::uint8_t* data, std::uint64_t mask) {
        m_lines.update(line, data, mask);
        close(line);
    }
    /// An access passes this cache by.
    void bypass(std::uint64_t line) {
        if (m_predictor) leave(line);
        m_lines.drop(line);
        close(line);
    }
    void invalidate();
    /// For debuggers: bytes inside one line as a load would find them here. \returns false if it would have to fetch
    /// them
    bool peek(std::uint64_t address, void* to, unsigned size);

    /// Null: none.
    const reuse_predictor* predictor() const { return m_predictor.get(); }

    ticks tag_latency() const { return m_tag_latency; }
    ticks fill_latency() const { return m_fill_latency; }

    void reset() override;

private:
    static constexpr std::uint64_t closed = ~std::uint64_t{0};
    struct alignas(32) mshr {
        std::uint64_t line = 0;
        std::uint64_t bytes = 0;
        transaction_queue waiters;
    };

    void line_done(line_request& request) override;
    unsigned take_mshr(std::uint64_t line, std::uint64_t bytes);
    void fetch_pair(std::uint64_t line, transaction_ref first, ticks departure);
    void fetch(unsigned m, transaction_ref first, std::uint8_t sectors, ticks departure);
    void fill(std::uint64_t line, const std::uint8_t* data, std::uint8_t sectors, unsigned way = l1_lines::absent);
    unsigned reserved_way(std::uint64_t line) const;
    void count_needed(std::uint64_t bytes);
    void leave(std::uint64_t line);
    void flip_cells(const cell_flip_arguments& a);
    void check(std::uint64_t line);
    bool predicted_whole(const vector_access& access, const line_request& request);
    void close(std::uint64_t line);
    bool bounded() const { return params.in_flight != 0; }
    void end_hits();
    void end_writes();
    bool locked(std::uint64_t line) const;

    ticks m_latency, m_tag_latency, m_fill_latency, m_write_latency, m_cycle;
    memory_router& m_router;
    pool<line_request>& m_requests;
    std::vector<transaction_client*> m_users;
    span_stage m_hit_span{*this, "hit"};
    span_stage m_lookup_span{*this, "lookup"};
    span_stage m_fill_span{*this, "fill"};
    span_stage m_merge_span{*this, "merge"};  // waiting for what another access has asked for

    std::uint16_t& open_like(std::uint64_t line) { return m_open_by_hash[line / line_bytes % m_open_by_hash.size()]; }
    unsigned open_fetch(std::uint64_t line);
    void close_fetch(unsigned mshr);
    void close_all();

    l1_lines m_lines;
    std::set<std::uint64_t> m_faulty;              // with ECC: lines with wrong bits
    std::unique_ptr<reuse_predictor> m_predictor;  // none: whatever may be trimmed is
    std::vector<std::uint64_t> m_open;             // by MSHR: line of an open fetch, or `closed`
    std::vector<mshr> m_mshrs;
    std::vector<std::uint32_t> m_observer_ids;  // by MSHR: of its request
    std::vector<std::uint8_t> m_line_pairs;     // by MSHR: whether the line came with the other one of 128 bytes
    std::vector<unsigned> m_free;
    std::array<std::uint16_t, 256> m_open_by_hash{};  // how many of them, by the low bits of their lines
    ticks m_port = 0;                                 // when the next line can be taken in
    unsigned m_in_flight = 0;                         // lines, if they are bounded
    struct line_until {
        std::uint64_t line;
        ticks end;
    };
    growing_ring<line_until> m_hits;     // of them those that are being read
    growing_ring<line_until> m_writing;  // fetched lines that are being written
    calendar_event m_hit_end{method<&vector_cache::end_hits>, this};
    calendar_event m_write_end{method<&vector_cache::end_writes>, this};
    std::uint64_t m_epoch = 0;  // answers to what a reset has dropped are recognised by it
};

}  // namespace fabricvp::gpu
