// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace fabricvp::ranks {

/// Numbers of the processors that this process may use, in rising order; none: the system does not tell.
std::vector<int> usable_processors();

}  // namespace fabricvp::ranks
