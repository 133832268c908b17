// SPDX-License-Identifier: Apache-2.0
// What bounded a run or a region of it, read from its statistics.
#pragma once

#include <map>
#include <string>

#include "base/statistics.h"

namespace fabricvp::cli {

/// One line: the unit that was busy most of the time (a link, HBM, SIMD units, page-table walkers, host harts, or no
/// kernel at all because of launches), or, where none was, what wavefronts waited for.
/// \param parameters of the run, by dotted path as in config.resolved.yaml \param seconds that the statistics cover
std::string bound_of(const statistics_snapshot& values, const std::map<std::string, std::string>& parameters,
                     double seconds);

}  // namespace fabricvp::cli
