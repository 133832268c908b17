// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "pcie/tree.h"

namespace fabricvp {

struct drawing {
    std::string svg;
    int width = 0, height = 0;
};

/// A PCIe tree with the root complex on top, every switch centred above what hangs on it. \param x, y upper left corner
drawing draw_pcie(const pcie::tree& tree, int x, int y);

/// Edges of the tree for Graphviz; `bus` is the vertex that the root complex hangs on.
std::string pcie_dot(const pcie::tree& tree, const std::string& bus);

}  // namespace fabricvp
