// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "gpu/lanes/instruction_cache.h"
#include "gpu/lanes/instruction_counts.h"
#include "gpu/lanes/lane_context.h"
#include "gpu/lanes/lane_operations.h"

namespace fabricvp::gpu {

/// Cycles that an instruction of a wavefront of 64 lanes occupies its SIMD unit (64 lanes on 16 take 4), by class; of
/// one of 32 lanes half as many, rounded up.
struct issue_params {
    std::uint64_t alu = 4, multiply = 16, divide = 64, load = 4, store = 4, branch = 4, jump = 4, atomic = 4,
                  floating = 4, float_divide = 16, double_precision = 4, double_divide = 16, csr = 4, fence = 4;
    void describe(parameter_visitor& v);
};

/// Cycles from an instruction's issue to that of one which needs its result, by class; of branches and jumps, to the
/// wavefront's next instruction; of memory instructions, to that as well, and until the memory unit has them. Less than
/// the instruction occupies its SIMD unit (0): so long. Memory says when results of loads and atomics are there.
struct result_params {
    std::uint64_t alu = 0, multiply = 0, divide = 0, load = 0, store = 0, branch = 0, jump = 0, atomic = 0,
                  floating = 0, float_divide = 0, double_precision = 0, double_divide = 0, csr = 0;
    void describe(parameter_visitor& v);
};

/// Why lane_engine::run() returned.
enum class lane_stop : std::uint8_t {
    budget,      ///< as many instructions as it was given
    fetch,       ///< the line that holds the program counter is not in the instruction cache
    scoreboard,  ///< `op` needs a register that a load has yet to write; it has not been executed
    memory,      ///< a memory instruction or a shuffle: `op`, `op_lanes`; counted, and the program counter is behind it
    fence,       ///< likewise
    barrier,     ///< all live lanes are parked
    ended,       ///< all lanes have ended
    fault        ///< of the lanes `op_lanes`, at op_pc
};

/// Where executions of single instructions are counted.
class instruction_counters {
public:
    /// Counters of the instructions of a line, in order; null: they are not counted. \param pc in it
    virtual std::uint64_t* counters(const lane_context& c, std::uint64_t pc) = 0;

protected:
    ~instruction_counters() = default;
};

/// Executes instructions of a wavefront until it must wait. Knows nothing of time but issue cycles and latencies of
/// results.
class lane_engine {
public:
    /// \param wavefront_interval least cycles from one instruction of a wavefront to its next
    explicit lane_engine(const issue_params& issue, const result_params& results = {},
                         const lane_operations& operations = lane_operations::best(),
                         std::uint64_t wavefront_interval = 0);

    /// \param max_instructions after which it stops at the next jump or line; 1 is exact
    lane_stop run(lane_context& c, instruction_cache& code, unsigned max_instructions) {
        if (m_counts) return run_counted(c, code, max_instructions);
        return waits_for_results(c) ? run_lanes<true, false>(c, code, max_instructions)
                                    : run_lanes<false, false>(c, code, max_instructions);
    }
    /// Counts executions of each instruction from now on, in counters that `counts` gives; null: no more.
    void count_instructions(instruction_counters* counts) { m_counts = counts; }
    /// Whether some result takes longer than its instruction occupies the SIMD unit. If not, an instruction's result is
    /// always there for the next one.
    bool waits_for_results(const lane_context& c) const { return costs_of(c).waits_for_results; }

    const lane_operations& operations() const { return m_operations; }
    /// What its wavefronts have executed.
    const class_counts& executed() const { return m_executed; }
    /// Address of the 64-byte line that a program counter lies in, as the instruction cache knows it.
    static std::uint64_t code_line(const lane_context& c, std::uint64_t pc) {
        return (c.image + (pc - GPU_CODE_BASE)) & ~std::uint64_t{line_bytes - 1};
    }

private:
    /// \tparam waits for results: keeps result_at \tparam counts executions of each instruction
    template <bool waits, bool counts>
    lane_stop run_lanes(lane_context& c, instruction_cache& code, unsigned max_instructions);
    lane_stop run_counted(lane_context& c, instruction_cache& code, unsigned max_instructions);
    bool jump_register(lane_context& c, const lane_op& o, std::uint64_t pc) const;
    static void regroup(lane_context& c, std::uint64_t from, bool backward);
    bool read_csr(lane_context& c, const lane_op& o) const;
    static bool all_have_come(const lane_context& c, const lane_op& o);
    void ballot_of(const lane_context& c, const lane_op& o, lane_registers::row& to) const;

    const lane_operations& m_operations;
    instruction_counters* m_counts = nullptr;
    struct cost {
        std::uint32_t interval;  ///< the SIMD unit is occupied
        std::uint32_t next;      ///< until the wavefront's next instruction can issue
        std::uint32_t result;    ///< until the result can be used
    };
    struct cost_table {
        std::array<cost, static_cast<unsigned>(issue_class::count)> by_class;
        bool waits_for_results = false;
    };
    const cost_table& costs_of(const lane_context& c) const {
        return c.identity.lanes == wavefront_lanes ? m_whole : m_half;
    }

    class_counts m_executed{};
    cost_table m_whole, m_half;  // of wavefronts of 64 and 32 lanes
};

}  // namespace fabricvp::gpu
