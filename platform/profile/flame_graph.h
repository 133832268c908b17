// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"

namespace fabricvp {

/// One page of HTML without any other file, which draws stacks as a flame graph: a box a function, as wide as the
/// samples in it and what it calls. It zooms by click or Enter, and finds names.
/// \param stacks as guest_profile::stacks() has them \param title of the page, plain text \param period of samples
std::string flame_graph_page(const std::map<std::string, std::uint64_t>& stacks, const std::string& title,
                             ticks period);

}  // namespace fabricvp
