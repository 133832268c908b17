// SPDX-License-Identifier: Apache-2.0
// Proves what a loop that waits does to integer registers: it is followed once with each register as value + k * step,
// where k counts rounds. Where what comes out is the same with k + 1 in the place of k, every round does the same, for
// as long as no branch on the way goes elsewhere and no 32-bit result wraps.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "riscv/instruction.h"

namespace fabricvp::riscv {

/// Why rounds of a loop are executed.
enum class loop_refusal : std::uint8_t {
    none,
    code,        ///< its code is not known to be there at no cost
    memory,      ///< it loads, stores or fences
    system,      ///< it uses CSRs, system instructions or floating point
    counters,    ///< its registers do not change by the same each round, or what they decide is not understood
    too_long,    ///< it has more instructions than are looked at
    few_rounds,  ///< it ends soon
    count
};

struct linear_loop {
    loop_refusal refusal = loop_refusal::none;
    std::array<std::uint64_t, 32> step{};  ///< of each register a round, modulo 2^64
    std::uint64_t rounds = 0;              ///< that are certain to be alike
    std::uint64_t cost = 0;                ///< of a round, in the unit of the costs given
    std::uint64_t instructions = 0;        ///< of a round
};

/// Looks at the instruction at `pc`. \param starts whether control comes there other than from the one before
/// \returns false if it is not certain that fetching it costs nothing
using loop_fetch = std::function<bool(std::uint64_t pc, bool starts, instruction& i)>;

/// Follows the loop from `pc` (behind a `pause`) to the same pause.
/// \param x the 32 integer registers \param costs of an instruction by timing class
linear_loop prove_linear(const std::uint64_t* x, std::uint64_t pc, const loop_fetch& fetch,
                         const std::array<std::uint32_t, static_cast<unsigned>(timing_class::count)>& costs);

}  // namespace fabricvp::riscv
