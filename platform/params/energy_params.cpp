// SPDX-License-Identifier: Apache-2.0
#include "platform/params/energy_params.h"

namespace fabricvp {
namespace {

constexpr between watts{0, 1000}, joules{0, 1e6};

}  // namespace

void core_energy_params::describe(parameter_visitor& v) {
    v.field("active_w", active_w, watts, "W while it is awake, whatever it does");
    v.field("instruction_nj", instruction_nj, joules, "nJ an instruction");
    v.field("leakage_w", leakage_w, watts, "W at all times");
}

void energy_params::describe(parameter_visitor& v) {
    v.group("host_core", host_core, "a hart of the host with its L1 caches");
    v.group("processor_core", processor_core, "a hart of a GPU's command processor with its L1 caches");
    v.field("host_l2_pj", host_l2_pj, joules, "pJ an access to a line of a hart's L2 cache");
    v.field("host_l3_pj", host_l3_pj, joules, "pJ an access to a line of the host's L3 cache");
    v.field("host_memory_pj_per_bit", host_memory_pj_per_bit, joules, "pJ a bit from or to the host's DRAM");
    v.field("host_memory_standby_w", host_memory_standby_w, watts, "W of the host's DRAM at all times");
    v.field("lane_pj", lane_pj, joules, "pJ an instruction of one lane of a GPU");
    v.field("gpu_l1_pj_per_bit", gpu_l1_pj_per_bit, joules, "pJ a bit between lanes and L1 cache, whole lines");
    v.field("gpu_l2_pj_per_bit", gpu_l2_pj_per_bit, joules, "pJ a bit between L1 and L2 cache, whole lines");
    v.field("gpu_memory_pj_per_bit", gpu_memory_pj_per_bit, joules, "pJ a bit between L2 cache and HBM");
    v.field("pcie_pj_per_bit", pcie_pj_per_bit, joules, "pJ a bit over a PCIe link, both ends");
    v.field("network_pj_per_bit", network_pj_per_bit, joules, "pJ a bit from adapter to adapter");
}

}  // namespace fabricvp
