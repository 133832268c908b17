// SPDX-License-Identifier: Apache-2.0
// Follows instructions on paper: integer registers, and words of memory that are met on the way, are value + k * step,
// where k counts rounds of a loop.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "riscv/instruction.h"
#include "riscv/linear_loop.h"

namespace fabricvp::riscv {

/// Why rounds of a loop with this instruction are executed, whatever it does; none: it may be followed.
/// \param memory whether loads, stores and fences may
loop_refusal refusal_of(const instruction& i, bool memory);

class linear_walk {
public:
    /// A word of memory that the loop loads or stores.
    struct cell {
        std::uint64_t address = 0;
        unsigned size = 0;
        bool on_calendar = false;
        std::uint8_t* host = nullptr;
        linear first, now;  ///< at the beginning of the round, and at this point; zero-extended
    };
    /// An instruction of the loop, and what it reaches of memory.
    struct followed {
        instruction i;
        std::uint64_t pc = 0;
        std::uint64_t address = 0;
        unsigned size = 0;  ///< 0: no access
        bool writes = false, on_calendar = false;
        std::uint8_t* host = nullptr;
        linear stored;
    };

    /// \param memory null: nothing is known of it
    linear_walk(const std::array<linear, 32>& x, std::vector<cell> cells, loop_memory* memory);

    /// Performs f.i at f.pc. \returns why it is not understood, or none
    loop_refusal perform(followed& f, std::uint64_t& next);
    const std::array<linear, 32>& x() const { return m_x; }
    const std::vector<cell>& cells() const { return m_cells; }
    std::uint64_t rounds() const { return m_rounds; }

private:
    void set(unsigned rd, linear v) {
        if (rd) m_x[rd] = v;
    }
    bool keep_within(const linear& v, std::int64_t low, std::int64_t high);
    bool word(unsigned rd, linear v);
    bool branch(opcode op, linear a, linear b, bool& taken);
    bool compute(const instruction& i);
    loop_refusal access(followed& f, bool writes);
    loop_refusal find(followed& f, bool writes, cell*& found);

    std::array<linear, 32> m_x{};
    std::vector<cell> m_cells;
    loop_memory* m_memory;
    std::uint64_t m_rounds;
};

}  // namespace fabricvp::riscv
