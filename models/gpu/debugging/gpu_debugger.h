// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/debugging/wavefront_thread.h"
#include "gpu/gpu_core.h"

namespace fabricvp::gpu {

/// All wavefront slots of a GPU as threads of a debugger. Without a listener they cost nothing.
class gpu_debugger {
public:
    /// \param others reaches memory that is not this GPU's
    gpu_debugger(gpu_core& core, wavefront_memory::elsewhere others);
    ~gpu_debugger();

    /// By compute unit, then slot; they live as long as this object.
    std::vector<riscv::debug_target*> threads() const;
    /// Breakpoints stop only wavefronts of this kernel; empty: of all.
    void stop_only(std::string kernel) { m_breakpoints.kernel = std::move(kernel); }
    /// Memory as lanes and page tables see it.
    wavefront_memory memory;

private:
    class unit_watcher;
    gpu_core& m_core;
    lane_breakpoints m_breakpoints;
    std::vector<std::unique_ptr<unit_watcher>> m_units;
};

}  // namespace fabricvp::gpu
