// SPDX-License-Identifier: Apache-2.0
// Protection and translation. A key names a region (an MPT entry), which has rights and addresses; its
// translation entries (MTTs) say where its pages stand. MTTs are in memory, through ICM: a line of eight is read by DMA
// when it is missed, and kept in a cache until software takes a region or context memory away.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "abi/hca_context.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/spans.h"
#include "base/statistics.h"
#include "hca/memory/bus_access.h"
#include "hca/memory/icm.h"

namespace fabricvp::hca {

struct translation_params {
    std::uint64_t mtt_lines = 2048;
    std::uint64_t mtt_ways = 8;
    void describe(parameter_visitor& v);
};

/// Rights of a region, as bits of the MPT's first word.
enum right : std::uint32_t {
    local_read = 1u << 10,
    local_write = 1u << 11,
    remote_read = 1u << 12,
    remote_write = 1u << 13,
    remote_atomic = 1u << 14
};

/// Why an access is refused.
enum class violation : std::uint8_t { none, key, domain, rights, bounds, translation };

struct region {
    bool valid = false, physical = false;
    std::uint8_t page_bits = 12;
    std::uint32_t key = 0, rights = 0, domain = 0;
    std::uint64_t start = 0, length = 0, mtt = 0;
    std::uint64_t serial = 0;  ///< of its creation: an index may be used again
};

/// Part of a range that lies in one piece on the bus.
struct bus_range {
    std::uint64_t address;
    std::uint32_t bytes;
};
using bus_ranges = std::vector<bus_range>;

/// An access to a region, as a segment of a work queue entry or a packet names it.
struct region_access {
    std::uint32_t key;
    std::uint32_t domain;
    std::uint64_t address;
    std::uint32_t bytes;
    std::uint32_t rights;  ///< all of them are needed
    bool any_domain = false;
};

class translation final : public model {
public:
    const translation_params params;

    counter mtt_hits{*this, "mtt_hits", "1", "translation entries found in the cache"};
    counter mtt_misses{*this, "mtt_misses", "1", "translation entries that were read from context memory"};
    counter mtt_drops{*this, "mtt_drops", "1", "times the cached entries were dropped, all or a region's"};
    counter violations{*this, "violations", "1", "accesses refused"};

    translation(const sc_core::sc_module_name& name, const translation_params& params, bus_access& bus, const icm& icm);

    /// \param log_entries of the table of regions
    void configure(unsigned log_entries);
    unsigned log_entries() const { return m_log_entries; }

    /// Table index of a region. \returns false if it holds a region already, or the key does not fit
    bool add_region(std::uint32_t index, const region& r);
    /// \returns false if there is none
    bool remove_region(std::uint32_t index);
    /// Regions in hardware's hands.
    std::size_t regions() const { return m_live; }
    /// Forgets cached translation entries.
    void drop_cached();

    /// Whether a key as software writes it allows an access.
    violation check(const region_access& a, const region*& found);

    using done = std::function<void(violation, const bus_ranges&)>;
    /// Checks an access and finds out where its bytes are. \param finished is called once, inside this call if all
    /// entries are cached
    void translate(const region_access& a, done finished);

    void reset() override;

private:
    static constexpr unsigned mtts_per_line = 8;
    struct line {
        std::uint64_t number = ~std::uint64_t{0};  // ICM address / 64
        std::uint64_t used = 0;
        std::uint64_t entries[mtts_per_line]{};
    };
    struct walk {
        std::uint32_t index;
        std::uint64_t serial;
        std::uint64_t address, end;  // of what is left
        std::uint8_t page_bits;
        bus_ranges found;
        done finished;
    };

    void continue_walk(std::unique_ptr<walk> w);
    static bool append_page(bus_ranges& found, std::uint64_t& at, std::uint64_t end, unsigned page_bits,
                            std::uint64_t entry);
    const region* live_region(const walk& w) const;
    void fail(walk& w, violation v);
    void fetch(std::uint64_t number, std::unique_ptr<walk> w);
    void fetched(std::uint64_t number, std::uint64_t generation, bool ok, const buffer_slice& bytes);
    std::uint64_t mtt_address(const region& r, std::uint64_t address) const;
    line* cached(std::uint64_t number);
    void fill_line(line& arrived);
    static void append(bus_ranges& to, std::uint64_t address, std::uint64_t bytes);

    bus_access& m_bus;
    const icm& m_icm;
    std::vector<region> m_regions;  // by index, as far as used
    unsigned m_log_entries = 0;
    std::size_t m_live = 0;
    std::uint64_t m_serial = 0;
    std::vector<line> m_lines;
    std::uint64_t m_uses = 0, m_generation = 0;
    /// By generation and line; in order of arrival.
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::unique_ptr<walk>>> m_waiting;
    bus_ranges m_found;
};

}  // namespace fabricvp::hca
