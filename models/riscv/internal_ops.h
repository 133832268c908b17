// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "riscv/instruction.h"

namespace fabricvp::riscv {

/// Handlers of the dispatch loop that are no instruction, behind those that are.
enum class internal_op : unsigned {
    block_end = static_cast<unsigned>(opcode::count),  ///< falls through into the next block
    bus_fence,                                         ///< a fence that the bus must hear of
    code_lines,                                        ///< at the beginning of a block: its code must be there
    tell_block,                                        ///< at the beginning of a block: a probe hears of it
    count_entry,                                       ///< likewise: after some entries the block is translated
    translated,                                        ///< what it becomes then: code of the host follows
    not_translated,                                    ///< or this, where the block cannot be
    count
};

}  // namespace fabricvp::riscv
