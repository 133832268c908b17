// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fabric/interconnect.h"
#include "platform/fabric_traffic.h"
#include "platform/pcie_drawing.h"

namespace fabricvp {

/// A fabric with the devices at the bottom, below the switches that they hang on; links between switches run above
/// them. With `traffic`, each way of a link is a line of its own, with what it carried; otherwise their rates are
/// written on them. \param x, y upper left corner
drawing draw_fabric(const fabric::interconnect& fabric, int x, int y, const fabric_traffic* traffic = nullptr);

/// A whole picture of what a fabric carried: width and colour of a line tell for which share of the time it was busy.
std::string fabric_svg(const fabric::interconnect& fabric, const fabric_traffic& traffic);

/// Edges of the fabric for Graphviz; devices are the vertices `above`.NAME, which may be there already.
std::string fabric_dot(const fabric::interconnect& fabric, const std::string& above);

}  // namespace fabricvp
