// SPDX-License-Identifier: Apache-2.0
// Names of statistics and blocks that the running machine lacks: those of earlier versions, and misspelt ones.
#pragma once

#include <string>

namespace fabricvp {

/// What is wrong with a path of statistics, or the beginning of one: its present name, or the nearest ones. Empty if
/// the machine has such statistics.
std::string missing_statistic(const std::string& path);

/// The same for hierarchical names of blocks. \param glob makes a pattern of a name
std::string missing_blocks(const std::string& name, std::string (*glob)(const std::string& name));

}  // namespace fabricvp
