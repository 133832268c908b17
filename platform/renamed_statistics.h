// SPDX-License-Identifier: Apache-2.0
// Earlier names of what the running machine has: statistics and blocks.
#pragma once

#include <string>

namespace fabricvp {

/// What a path of statistics, or the beginning of one, is called now; empty if the machine has such statistics, or none
/// under a later name either.
std::string renamed_statistic(const std::string& path);

/// The same for hierarchical names of blocks. \param glob makes a pattern of a name
std::string renamed_blocks(const std::string& name, std::string (*glob)(const std::string& name));

}  // namespace fabricvp
