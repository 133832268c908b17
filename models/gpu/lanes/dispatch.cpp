// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/dispatch.h"

namespace fabricvp::gpu {

const char* describe(lane_fault kind) {
    switch (kind) {
        case lane_fault::none: return "none";
        case lane_fault::memory: return "memory access";
        case lane_fault::illegal_instruction: return "illegal instruction";
        case lane_fault::misaligned_pc: return "misaligned jump";
        case lane_fault::bad_pc: return "jump out of the code";
        case lane_fault::barrier: return "barrier that can never be completed";
        case lane_fault::runaway: return "runaway wavefront";
    }
    return "unknown";
}

const char* describe(memory_fault fault) {
    switch (fault) {
        case memory_fault::none: return "none";
        case memory_fault::unmapped: return "unmapped";
        case memory_fault::read_only: return "read-only";
        case memory_fault::not_executable: return "not executable";
        case memory_fault::misaligned: return "misaligned";
        case memory_fault::bad_aperture: return "no aperture";
        case memory_fault::bus_error: return "bus error";
        case memory_fault::poisoned: return "poisoned";
    }
    return "unknown";
}

}  // namespace fabricvp::gpu
