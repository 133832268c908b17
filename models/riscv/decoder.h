// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "riscv/instruction.h"

namespace fabricvp::riscv {

/// Extensions a hart implements beside I, M, A and C.
struct decoder_options {
    bool floating_point = true;
    bool bit_manipulation = true;
    bool supervisor = true;
    bool lane = false;  ///< what GPU lanes know (abi/gpu_isa.h)
};

/// Length in bytes of the instruction whose first halfword is `low`. Encodings longer than 32 bits count as 4
/// (illegal).
constexpr unsigned instruction_length(std::uint16_t low) { return (low & 3) == 3 ? 4 : 2; }

/// Decodes one instruction; `bits` holds a compressed one in its low half. What is not implemented gives
/// opcode::illegal with `bits` set, for mtval.
instruction decode(std::uint32_t bits, const decoder_options& options);

/// The 32-bit instruction that a compressed one stands for, 0 if it is reserved (RV64C, unprivileged
/// specification 16.8).
std::uint32_t expand_compressed(std::uint16_t bits);

}  // namespace fabricvp::riscv
