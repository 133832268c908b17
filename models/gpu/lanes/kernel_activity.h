// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/model.h"
#include "base/time_integral.h"

namespace fabricvp::gpu {

/// When GPUs that work together run kernels. Dispatchers report when the first work-group of a dispatch starts and when
/// the last one has ended.
class kernel_activity final : public model {
public:
    time_integral time{*this, "time",
                       "kernel time: in which at least one dispatch runs on any of the GPUs, from the start of its "
                       "first work-group to the end of its last",
                       1};

    explicit kernel_activity(const sc_core::sc_module_name& name) : model(name) {}

    void started() {
        if (m_running++ == 0) time.set(1);
    }
    void ended() {
        if (--m_running == 0) time.set(0);
    }

private:
    unsigned m_running = 0;
};

}  // namespace fabricvp::gpu
