// SPDX-License-Identifier: Apache-2.0
// What activity costs, by kind of component: joules are activity times these. Defaults are published figures for
// machines of about 22–28 nm; docs/reference/energy.md says where each is from.
#pragma once

#include "base/parameters.h"

namespace fabricvp {

/// A core with its level-1 caches: power while it is awake (which a core that polls always is), energy of an
/// instruction, leakage.
struct core_energy_params {
    double active_w = 0.27, instruction_nj = 0.29, leakage_w = 0.47;
    void describe(parameter_visitor& v);
};

struct energy_params {
    core_energy_params host_core;
    core_energy_params processor_core{0.27, 0.15, 0.24};  ///< of a GPU's command processor
    double host_l2_pj = 73, host_l3_pj = 159;             ///< an access to a line
    double host_memory_pj_per_bit = 20, host_memory_standby_w = 3.8;
    double lane_pj = 64;  ///< an instruction of one lane
    double gpu_l1_pj_per_bit = 5.85, gpu_l2_pj_per_bit = 15.48, gpu_memory_pj_per_bit = 30.55;
    double pcie_pj_per_bit = 10, network_pj_per_bit = 250;
    void describe(parameter_visitor& v);
};

}  // namespace fabricvp
