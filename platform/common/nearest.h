// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace fabricvp {

/// The candidate with the fewest edits (insert, delete, replace, swap of neighbours) from `word`, ignoring case;
/// empty if none is near enough to be what was meant.
std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace fabricvp
