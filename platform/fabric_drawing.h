// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fabric/interconnect.h"
#include "platform/pcie_drawing.h"

namespace fabricvp {

/// A fabric with the devices at the bottom, below the switches that they hang on; links between switches run above them.
/// What links have carried since the start of the region of interest is written on them. \param x, y upper left corner
drawing draw_fabric(const fabric::interconnect& fabric, int x, int y);

/// Edges of the fabric for Graphviz; devices are the vertices `above`.NAME, which may be there already.
std::string fabric_dot(const fabric::interconnect& fabric, const std::string& above);

}  // namespace fabricvp
