// SPDX-License-Identifier: Apache-2.0
// A GPU core with nothing around it.
#pragma once

#include "gpu/gpu_core.h"

namespace fabricvp::test {

class bare_core final : public model {
public:
    gpu::gpu_core core;

    bare_core(const sc_core::sc_module_name& name, const gpu::gpu_core_params& p, unsigned index)
        : model(name), core(*this, p, index) {}
};

}  // namespace fabricvp::test
