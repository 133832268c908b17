// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi/gpu.h"
#include "gpu/lanes/dispatch.h"

namespace fabricvp::gpu {

/// The numbers that firmware and hosts know faults by.
gpu_fault fault_number(memory_fault fault);
gpu_fault fault_number(const fault_record& record);

}  // namespace fabricvp::gpu
