// SPDX-License-Identifier: Apache-2.0
// What a run leaves behind, as text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/statistics.h"
#include "host/marker.h"
#include "platform/results/outcome.h"

namespace fabricvp {

/// A number as JSON takes it: whole numbers without a point, others in the shortest form that reads back the same;
/// null for those that are not finite.
std::string number_text(double value);

/// Unit and help of a path: those of the statistic that reported it.
struct statistic_notes {
    std::string unit, help;
};
using notes_by_path = std::map<std::string, statistic_notes>;

/// Finds the notes of paths, for as long as this process has the statistics that it had when this was made.
class notes_finder {
public:
    struct found {
        std::string_view unit, help;
    };

    /// \param foreign of statistics of other processes; they outlive this
    explicit notes_finder(std::vector<const notes_by_path*> foreign = {});
    found operator()(const std::string& path) const;

private:
    std::unordered_map<std::string_view, const statistic*> m_own;  // machines of many GPUs have tens of thousands
    std::vector<const notes_by_path*> m_foreign;
};
/// Those of all values.
notes_by_path notes_of(const statistics_snapshot& values);

/// {"path": value, …} in path order.
std::string statistics_json(const statistics_snapshot& values);
/// Lines of path,value,unit,help.
std::string statistics_csv(const statistics_snapshot& values, const notes_finder& notes);

/// Regions of interest that firmware has marked, by node: label, from_s and to_s of simulated time, statistics.
std::string regions_json(const std::vector<const std::vector<host::marker::region>*>& nodes);

/// What is known of a run, for run.json.
struct run_record {
    struct node {
        node_outcome outcome;
        std::string app;                    ///< GPU application that it was to run; empty: none
        std::optional<std::uint64_t> test;  ///< what `tohost` said
    };
    bool complete = false;  ///< all results are there
    std::vector<std::string> command;
    std::uint64_t seed = 1;
    std::string until;
    ticks time = 0;
    std::string ended;                 ///< how: guest, time or interrupted
    std::optional<run_result> result;  ///< how run_until() ended last
    std::vector<node> nodes;
};
std::string run_json(const run_record& r);
const char* name_of(run_outcome outcome);
const char* name_of(node_state state);

/// Whether the folder of a run has names of an earlier version; false if it does not say which version it is of.
bool is_earlier_run(const std::filesystem::path& folder);

/// Reads a stats.json (or the folder that holds one). Paths have their present names. \throws input_error, where the
/// run of the folder did not end for instance
statistics_snapshot read_statistics(const std::string& path);

}  // namespace fabricvp
