// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "gpu/lanes/control_flow_graph.h"

namespace fabricvp::gpu {

/// 32-bit vector registers that a GPU's compiler would give each lane of a kernel, estimated from the registers that
/// its code names:
///
///  - what is the same in all lanes (arguments, identifiers of the work-group, loops over them) lies in scalar
///  registers
///    or is a constant: only registers count that are computed from the lane's identifiers, or loaded with such
///    addresses, anywhere in the code; so does the stack pointer, which is the same for all;
///  - an integer register counts twice if something of 64 bits may be in it, a floating-point register if an
///  instruction
///    for double precision names it.
std::uint32_t count_registers(const control_flow_graph& graph);

}  // namespace fabricvp::gpu
