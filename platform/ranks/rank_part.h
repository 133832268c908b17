// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/marker.h"
#include "platform/common/script_report.h"
#include "platform/common/trace_file.h"
#include "platform/results/results.h"

namespace fabricvp::ranks {

/// What one rank has measured and recorded of a run, as rank 0 gathers it.
struct rank_part {
    struct node_part {
        std::string console, input;  ///< what was printed, and typed
        std::vector<host::marker::region> regions;
        std::optional<script_report> script;
    };
    statistics_snapshot values;
    std::map<std::string, statistic_notes> notes;  ///< of the values
    std::map<std::size_t, node_part> nodes;        ///< those that the rank has
    std::string topology;                          ///< of what it has (topology_of()), as JSON
    std::string trace;                             ///< contents of its file; empty: none was recorded
    /// Samples of guests by stack, and executions of their instructions by file and address; empty: not wanted.
    std::map<std::string, std::uint64_t> stacks;
    std::map<std::string, std::map<std::uint64_t, std::uint64_t>> executions;
};

std::string to_bytes(const rank_part& p);
/// \throws std::runtime_error if that is no rank's part
rank_part parse_rank_part(const std::string& bytes);

/// Values of the whole machine. What several ranks report is of the network as a whole and adds up, but for what each
/// rank counts for all (network.sweeps, simulated time).
statistics_snapshot merged_values(const std::vector<rank_part>& all);

/// One trace of all, in which each rank is a process.
std::string merged_trace(const std::vector<rank_part>& all, trace_file form);

}  // namespace fabricvp::ranks
