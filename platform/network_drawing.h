// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "network/subnet.h"
#include "platform/pcie_drawing.h"

namespace fabricvp {

/// A network with adapters and generators at the bottom, above them the switches that they hang on, above these the
/// switches that those hang on, and so on. \param x, y upper left corner
drawing draw_network(const network::subnet& network, int x, int y);

/// Edges of the network for Graphviz.
std::string network_dot(const network::subnet& network);

}  // namespace fabricvp
