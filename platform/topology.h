// SPDX-License-Identifier: Apache-2.0
// The machine's topology as JSON, for programs that draw or analyse it: blocks, links with both their directions, and
// what each direction carried. Python draws it (python/fabricvp/drawing.py). The format:
//
//     {"version": 1, "nodes": [{"name", "host": {…}, "pcie": GRAPH, "fabric": GRAPH}], "network": GRAPH, "ethernet":
//     GRAPH} GRAPH = {"path", "blocks": [{"name", "path", "kind", …}], "links": [{"from", "to", "directions": [D, D],
//     …}],
//              "traffic": [{"region", "regions", "seconds", "links": [[T, T], …]}]}
//     D = {"port", "bytes_per_second", "lanes", "propagation_ps", "statistics": {"bytes": […], "busy": […], "flits":
//     […]}} T = {"bytes", "busy", "flits"}; busy is a share of the time
//
// Groups that a machine lacks are absent. The first direction goes from `from` to `to`.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/statistics.h"
#include "host/marker.h"

namespace fabricvp {

class machine;

/// Nodes, blocks and links. In a run with ranks, what this process has: other nodes are null, and so are directions
/// whose sending port another process has.
nlohmann::ordered_json topology_of(machine& m);

/// One topology from those of all ranks.
nlohmann::ordered_json merged_topology(const std::vector<nlohmann::ordered_json>& ranks);

/// Adds "traffic" to every graph: what its links carried since statistics were restarted last (`region` is null), then,
/// for the graphs of a node, in the regions of interest of each label together. \param now end of the run \param
/// regions of each node
void add_traffic(nlohmann::ordered_json& topology, const statistics_snapshot& values, ticks now,
                 const std::map<std::size_t, const std::vector<host::marker::region>*>& regions);

/// Both, where this process has the whole machine.
nlohmann::ordered_json topology_of(machine& m, const statistics_snapshot& values);

/// As a file has it.
std::string topology_text(const nlohmann::ordered_json& topology);

}  // namespace fabricvp
