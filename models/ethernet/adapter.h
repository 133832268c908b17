// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ethernet/port.h"

namespace fabricvp::ethernet {

/// A device with a port to the Ethernet between nodes.
class adapter {
public:
    virtual address station() const = 0;
    virtual port& ethernet_port() = 0;

protected:
    ~adapter() = default;
};

}  // namespace fabricvp::ethernet
