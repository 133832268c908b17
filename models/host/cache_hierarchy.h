// SPDX-License-Identifier: Apache-2.0
// Effective CPI with tags-only caches: a hart's own cycles per instruction stand for its core, and this model adds what
// misses cost. Defaults are the host of ComP-Net (PACT 2018): 4 GHz, L1 64 KiB 2-way 2 cycles, L2 2 MiB 8-way 8 cycles,
// L3 16 MiB 16-way 20 cycles, DDR4-2133 on 8 channels.
#pragma once

#include <functional>
#include <vector>

#include "base/clock_domain.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "host/cache_tags.h"
#include "host/dram_channels.h"
#include "riscv/memory_timing.h"

namespace fabricvp::host {

struct cache_shape {
    byte_size size{0};
    std::uint64_t ways = 1;
    void describe(parameter_visitor& v);
};

struct cache_params : cache_shape {
    cycles latency{1};
    void describe(parameter_visitor& v);
};

struct cache_hierarchy_params {
    frequency clock{4'000'000'000};
    byte_size line{64};
    cache_shape l1{{64 << 10}, 2};            ///< of data; a hit costs what the hart's cpi says
    cache_params l2{{{2 << 20}, 8}, {8}};     ///< a hart's own
    cache_params l3{{{16 << 20}, 16}, {20}};  ///< shared by all
    dram_channels_params memory;
    double hidden = 0;
    void describe(parameter_visitor& v);
};

/// Private L1 and L2 and a shared L3, all write-back. A store takes the line from the other harts; a load leaves their
/// dirty copy clean. An L1 hit is part of the core's cycles and costs nothing here.
class cache_hierarchy final : public model, public riscv::memory_timing {
public:
    const cache_hierarchy_params params;

    counter l1_hits{*this, "l1_hits", "1", "loads, stores and atomics found in L1"};
    counter l1_misses{*this, "l1_misses", "1", "accesses not found in L1"};
    counter l2_hits{*this, "l2_hits", "1", "L1 misses found in L2"};
    counter l2_misses{*this, "l2_misses", "1", "L1 misses not found in L2"};
    counter l3_hits{*this, "l3_hits", "1", "accesses to L3 that found their line"};
    counter l3_misses{*this, "l3_misses", "1", "accesses to L3 that did not"};
    counter interventions{*this, "interventions", "1", "lines taken from or cleaned in another hart's caches"};
    counter memory_reads{*this, "memory_reads", "B", "bytes read from memory"};
    counter memory_writes{*this, "memory_writes", "B", "bytes written back to memory"};
    counter stall{*this, "stall", "ps", "time for which harts stalled"};

    cache_hierarchy(const sc_core::sc_module_name& name, const cache_hierarchy_params& params, std::size_t harts);

    ticks access(std::uint64_t hart, std::uint64_t physical, unsigned size, use u, ticks at) override;
    bool hit(std::uint64_t hart, std::uint64_t physical, unsigned size, use u) override;
    bool only_hits(std::uint64_t hart, std::uint64_t physical, unsigned size, use u) const override;
    void add_hits(std::uint64_t accesses) override { l1_hits += accesses; }
    void use_again(std::uint64_t hart, std::uint64_t physical) override { m_private[hart].l1.use_again(physical); }
    void watch(std::uint64_t hart, line_watcher* watcher) override { m_private[hart].watcher = watcher; }
    /// An access to bytes, of a line as a rule, by a block that shares L3 with the harts. \param at when it gets there
    /// \returns when it has been performed there
    ticks shared_access(std::uint64_t physical, std::uint64_t size, bool writes, ticks at);
    /// Called when a hart takes a line to write it, if a block shares L3: copies that others than harts have end.
    std::function<void(std::uint64_t line, std::uint64_t size)> on_line_acquired;
    /// A device wrote these bytes: no cache has them any more.
    void invalidate(std::uint64_t physical, std::uint64_t size);
    void reset() override;

private:
    struct private_caches {
        cache_tags l1, l2;
        line_watcher* watcher = nullptr;
    };

    bool is_alone() const { return m_private.size() == 1 && !on_line_acquired; }
    ticks access_line(std::uint64_t hart, std::uint64_t line, use u, ticks at);
    void announce(const private_caches& c, std::uint64_t line) const {
        if (c.watcher) c.watcher->line_changes(line, params.line);
    }
    bool snoop_other_harts(std::uint64_t hart, std::uint64_t line, bool write, ticks at);
    ticks shared_access_line(std::uint64_t line, bool writes, bool whole, ticks at);
    bool snoop_all_harts(std::uint64_t line, bool write, ticks at);
    ticks fill(std::uint64_t line, ticks at);
    void write_back_to_l2(private_caches& c, std::uint64_t line, ticks at);
    void write_back_to_l3(std::uint64_t line, ticks at);
    void evicted_from_l3(const cache_tags::result& r, ticks at);
    ticks span(const cache_params& c) const { return m_clock.span(c.latency); }

    clock_domain m_clock;
    std::vector<private_caches> m_private;  // by hart
    cache_tags m_l3;
    dram_channels m_memory;
};

}  // namespace fabricvp::host
