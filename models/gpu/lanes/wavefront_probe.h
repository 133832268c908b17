// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "gpu/lanes/wavefront.h"

namespace fabricvp::gpu {

/// Sees how wavefronts of a compute unit spend their time. It changes nothing.
class wavefront_probe {
public:
    /// The wavefront leaves the state that it has been in since `w.since`; `free`: it begins. \param pc of the
    /// instruction that it waited for, or at which the segment began that it executed
    virtual void leaves(const wavefront& w, std::uint64_t pc, ticks now) = 0;

protected:
    ~wavefront_probe() = default;
};

}  // namespace fabricvp::gpu
