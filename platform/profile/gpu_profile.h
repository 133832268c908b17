// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu/gpu_core.h"
#include "platform/profile/code_files.h"
#include "platform/profile/execution_counts.h"
#include "platform/profile/sampling.h"
#include "platform/profile/stack_counts.h"

namespace fabricvp {

/// Samples the wavefronts of a GPU, each by the program counter of its present lanes and what it waits for, and counts
/// what they execute. A wavefront that executes is where its segment began.
class gpu_profile final : public gpu::wavefront_probe, public gpu::instruction_counters {
public:
    gpu_profile(gpu::gpu_core& core, std::string name, debug_files& files, stack_counts& stacks);
    ~gpu_profile();

    void sample(const sampling& when) { m_when = when; }
    void count_executions();
    /// Adds samples of what wavefronts do now and have not left yet.
    void add_present(stack_counts& to, ticks now) const;
    void report(execution_counts& to) const;

    void leaves(const gpu::wavefront& w, std::uint64_t pc, ticks now) override;
    std::uint64_t* counters(const gpu::lane_context& c, std::uint64_t pc) override;

private:
    struct kernel {
        std::string name;
        debug_file* file = nullptr;
        std::vector<std::uint64_t> counts;  // of instructions, from the start of the code aperture
    };
    kernel& kernel_of(const gpu::dispatch_run& run);
    debug_file* find_file(const gpu::dispatch& what, const std::string& name);
    void add(stack_counts& to, const kernel& k, gpu::wavefront_state state, std::uint64_t pc,
             std::uint64_t samples) const;

    gpu::gpu_core& m_core;
    const std::string m_name;
    debug_files& m_files;
    stack_counts& m_stacks;
    sampling m_when;
    std::map<std::pair<std::string, std::string>, std::unique_ptr<kernel>> m_kernels;  // by name and file
    std::unordered_map<std::uint64_t, kernel*> m_dispatches;                           // by number
};

}  // namespace fabricvp
