// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/parameters.h"

namespace fabricvp::fabric::netcrafter {

/// Who waits for something to share its last flit with.
enum class pooling_mode { none, plain, selective };
/// Whom the egress lets pass before all others: page-table packets, or (as a control) as many data packets.
enum class sequencing_mode { none, page_tables, data };

/// The controller in a cluster switch, at its links to other clusters. Everything is off unless asked for; numbers are
/// the published ones (Fatima et al., NetCrafter, ISCA 2025) where there are any.
struct parameters {
    bool stitching = false;
    bool partial = true;
    std::uint64_t candidates = 8;
    byte_size sub_header{4};
    pooling_mode pooling = pooling_mode::none;
    cycles window{32};
    bool whole_window = false;
    bool trimming = false;
    sequencing_mode sequencing = sequencing_mode::none;
    std::uint64_t entries = 1024;
    cycles latency{1};
    void describe(parameter_visitor& v);

    /// Whether any part is on.
    bool on() const {
        return stitching || trimming || sequencing != sequencing_mode::none || pooling != pooling_mode::none;
    }
};

}  // namespace fabricvp::fabric::netcrafter

namespace fabricvp {
template <>
struct choice_traits<fabric::netcrafter::pooling_mode> {
    using mode = fabric::netcrafter::pooling_mode;
    static constexpr std::pair<mode, const char*> names[] = {
        {mode::none, "none"}, {mode::plain, "plain"}, {mode::selective, "selective"}};
};
template <>
struct choice_traits<fabric::netcrafter::sequencing_mode> {
    using mode = fabric::netcrafter::sequencing_mode;
    static constexpr std::pair<mode, const char*> names[] = {
        {mode::none, "none"}, {mode::page_tables, "page_tables"}, {mode::data, "data"}};
};
}  // namespace fabricvp
