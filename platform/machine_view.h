// SPDX-License-Identifier: Apache-2.0
// The machine as text. platform/topology.h has it for programs.
#pragma once

#include <string>

#include "platform/machine.h"

namespace fabricvp {

/// Blocks by their hierarchical names, with what they are and where they lie in the memory map.
std::string machine_tree(const machine& m);

/// "128 MiB", "4 KiB", "256 B".
std::string size_text(std::uint64_t bytes);

}  // namespace fabricvp
