// SPDX-License-Identifier: Apache-2.0
// What a configuration file says, as described structs. A file has the keys `simulation`, `faults`, `network`,
// `ethernet`, `nodes` (the list of nodes, or how many there are), `node` (what all of them have; alone, the only one)
// and `base` (another file, over which this one lies).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/parameters.h"
#include "base/rejection.h"
#include "ethernet/segment.h"
#include "fabric/interconnect.h"
#include "gpu/replay/recording.h"
#include "host/host_complex.h"
#include "network/subnet.h"
#include "pcie/tree.h"
#include "platform/params/device_params.h"
#include "platform/params/energy_params.h"

namespace fabricvp {

template <>
struct choice_traits<log_level> {
    static constexpr std::pair<log_level, const char*> names[] = {{log_level::error, "error"},
                                                                  {log_level::warning, "warning"},
                                                                  {log_level::info, "info"},
                                                                  {log_level::debug, "debug"}};
};

struct simulation_params {
    duration quantum{1'000'000};
    duration watchdog{ticks_per_second};
    std::uint64_t seed = 1;
    log_level log = log_level::warning;
    bool skip_polls = true;              ///< harts sleep over rounds of loops that only count
    std::uint64_t translate_after = 32;  ///< entries after which a block of code is translated; 0: never
    std::string until = "all";           ///< all, any or a node's name: whose end is the end of the run
    void describe(parameter_visitor& v);
};

/// Images a node starts with. Paths are relative to the configuration file; `firmware:NAME` is one of the project's
/// own.
struct image_params {
    std::string firmware, kernel, initrd, append;
    bool tohost = false;
    parameter_origin where;  ///< not described
    void describe(parameter_visitor& v);
};

/// A fault of a configuration file. Its arguments are read when the machine is there, since they depend on the kind.
struct fault_params {
    duration at{0};
    std::string when;  ///< label of a marker of the firmware from which `at` counts
    std::string target, kind;
    std::vector<unparsed_value> arguments;
    std::string origin, target_origin, kind_origin;  ///< where they are written
    void describe(parameter_visitor& v);
};

struct node_params {
    image_params images;
    host::host_params host;
    pcie::tree_params pcie;
    device_params devices;
    fabric::interconnect_params fabric;
    energy_params energy;
    std::vector<fault_params> faults;  ///< targets are relative to the node
    /// Played over the fabric in the place of GPUs and of what the host runs; null: none. Not described.
    gpu::replay::replay_params replay;
    void describe(parameter_visitor& v);
};

struct machine_params {
    static constexpr std::uint64_t max_nodes = 1024;

    simulation_params simulation;
    std::vector<fault_params> faults;
    network::subnet_params network;     ///< between nodes
    ethernet::segment_params ethernet;  ///< the same
    std::vector<node_params> nodes{1};

    /// `simulation`, `faults`, `network` and `ethernet` alone.
    void describe_head(parameter_visitor& v);
    /// Everything; a node's path is node0, node1, …
    void describe(parameter_visitor& v);
};

/// The same with everything filled in that follows from other parameters and has no key: what is plugged in where, what
/// hosts share with the simulation. A machine keeps these.
machine_params completed(machine_params p);
/// Index of a name such as node12; none for other words.
std::optional<std::size_t> node_index(const std::string& name);

}  // namespace fabricvp
