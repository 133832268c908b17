// SPDX-License-Identifier: Apache-2.0
// The loops over 64 lanes. One source (lane_rows.inc) is compiled for several instruction sets of the host; the best
// one that it has is chosen when the program starts. Operations compute all 64 lanes, active or not: what inactive
// lanes must not lose is kept by blend().
#pragma once

#include <array>
#include <cstdint>

#include "gpu/lanes/lane_op.h"

namespace fabricvp::gpu {

/// What the addresses of the active lanes have in common.
struct address_range {
    std::uint64_t min, max;
    std::uint64_t bits;  ///< all ORed
};

struct lane_operations {
    using row = lane_registers::row;
    /// Computes `to` from the operands that `o` names.
    using row_operation = void (*)(const lane_op& o, const lane_registers& r, row& to);
    using comparison = lane_mask (*)(const row& a, const row& b);

    const char* name;
    std::array<row_operation, static_cast<unsigned>(riscv::opcode::count)> rows;
    std::array<comparison, static_cast<unsigned>(riscv::opcode::count)> compare;
    void (*fill)(row& to, std::uint64_t value);
    /// Copies the lanes of `mask`.
    void (*blend)(row& to, const row& from, lane_mask mask);
    /// to = base + offset. `mask` must not be empty.
    address_range (*addresses)(row& to, const row& base, std::uint64_t offset, lane_mask mask);
    /// to = `from` of the lane that the low word of `index` names, or the lane's own where that one is not in `mask`.
    void (*shuffle)(row& to, const row& from, const row& index, lane_mask mask);
    /// Lanes of `mask` take loaded data.
    void (*write_back)(row& to, const row& data, load_format format, lane_mask mask);

    /// The best that this host can execute.
    static const lane_operations& best();
    /// "baseline", "avx2" or "avx512"; null if this host cannot execute it.
    static const lane_operations* by_name(const char* name);
};

extern const lane_operations baseline_lane_operations;
#if defined(__x86_64__)
extern const lane_operations avx2_lane_operations;
extern const lane_operations avx512_lane_operations;
#endif

}  // namespace fabricvp::gpu
