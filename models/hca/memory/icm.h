// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/model.h"
#include "base/statistics.h"

namespace fabricvp::hca {

/// The HCA's own context address space (ICM): which page of it stands in which page of memory. Software gives the
/// pages, and writes translation entries and doorbell records there itself.
class icm final : public model {
public:
    static constexpr std::uint64_t page = 4096;

    derived mapped{*this, "mapped", "B", "context memory that software has given",
                   [this] { return static_cast<double>(m_pages * page); }};

    explicit icm(const sc_core::sc_module_name& name) : model(name) {}

    /// Runs of pages that may be mapped: software that maps and unmaps single pages makes more of them.
    static constexpr std::size_t max_runs = std::size_t{1} << 18;
    /// Whether so many mappings more are taken, wherever they lie.
    bool has_room(std::size_t mappings) const { return m_runs.size() + 2 * mappings <= max_runs; }
    /// Pages from a page-aligned ICM address on; what was there before is replaced.
    void map(std::uint64_t address, std::uint64_t bus_address, std::uint64_t pages);
    /// Pages that are not mapped are no mistake. \returns false, and does nothing, if that made too many runs
    bool unmap(std::uint64_t address, std::uint64_t pages);
    /// Where a byte of it stands.
    std::optional<std::uint64_t> bus_address(std::uint64_t address) const;
    std::uint64_t pages() const { return m_pages; }

    void reset() override;

private:
    struct run {
        std::uint64_t pages, bus_address;
    };
    void insert_run(std::uint64_t first, const run& r);

    std::map<std::uint64_t, run> m_runs;  // by the number of their first page; they do not overlap
    std::uint64_t m_pages = 0;            // of all runs
};

}  // namespace fabricvp::hca
