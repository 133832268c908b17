// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock_domain.h"
#include "base/growing_ring.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/spans.h"
#include "base/statistics.h"
#include "gpu/memory/translation.h"

namespace fabricvp::gpu {

struct gmmu_params {
    std::uint64_t walkers = 16;
    cycles latency{20};                     ///< of a walk, beside its reads
    cycles level_latency{0};                ///< least of a level, its read included
    std::uint64_t walk_cache_entries = 64;  ///< for each of the three upper levels
    void describe(parameter_visitor& v);
};

/// Walks page tables of Sv48 format that lie in memory, wherever: its reads are line requests like others, marked
/// `page_table`. Non-leaf entries are kept in a page-walk cache, leaves in the TLBs. Leaves of 1 GiB and 512 GiB count
/// as the 2 MiB of them that are asked for. Accessed and dirty bits are not written.
class gmmu final : public model, private line_client {
public:
    const gmmu_params params;
    static constexpr unsigned address_spaces = 16;

    counter walks{*this, "walks", "1", "page-table walks"};
    counter reads{*this, "reads", "1", "page-table entries read from memory"};
    counter walk_cache_hits{*this, "walk_cache_hits", "1", "levels skipped by the page-walk cache"};
    counter demand_faults{*this, "demand_faults", "1", "walks that waited for the driver to map the page"};
    counter faults{*this, "faults", "1", "walks that found no page"};
    counter read_critical{*this, "read_critical", "1", "walks that a load or an instruction fetch waited for"};
    histogram walk_latency{*this, "walk_latency", "ps", "of a walk from its start"};
    histogram walk_queueing{*this, "walk_queueing", "ps", "waiting for a free walker"};

    span_stage queue_span{*this, "queue"}, walk_span{*this, "walk"};

    gmmu(const sc_core::sc_module_name& name, const gmmu_params& params, const clock_domain& clock,
         line_target& memory);

    /// Physical address of an address space's root table. \throws std::out_of_range
    void set_root(std::uint32_t space, std::uint64_t table);
    /// Forgets what the page-walk cache holds of an address space.
    void invalidate(std::uint32_t space);

    /// Starts a walk, or queues it. The client hears page_translated() later. \param read_critical a load or an
    /// instruction fetch waits for it
    void walk(std::uint32_t space, std::uint64_t page, bool read_critical, page_client& client, std::uint64_t cookie);
    /// A load or an instruction fetch has joined those that wait for a page: reads of its walk that have not left yet
    /// are on the read critical path.
    void make_read_critical(std::uint32_t space, std::uint64_t page);
    bool busy() const { return m_idle.size() < m_walkers.size(); }
    /// The same in no time. \param read reads an entry at a physical address \returns false if there is no page
    bool debug_walk(std::uint32_t space, std::uint64_t page, translation& to,
                    const std::function<bool(std::uint64_t physical, std::uint64_t& entry)>& read) const;

    /// A page that a walk waits for, each once. \returns false if there is none that has not been asked for
    bool pop_demand_fault(std::uint32_t& space, std::uint64_t& page);
    /// Walks that wait for pages try again.
    void retry_demand_faults();

    void reset() override;

private:
    static constexpr unsigned top_level = 3;
    struct job {
        std::uint32_t space = 0;
        std::uint64_t page = 0;
        bool read_critical = false;
        page_client* client = nullptr;
        std::uint64_t cookie = 0;
        ticks asked = 0;
    };
    struct walker {
        explicit walker(gmmu& m) : unit(m) {}
        void read() { unit.read(*this); }
        void follow() { unit.follow(*this); }
        gmmu& unit;
        job work;
        unsigned level = 0;
        std::uint64_t table = 0;
        bool stale = false;  // its address space was invalidated meanwhile
        ticks begin = 0;
        ticks read_at = 0;        // when the present level's entry was asked for
        std::uint64_t entry = 0;  // what it holds
        calendar_event start{method<&walker::read>, this};
        calendar_event entry_taken{method<&walker::follow>, this};
    };
    struct cached_table {
        std::uint64_t key = 0, table = 0, used = 0;
    };

    /// What an entry of a table of that level says. \returns true if it is a leaf or a fault, false if `to.physical` is
    /// the next table
    static bool interpret(std::uint64_t entry, unsigned level, std::uint64_t page, translation& to);
    void begin(walker& w, const job& j);
    void read(walker& w);
    void follow(walker& w);
    void line_done(line_request& request) override;
    void finish(walker& w, const translation& t);
    void wait_for_page(walker& w);
    void release(walker& w);
    bool look_up(std::uint32_t space, std::uint64_t page, unsigned level, std::uint64_t& table);
    void keep(const walker& w, std::uint64_t table);
    static std::uint64_t key_of(std::uint32_t space, std::uint64_t page, unsigned level) {
        return (std::uint64_t{space} + 1) << 36 | page >> 9 * level;
    }

    ticks m_latency, m_level_latency;
    line_target& m_memory;
    pool<line_request> m_requests;
    std::array<std::uint64_t, address_spaces> m_roots{};
    std::array<std::vector<cached_table>, top_level>
        m_cached;  // [n]: tables of level n, by what of the page number leads there
    std::uint64_t m_clock = 0;
    std::vector<std::unique_ptr<walker>> m_walkers;
    std::vector<walker*> m_idle;
    growing_ring<job> m_queue;
    std::vector<job> m_waiting;  // for pages that the driver is to map
    std::size_t m_asked = 0;     // of these, how many the driver knows
    std::uint64_t m_epoch = 0;
};

}  // namespace fabricvp::gpu
