// SPDX-License-Identifier: Apache-2.0
// Where guests spend simulated time, and what of their code is executed. Samples are taken in simulated time, one a
// period; nothing in the machine knows of them, so that a run is the same with and without.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/profile/code_files.h"
#include "platform/profile/gpu_profile.h"
#include "platform/profile/hart_profile.h"

namespace fabricvp {

class guest_profile {
public:
    /// What harts that share a memory execute.
    struct program {
        std::vector<riscv::hart*> harts;
        std::function<std::vector<std::string>()> files;  ///< ELF files that may be in the memory
    };
    struct gpu {
        fabricvp::gpu::gpu_core* core;
        std::string name;
    };

    guest_profile(std::vector<program> programs, const std::vector<gpu>& gpus);
    ~guest_profile();

    /// Looks into this ELF file before others. \throws input_error
    void add_symbols(const std::string& path) { m_files.add_named(path); }
    /// From now on. \param period more than 0
    void start_samples(ticks period, ticks now);
    void count_executions();
    bool samples() const { return m_when.period != 0; }
    bool counts_executions() const { return m_counts_executions; }
    ticks period() const { return m_when.period; }

    /// Stacks by text, outermost function first, with semicolons between functions; and how often they were sampled.
    std::map<std::string, std::uint64_t> stacks(ticks now);
    /// How often instructions were executed, of all files that programs may come from. \param others what other
    /// processes have counted \throws input_error if a file of theirs is not here
    execution_counts executions(const std::vector<const execution_table*>& others = {});

private:
    struct domain {
        explicit domain(std::function<std::vector<debug_file*>()> candidates) : code(std::move(candidates)) {}
        code_files code;
        std::vector<std::unique_ptr<hart_profile>> harts;
    };
    std::vector<debug_file*> candidates(const program& p);

    debug_files m_files;
    stack_counts m_stacks;
    std::vector<program> m_programs;
    std::vector<std::unique_ptr<domain>> m_domains;
    std::vector<std::unique_ptr<gpu_profile>> m_gpus;
    sampling m_when;
    bool m_counts_executions = false;
};

}  // namespace fabricvp
