// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "gpu/memory/memory_types.h"
#include "riscv/instruction.h"

namespace fabricvp::gpu {

/// Registers of 64 lanes, one row of 64 values a register: x0…x31, f0…f31, and a row that takes what is written to x0.
struct lane_registers {
    static constexpr unsigned f0 = 32, sink = 64, rows = 65;
    using row = std::array<std::uint64_t, wavefront_lanes>;
    alignas(64) std::array<row, rows> r;
};

/// A row of lane_registers as a bit; none for the sink.
constexpr std::uint64_t row_bit(unsigned row) { return row < lane_registers::sink ? std::uint64_t{1} << row : 0; }
/// The lowest of a mask's lanes or rows. \param mask not 0
constexpr unsigned lowest(std::uint64_t mask) { return static_cast<unsigned>(__builtin_ctzll(mask)); }

/// How the lane engine executes an instruction.
enum class lane_kind : std::uint8_t {
    row,       ///< computes a row of results from rows of operands
    constant,  ///< lui
    relative,  ///< auipc
    jump,
    jump_register,
    branch,
    memory,  ///< load, store, atomic of any kind
    vote,    ///< a mask of lanes
    shuffle,
    sync,  ///< waits for other lanes of the wavefront
    csr,
    fence,
    nothing,  ///< fence.i: code does not change under a running dispatch
    pause,
    barrier,
    end,
    illegal
};

/// Classes of instructions that a SIMD unit executes at rates of their own: the fields of issue_params. First those of
/// the instruction table, in its order; then two for arithmetic on 64 bits, which other harts do at one rate.
enum class issue_class : std::uint8_t {
    alu,
    multiply,
    divide,
    load,
    store,
    branch,
    jump,
    atomic,
    floating,
    float_divide,
    csr,
    fence,
    double_precision,
    double_divide,
    count
};
static_assert(static_cast<unsigned>(issue_class::double_precision) ==
              static_cast<unsigned>(riscv::timing_class::count));

/// What becomes of loaded data on their way into a register.
enum class load_format : std::uint8_t { none, i8, i16, i32, i64, u8, u16, u32, box32 };

/// One instruction as lanes execute it. Register numbers are rows of lane_registers; operands that an instruction does
/// not have are 0, as x0 (rs1 of CSR instructions may be an immediate).
struct lane_op {
    std::uint64_t touches = 0;  ///< registers read or written, bit n for row n
    std::int32_t immediate = 0;
    riscv::opcode op = riscv::opcode::illegal;
    std::uint8_t rd = lane_registers::sink, rs1 = 0, rs2 = 0, rs3 = 0;
    lane_kind kind = lane_kind::illegal;
    issue_class timing = issue_class::alu;
    load_format format = load_format::none;  ///< of memory instructions
    memory_operation memory;                 ///< of memory instructions; of a shuffle the size
    bool acquire = false, release = false;   ///< the bits aq and rl of an atomic
    bool orders() const { return acquire || release; }
};

inline constexpr unsigned line_instructions = line_bytes / 4;

/// Decodes an instruction word. Compressed instructions are illegal for lanes.
lane_op decode_lane_op(std::uint32_t word);

}  // namespace fabricvp::gpu
