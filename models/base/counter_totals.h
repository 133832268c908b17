// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/statistics.h"

namespace fabricvp {

/// Every counter by path as it has counted since it was made, whatever regions of interest have begun since. Counters
/// that are zero are left out.
statistics_snapshot counter_totals();

}  // namespace fabricvp
