// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace fabricvp {

/// What to say of a pattern, or the beginning of a path, that matches none of these paths ("node0.hca0.commands", …):
/// the nearest one, else the names that are there as far as it does match. One line without a full stop.
std::string why_unmatched(const std::string& pattern, const std::vector<std::string>& paths);

}  // namespace fabricvp
