// SPDX-License-Identifier: Apache-2.0
// The machine as people see it: a tree in text, a Graphviz graph, a drawing.
#pragma once

#include <string>

#include "platform/machine.h"

namespace fabricvp {

/// Blocks by their hierarchical names, with what they are and where they lie in the memory map.
std::string machine_tree(const machine& m);

/// The same as a Graphviz graph: harts, interconnect and targets of every node.
std::string machine_dot(const machine& m);

/// The same as an SVG drawing, one frame a node.
std::string machine_svg(const machine& m, const std::string& title);

/// "128 MiB", "4 KiB", "256 B".
std::string size_text(std::uint64_t bytes);

}  // namespace fabricvp
