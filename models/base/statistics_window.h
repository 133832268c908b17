// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/time.h"

namespace fabricvp {

/// When the statistic of a path was restarted last by restart_statistics(); 0 if it never was. Rates and shares of
/// values that count since then need it.
ticks statistics_window_start(const std::string& path);

}  // namespace fabricvp
