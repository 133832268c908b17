// SPDX-License-Identifier: Apache-2.0
// What a run leaves behind, as text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "host/marker.h"

namespace fabricvp {

/// A number as JSON takes it: whole numbers without a point, others in the shortest form that reads back the same;
/// null for those that are not finite.
std::string number_text(double value);

/// {"path": value, …} in path order.
std::string statistics_json(const statistics_snapshot& values);
/// Lines of path,value,unit,help.
std::string statistics_csv(const statistics_snapshot& values);

/// Regions of interest that firmware has marked, by node: label, from_s and to_s of simulated time, statistics.
std::string regions_json(const std::vector<const std::vector<host::marker::region>*>& nodes);

/// Reads a stats.json (or the folder that holds one). \throws input_error
statistics_snapshot read_statistics(const std::string& path);

/// Unit and help of a path: those of the statistic that reported it.
struct statistic_notes {
    std::string unit, help;
};
statistic_notes notes_of(const std::string& path);

}  // namespace fabricvp
