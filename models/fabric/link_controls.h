// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "fabric/netcrafter/controller.h"
#include "fabric/terminal.h"
#include "link/programmable_policy.h"

namespace fabricvp::fabric {

/// What software may set, while a fabric runs, at one link of a switch; where a device is linked to another one
/// directly, at that link.
struct link_control {
    fabricvp::link::programmable_policy* lanes = nullptr;  ///< null if its lanes do not turn
    netcrafter::controller* netcrafter = nullptr;          ///< of what the switch sends by it; null if there is none
};

/// The links of the switch that a device is attached to, in the order of the configuration.
std::vector<link_control> controls_at(const terminal& device);

}  // namespace fabricvp::fabric
