// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace fabricvp::riscv {

/// One operation of a decoded block: what the dispatch loop needs and nothing else (16 bytes).
struct block_op {
    const void* handler;             ///< label inside the dispatch loop
    std::int32_t immediate;          ///< for control flow: target relative to the block's start
    std::uint8_t rd, rs1, rs2, rs3;  ///< rd is hart_state::sink for x0
};

/// What is needed only when a block is left in its middle (faults, accesses that go through the calendar).
struct block_op_position {
    std::uint32_t cost;          ///< of all instructions before this operation, in fixed-point cycles
    std::uint16_t offset;        ///< bytes from the block's start
    std::uint16_t instructions;  ///< before this operation
    std::uint32_t bits;          ///< the instruction as fetched
};

struct block;

/// A remembered successor, valid while the hart's fetch context is the one it was made in. One inside the same page
/// does not depend on translation: its second context outlasts changes of that. To another page, the second context
/// (marked `far`) tells that the target still exists, if that is where the page now lies.
struct block_link {
    static constexpr std::uint64_t far = std::uint64_t{1} << 63;
    std::uint64_t context = ~std::uint64_t{0};
    std::uint64_t code_context = ~std::uint64_t{0};
    block* target = nullptr;
};

/// A run of instructions that is entered only at its start. Position-independent: several virtual addresses may share
/// it.
struct block {
    block_link links[2];     ///< taken or jumped, fallen through
    std::uint32_t cost = 0;  ///< fixed-point cycles
    std::uint32_t instructions = 0;
    std::uint32_t length = 0;  ///< bytes
    std::uint32_t op_count = 0;
    const std::uint8_t* host = nullptr;         ///< host address of the first byte: identifies the code
    std::uint64_t fetched = 0;                  ///< generation of the instruction cache that held all of it
    const std::uint8_t* second_page = nullptr;  ///< host address of the next page if the last instruction straddles
    bool float_enabled = false;                 ///< FS when it was decoded
    bool dead = false;                          ///< its code was overwritten
    const void* entry = nullptr;                ///< code of the host from another block's; null: not translated
    const void* body = nullptr;                 ///< the same, once the block has been charged

    block_op* ops() { return reinterpret_cast<block_op*>(this + 1); }
    const block_op_position* positions() const { return const_cast<block*>(this)->positions(); }
    block_op_position* positions() { return reinterpret_cast<block_op_position*>(ops() + op_count); }
};

}  // namespace fabricvp::riscv
