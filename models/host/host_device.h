// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/wire.h"
#include "host/register_target.h"

namespace fabricvp::host {

/// What the device tree says of a device beside its address and its interrupt.
struct device_tree_node {
    std::string name;                                                       ///< "serial"
    std::vector<std::string> compatible;                                    ///< the best one first
    std::vector<std::pair<std::string, std::vector<std::uint32_t>>> cells;  ///< properties of its own
};

/// A device on a host's bus that configurations may add (device_kind.h). It covers as many bytes of addresses as its
/// registers.
class host_device : public register_target {
public:
    wire interrupt;  ///< a source of the PLIC or APLIC, where it has one

    using register_target::register_target;

    virtual device_tree_node tree_node() const = 0;
};

}  // namespace fabricvp::host
