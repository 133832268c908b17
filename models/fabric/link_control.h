// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fabric/stage.h"
#include "link/programmable_policy.h"

namespace fabricvp::fabric {

/// What software may set, while a fabric runs, at one link of a switch; where a device is linked to another one
/// directly, at that link.
struct link_control {
    fabricvp::link::programmable_policy* lanes = nullptr;  ///< null if its lanes are not reversible
    stage_controls* stage = nullptr;                       ///< of what the switch sends by it; null if it has none
};

}  // namespace fabricvp::fabric
