// SPDX-License-Identifier: Apache-2.0
#include "gpu/control/fault_number.h"

namespace fabricvp::gpu {

gpu_fault fault_number(memory_fault fault) {
    switch (fault) {
        case memory_fault::none: return GPU_FAULT_NONE;
        case memory_fault::unmapped: return GPU_FAULT_UNMAPPED;
        case memory_fault::read_only: return GPU_FAULT_READ_ONLY;
        case memory_fault::not_executable: return GPU_FAULT_NOT_EXECUTABLE;
        case memory_fault::misaligned: return GPU_FAULT_MISALIGNED;
        case memory_fault::bad_aperture: return GPU_FAULT_BAD_APERTURE;
        case memory_fault::bus_error: return GPU_FAULT_BUS;
        case memory_fault::poisoned: return GPU_FAULT_POISONED;
    }
    return GPU_FAULT_BUS;
}

gpu_fault fault_number(const fault_record& r) {
    switch (r.kind) {
        case lane_fault::none: return GPU_FAULT_NONE;
        case lane_fault::illegal_instruction: return GPU_FAULT_ILLEGAL;
        case lane_fault::misaligned_pc:
        case lane_fault::bad_pc: return GPU_FAULT_PC;
        case lane_fault::barrier: return GPU_FAULT_BARRIER;
        case lane_fault::runaway: return GPU_FAULT_RUNAWAY;
        case lane_fault::memory: break;
    }
    return fault_number(r.memory);
}

}  // namespace fabricvp::gpu
