// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pcie/configuration_space.h"
#include "pcie/tlp.h"

namespace fabricvp::pcie {

/// Performs a configuration request on a function's space and returns its completion; `id` answers as completer.
tlp_ptr access_configuration(configuration_space& space, const tlp& request, std::uint16_t id);

/// The same at once, for debuggers: reads into or writes from the request's data. Reads have no side effects. \returns
/// bytes done
unsigned debug_access(configuration_space& space, tlp& request);

}  // namespace fabricvp::pcie
