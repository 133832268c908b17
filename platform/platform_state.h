// SPDX-License-Identifier: Apache-2.0
// What platform's members share. Not for users of platform.h.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/console/line_console.h"
#include "gpu/debugging/gpu_debugger.h"
#include "platform/fault_plan.h"
#include "platform/gdb/gdb_server.h"
#include "platform/loader/boot_plan.h"
#include "platform/machine.h"
#include "platform/platform.h"
#include "platform/tohost.h"
#include "platform/trace_recording.h"
#include "platform/watchdog.h"

namespace fabricvp {

/// What surrounds one node.
struct node_surroundings {
    image_set images;                     ///< as configured, paths resolved when loaded
    std::string image_base;               ///< folder that relative paths start from
    std::unique_ptr<boot_plan> loaded;    ///< in memory now
    std::vector<std::unique_ptr<boot_plan>> extras;  ///< of load_elf() and load_binary(), loaded again at reset
    std::unique_ptr<line_console> serial;
    std::vector<std::unique_ptr<gpu::gpu_debugger>> wavefronts;  ///< one a GPU, while there is a GDB port
    std::unique_ptr<gdb_server> gdb;
    std::optional<tohost_port> tohost;
};

struct platform::implementation {
    implementation(const machine_params& params, std::string image_base);
    ~implementation();

    machine_params params;
    std::unique_ptr<machine> hardware;
    std::vector<node_surroundings> around;  ///< one a node
    std::unique_ptr<watchdog> guard;
    std::unique_ptr<fault_plan> planned_faults;
    std::vector<std::function<void()>> services;
    std::unique_ptr<trace_recording> recording;

    bool started = false;
    bool running = false;
    bool reset_wanted = false;
    std::atomic<bool> stop_wanted{false};
    std::optional<run_result> ending;
    std::chrono::duration<double> wall{0};
    std::map<std::string, double> extra_statistics;  ///< "tohost.test"

    host::host_complex& host(std::size_t node) { return hardware->nodes[node]->host; }
    memory_range memory(std::size_t node) const;

    void connect(std::size_t node);
    /// Reads or writes memory for a debugger at a physical address as GPUs of the node have them.
    bool access_of_gpu(std::size_t node, std::uint64_t physical, void* data, std::size_t size, bool write);
    void load(std::size_t node);
    void place(std::size_t node, const boot_plan& plan);
    void start();
    void restart();
    /// Ends the run; the first reason counts.
    void end(run_outcome outcome, std::string detail, int status = 0);

    run_result run(ticks limit);
    void run_slices(ticks limit);
    bool step(ticks limit);
    void serve();
    void serve_consoles();
    void check_tohost();
    void pace();
    bool someone_may_act() const;
    bool all_harts_wait() const;

    struct pacing {
        bool active = false;
        std::chrono::steady_clock::time_point wall;
        ticks simulated = 0;
    } pacing;

    /// Keeps an idle calendar going until a time that something outside waits for.
    struct idler {
        void wake() {}
        calendar_event event{method<&idler::wake>, this};
    };
    std::unique_ptr<idler> idle;
};

}  // namespace fabricvp
