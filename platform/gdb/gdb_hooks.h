// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "base/time.h"
#include "riscv/hart_debug.h"

namespace fabricvp {

/// One stretch of RAM or ROM in GDB's memory map. Devices are left out: GDB must not prefetch from them.
struct gdb_region {
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    bool writable = true;  ///< false: ROM, where GDB then uses hardware breakpoints by itself
};

/// What a debugger sees as one process: the harts of a node, those of its command processors, wavefronts.
struct gdb_process {
    std::string name;  ///< for people ("node0")
    unsigned id = 1;   ///< process id: node + 1
    /// They outlive the server. Thread id = index + 1, and this many more for each incarnation.
    std::vector<riscv::debug_target*> threads;
    std::size_t lockstep_threads =
        ~std::size_t{0};             ///< so many threads, the first ones, are kept in lockstep (if more than one)
    std::vector<gdb_region> memory;  ///< empty: no map, and GDB may read everywhere
};

/// What the server asks of the platform around it. An empty function means that the platform cannot do it, and the
/// debugger is told so. All are called on the simulation thread, and between slices unless noted.
struct gdb_hooks {
    /// A hart stopped: let the simulation return to its services soon (calendar::stop()). Called inside a callback.
    std::function<void()> end_slice;
    /// Power-on reset of the node (`monitor reset`).
    std::function<void()> reset;
    /// The debugger killed the node: end the run.
    std::function<void()> kill;
    std::function<ticks()> now;
    /// Statistics whose path starts with a prefix.
    std::function<statistics_snapshot(const std::string& prefix)> statistics;
    std::function<void()> restart_statistics;
    /// Breakpoints are to stop only wavefronts of one kernel; empty: of all.
    std::function<void(const std::string& kernel)> stop_only;
    /// What adapters of the node know of a queue pair, or of all, a line each; empty if there is none.
    std::function<std::string(std::optional<std::uint32_t> number)> queue_pair;
    /// The queues of a GPU, or of all GPUs if the name is empty: one with all that it holds, or all that are open, a
    /// line each. Empty if there is none. \throws std::exception with one line if the node has no such GPU
    std::function<std::string(const std::string& gpu, std::optional<unsigned> number)> gpu_queue;
    /// Starts a trace into `file` (empty: the default) and returns the file's name. \throws std::exception with one
    /// line
    std::function<std::string(const std::string& file)> start_trace;
    std::function<void()> stop_trace;
    /// Called some 50 times a second while the debugger holds the simulation, so that other services live on. Returning
    /// false makes gdb_server::poll() return although the harts stay halted (a run that is to end, for instance).
    std::function<bool()> while_stopped;
};

}  // namespace fabricvp
