// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/gpu_core.h"
#include "gpu/gpu_host_interface.h"

namespace fabricvp::gpu {

/// A GPU of a node, whatever it is attached by: gpu_device (PCI Express) or apu (the host's bus).
class gpu_unit {
public:
    gpu_core& core;
    gpu_host_interface& host_interface;

    virtual ~gpu_unit() = default;

protected:
    /// They may be members of the derived class.
    gpu_unit(gpu_core& c, gpu_host_interface& f) : core(c), host_interface(f) {}
};

}  // namespace fabricvp::gpu
