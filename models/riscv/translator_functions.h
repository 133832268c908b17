// SPDX-License-Identifier: Apache-2.0
// Functions of single instructions that translated code calls.
#pragma once

#include <cstdint>

#include "riscv/block.h"
#include "riscv/hart_state.h"
#include "riscv/instruction.h"

namespace fabricvp::riscv {

/// An integer instruction of two values; null: none, or it works on memory.
using integer_function = std::uint64_t (*)(std::uint64_t, std::uint64_t);
integer_function integer_function_of(opcode op);

/// An atomic instruction on the memory of the host at an address, with its operand. \returns what was there
using atomic_function = std::uint64_t (*)(std::uint64_t address, std::uint64_t operand);
atomic_function atomic_function_of(opcode op);

/// A floating-point instruction on registers and fcsr; it leaves mstatus as it is. \returns false if it is illegal,
/// which depends on frm
using float_function = bool (*)(hart_state&, const block_op*);
float_function float_function_of(opcode op);

}  // namespace fabricvp::riscv
