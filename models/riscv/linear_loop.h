// SPDX-License-Identifier: Apache-2.0
// Proves what a loop that waits does to integer registers and to the memory that it uses: it is followed once with each
// as value + k * step, where k counts rounds. Where what comes out is the same with k + 1 in the place of k, every
// round does the same, for as long as no branch on the way goes elsewhere, no 32-bit result wraps and what it loads
// is not written.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "riscv/instruction.h"

namespace fabricvp::riscv {

/// Why rounds of a loop are executed.
enum class loop_refusal : std::uint8_t {
    none,
    code,        ///< its code is not known to be there at no cost
    memory,      ///< what it loads or stores takes time, changes more than these bytes, or is not known
    system,      ///< it uses CSRs, system instructions or floating point
    counters,    ///< its registers do not change by the same each round, or what they decide is not understood
    too_long,    ///< it has more instructions than are looked at
    few_rounds,  ///< it ends soon
    count
};

/// value + k * step, modulo 2^64.
struct linear {
    std::uint64_t value = 0, step = 0;
    bool constant() const { return step == 0; }
    std::uint64_t at(std::uint64_t k) const { return value + k * step; }
};

/// What is known of memory that a loop reaches.
class loop_memory {
public:
    struct seen {
        std::uint8_t* host = nullptr;  ///< null: an access may have effects beyond these bytes
        bool on_calendar = false;      ///< it ends the slice, and is performed when the calendar stands there
    };
    /// \param writes a store, else a load; both as long as nothing happens from outside
    virtual seen look(std::uint64_t address, unsigned size, bool writes) = 0;

protected:
    ~loop_memory() = default;
};

struct linear_loop {
    /// What is done without interruption: instructions, or one access through the calendar.
    struct part {
        std::uint64_t pc = 0;
        std::uint64_t cost = 0, instructions = 0, accesses = 0;  ///< of the round, in front of it
        std::array<linear, 32> x;                                ///< the same
        instruction access;                                      ///< through the calendar; illegal: none
        std::uint64_t address = 0;                               ///< of that
        unsigned size = 0;
    };
    struct access {
        std::size_t part = 0;
        std::uint64_t address = 0;
        unsigned size = 0;
        bool writes = false, on_calendar = false;
        std::uint8_t* host = nullptr;
        linear value;  ///< that is stored
    };

    loop_refusal refusal = loop_refusal::none;
    std::uint64_t rounds = 0;        ///< that are certain to be alike
    std::uint64_t cost = 0;          ///< of a round, in the unit of the costs given
    std::uint64_t instructions = 0;  ///< of a round
    std::vector<part> parts;         ///< the first begins the round
    std::vector<access> accesses;    ///< in order
};

/// Looks at the instruction at `pc`. \param starts whether control comes there other than from the one before
/// \returns false if it is not certain that fetching it costs nothing
using loop_fetch = std::function<bool(std::uint64_t pc, bool starts, instruction& i)>;

/// Follows the loop from `pc` (behind a `pause`) to the same pause.
/// \param x the 32 integer registers \param costs of an instruction by timing class
/// \param memory null: loops that load, store or fence are refused
linear_loop prove_linear(const std::uint64_t* x, std::uint64_t pc, const loop_fetch& fetch,
                         const std::array<std::uint32_t, static_cast<unsigned>(timing_class::count)>& costs,
                         loop_memory* memory = nullptr);

}  // namespace fabricvp::riscv
