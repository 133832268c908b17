// SPDX-License-Identifier: Apache-2.0
// Messages between copy engines and GPUs of a node, without firmware: what studies of contention use.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pcie/traffic.h"
#include "platform/machine.h"

namespace fabricvp {

struct pcie_traffic {
    std::vector<pcie::delivery> deliveries;  ///< one a message
    std::uint64_t tlp_hops = 0;              ///< TLPs that links of the tree carried meanwhile
    std::uint64_t events = 0;                ///< calendar events meanwhile
};

/// The ends that messages of a node can have, with their names: copy engines in the order of their description, then
/// GPUs behind PCIe.
std::vector<std::pair<std::string, pcie::traffic_end*>> pcie_traffic_ends(node& n);

/// Sends messages between these ends, numbered in their order, until all have arrived or for `limit`; see
/// pcie::run_traffic(). A tree that no firmware has enumerated is enumerated first. Harts run meanwhile if they have
/// been started. \throws input_error if the node has no PCIe tree, or a message makes no sense
pcie_traffic run_pcie_traffic(node& n, const std::vector<pcie::message>& messages, ticks limit);

}  // namespace fabricvp
