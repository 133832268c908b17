// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <new>

#include "base/clock_domain.h"
#include "base/large_pages.h"
#include "gpu/lanes/lane_op.h"
#include "gpu/lanes/lane_operations.h"
#include "gpu/lanes/lane_schedule.h"

namespace fabricvp::gpu {

/// What of a wavefront is only needed while it lives (some 35 KB); pooled. It begins as zeros.
struct lane_storage {
    lane_storage() {}  // not `= default`: make_unique would write zeros everywhere
    static void* operator new(std::size_t size, std::align_val_t) { return large_pages::zeros(size); }
    static void operator delete(void* at, std::size_t size, std::align_val_t) noexcept { large_pages::free(at, size); }

    lane_registers registers;
    lane_groups groups;
    std::uint64_t touched = 0;  ///< rows of registers that may not be zero: what the next wavefront must clear
    /// Where results take longer than the next instruction: by row, the wavefront's cycle from which on its value can
    /// be used.
    std::array<std::uint64_t, lane_registers::rows> result_at{};
};

/// Who a wavefront is; what the identifier CSRs read.
struct lane_identity {
    std::array<std::uint32_t, 3> group_id{}, group_size{}, grid_size{};  ///< group_size of the dispatch
    std::array<std::uint32_t, 3> local_size{};  ///< of this work-group, smaller at the end of a grid
    std::uint32_t wavefront = 0;                ///< in the work-group
    std::uint32_t lanes = wavefront_lanes;      ///< of a wavefront: 32 or 64
    std::uint32_t gpu = 0, compute_unit = 0;
    std::uint64_t dispatch = 0;  ///< its number
};

/// Why a wavefront's program went wrong, beside what memory says.
enum class lane_fault : std::uint8_t {
    none,
    memory,  ///< see memory_fault
    illegal_instruction,
    misaligned_pc,
    bad_pc,   ///< outside of the code aperture
    barrier,  ///< lanes wait for others that wait for them
    runaway   ///< more instructions than the wavefront may execute
};

/// A wavefront as the lane engine sees it: registers, groups, scoreboard, and what the last run did.
struct lane_context {
    lane_storage* storage = nullptr;
    lane_schedule schedule;
    lane_identity identity;
    std::uint64_t image = 0;  ///< global virtual address that the code aperture stands for
    std::uint32_t address_space = 0;
    std::uint64_t pending = 0;  ///< scoreboard: rows of lane_registers that a load will write
    std::uint64_t touched = 0;  ///< rows that may not be zero; lane_storage gets to know them at the end

    // Of a run; the owner clears cycles and counts when it likes.
    std::uint64_t cycles = 0;             ///< of the wavefront, from issue to issue
    std::uint64_t busy = 0;               ///< of these, for which it occupied its SIMD unit
    std::uint64_t first_cycle = 0;        ///< of the wavefront's life (see result_at), when `cycles` was 0
    std::uint64_t instructions = 0;       ///< of the wavefront
    std::uint64_t lane_instructions = 0;  ///< each instruction times active lanes
    ticks clock_time = 0;                 ///< when `cycles` was 0
    const clock_domain* clock = nullptr;

    // Of the instruction at which a run stopped.
    lane_op op;
    std::uint64_t ahead = 0;  ///< rows that the instructions where it goes on use, as far as known
    std::uint64_t op_pc = 0;
    lane_mask op_lanes = 0;
    lane_fault fault = lane_fault::none;
    std::uint64_t fault_value = 0;  ///< instruction address
};

}  // namespace fabricvp::gpu
