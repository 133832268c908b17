// SPDX-License-Identifier: Apache-2.0
// The instruction cache that a few compute units share. It holds decoded lines, found by virtual address; misses are
// translated (by a small TLB of its own, then by the GPU's) and read at the line's point of coherence. The first use of
// a line asks for the next one, so that straight code waits once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/clock_domain.h"
#include "base/growing_ring.h"
#include "base/large_pages.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "gpu/lanes/lane_op.h"
#include "gpu/memory/vector_memory.h"

namespace fabricvp::gpu {

struct instruction_cache_params {
    byte_size size{32 << 10};
    std::uint64_t ways = 4;
    cycles latency{20};  ///< from a miss to its request, and from the response to the first instruction
    std::uint64_t tlb_entries = 16;
    bool prefetch = true;
    void describe(parameter_visitor& v);
};

/// 16 instructions, ready for the lane engine.
struct decoded_line {
    static constexpr std::uint64_t nothing = ~std::uint64_t{0};
    std::uint64_t address = nothing;  ///< virtual
    std::uint32_t address_space = 0;
    std::uint32_t last_used = 0;
    bool fresh = false;         ///< not used yet
    std::uint64_t touches = 0;  ///< registers that any of the instructions reads or writes, bit n for row n
    std::array<lane_op, line_instructions> ops;
};

/// Who waits for lines (a compute unit).
class fetch_client {
public:
    /// The line is there, or `fault` says why it cannot be.
    virtual void fetched(std::uint32_t address_space, std::uint64_t line, memory_fault fault) = 0;

protected:
    ~fetch_client() = default;
};

class instruction_cache final : public model, private line_client, private translation_client {
public:
    const instruction_cache_params params;
    unsigned gpu = 0, number = 0;  ///< of the GPU, and among its first-level caches

    counter hits{*this, "hits", "1", "lines found"};
    counter misses{*this, "misses", "1", "lines requested for a wavefront that waits"};
    counter prefetches{*this, "prefetches", "1", "lines requested ahead"};
    counter walks{*this, "translations", "1", "pages looked up outside"};

    /// \throws std::invalid_argument if size and ways do not give a power of two of sets
    instruction_cache(const sc_core::sc_module_name& name, const instruction_cache_params& params,
                      const clock_domain& clock, translator& translations, line_target& memory);

    /// The line at a virtual address, or null.
    const decoded_line* find(std::uint32_t address_space, std::uint64_t line) {
        decoded_line* const set = &m_lines[(line / line_bytes & (m_sets - 1)) * m_ways];
        for (unsigned way = 0; way < m_ways; ++way) {
            auto& l = set[way];
            if (l.address != line || l.address_space != address_space) continue;
            ++hits;
            l.last_used = ++m_clock;
            if (l.fresh) used_first(l);
            return &l;
        }
        return nullptr;
    }
    /// Asks for a line that find() did not find; `client` hears fetched() later, never inside this call.
    void request(std::uint32_t address_space, std::uint64_t line, fetch_client& client);
    /// Forgets lines and translations; lines under way are not kept either.
    void invalidate();
    void reset() override;

private:
    struct miss {
        std::uint64_t line = 0;
        std::uint32_t address_space = 0;
        std::uint32_t generation = 0;
        bool in_flight = false;
        memory_fault fault = memory_fault::none;
        std::vector<fetch_client*> waiting;
        line_request_ptr request;
    };
    struct page {
        std::uint64_t virtual_page, physical;
        std::uint32_t address_space;
    };
    static constexpr std::uint64_t page_bytes = 4096;

    void translated(std::uint64_t virtual_page, std::uint64_t physical, memory_fault fault,
                    std::uint64_t cookie) override;
    void line_done(line_request& request) override;
    void used_first(decoded_line& l);
    miss* find_miss(std::uint32_t address_space, std::uint64_t line);
    unsigned begin(std::uint32_t address_space, std::uint64_t line);
    void send(unsigned index, std::uint64_t physical_page);
    void response_received(unsigned index, memory_fault fault);
    void keep(const miss& m);
    void finish();

    const clock_domain& m_clock_domain;
    translator& m_translator;
    line_target& m_memory;
    std::uint64_t m_sets;
    unsigned m_ways;
    large_page_vector<decoded_line> m_lines;
    std::vector<page> m_pages;
    std::size_t m_next_page = 0;
    std::vector<miss> m_misses;
    growing_ring<std::pair<ticks, unsigned>> m_finished;  // misses whose responses have come, oldest first
    pool<line_request> m_requests;
    std::uint32_t m_clock = 0, m_generation = 0;
    calendar_event m_finish{method<&instruction_cache::finish>, this};
};

}  // namespace fabricvp::gpu
