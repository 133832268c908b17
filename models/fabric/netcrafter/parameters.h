// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/parameters.h"

namespace fabricvp::fabric::netcrafter {

/// Who waits for something to share its last flit with.
enum class pooling_mode { none, plain, selective };
/// From when a packet's pooling window counts: from when it is offered as the head of its queue and finds no
/// candidate, one timer a queue; or from its arrival at the controller.
enum class window_start { head, arrival };
/// What each virtual channel of each destination cluster keeps of the cluster queue: an even part of one half of it,
/// or room for one largest packet.
enum class queue_reserve { half, packet };
/// Whom the egress lets pass before all others: page-table packets, those of them that a load or an instruction fetch
/// waits for, or (as a control) as many data packets as there are page-table packets.
enum class sequencing_mode { none, page_tables, read_critical, data };

/// The controller in a cluster switch, at its links to other clusters. Everything is off unless asked for; numbers are
/// the published ones (Fatima et al., NetCrafter, ISCA 2025) where there are any.
struct parameters {
    bool stitching = false;
    bool partial = true;
    std::uint64_t candidates = 8;
    std::uint64_t partial_candidates = 8;
    byte_size sub_header{4};
    pooling_mode pooling = pooling_mode::none;
    cycles window{32};
    window_start window_from = window_start::arrival;
    bool whole_window = false;
    bool trimming = false;
    sequencing_mode sequencing = sequencing_mode::none;
    std::uint64_t entries = 1024;
    queue_reserve reserved = queue_reserve::half;
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
    static constexpr std::pair<mode, const char*> names[] = {{mode::none, "none"},
                                                             {mode::page_tables, "page_tables"},
                                                             {mode::read_critical, "read_critical"},
                                                             {mode::data, "data"}};
};
template <>
struct choice_traits<fabric::netcrafter::window_start> {
    using start = fabric::netcrafter::window_start;
    static constexpr std::pair<start, const char*> names[] = {{start::head, "head"}, {start::arrival, "arrival"}};
};
template <>
struct choice_traits<fabric::netcrafter::queue_reserve> {
    using reserve = fabric::netcrafter::queue_reserve;
    static constexpr std::pair<reserve, const char*> names[] = {{reserve::half, "half"}, {reserve::packet, "packet"}};
};
}  // namespace fabricvp
