// SPDX-License-Identifier: Apache-2.0
// What platform's members share. Not for users of platform.h.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "gpu/debugging/gpu_debugger.h"
#include "gpu/replay/recorder.h"
#include "platform/console/console_script.h"
#include "platform/console/line_console.h"
#include "platform/fault_plan.h"
#include "platform/gdb/gdb_server.h"
#include "platform/input_wait_detector.h"
#include "platform/loader/boot_plan.h"
#include "platform/machine.h"
#include "platform/network_capture.h"
#include "platform/platform.h"
#include "platform/profile/guest_profile.h"
#include "platform/ranked_subject.h"
#include "platform/ranks/communicator.h"
#include "platform/ranks/partition.h"
#include "platform/ranks/rank_part.h"
#include "platform/ranks/rank_plan.h"
#include "platform/ranks/window_synchronizer.h"
#include "platform/results/results.h"
#include "platform/results/run_folder.h"
#include "platform/run_monitor.h"
#include "platform/tohost.h"
#include "platform/trace_recording.h"
#include "platform/watchdog.h"

namespace fabricvp {

/// Runs go in slices of simulated time; between them, everything around the simulation is served.
inline constexpr ticks run_slice = 100'000'000;  // 100 us
inline ticks next_slice_end(ticks now) {
    return now > never - 2 * run_slice ? never : (now / run_slice + 1) * run_slice;
}
inline constexpr const char* input_wait_message = "the guests wait for input, and no console can give any";

/// The file that write_results() leaves of a node's RAM disk.
inline std::string kept_initrd_name(std::size_t node) { return "initrd.node" + std::to_string(node) + ".img"; }

std::string ended_by(const run_result& result);

/// What surrounds one node.
struct node_context {
    image_set images;                                ///< as configured, paths resolved when loaded
    std::optional<std::string> kept_initrd;          ///< contents, which results are to have
    std::string image_base;                          ///< folder that relative paths start from
    std::unique_ptr<boot_plan> loaded;               ///< in memory now
    std::vector<std::unique_ptr<boot_plan>> extras;  ///< of load_elf() and load_binary(), loaded again at reset
    std::unique_ptr<line_console> serial;
    std::vector<std::unique_ptr<gpu::gpu_debugger>> wavefronts;  ///< one a GPU, while there is a GDB port
    std::unique_ptr<gdb_server> gdb;
    std::optional<tohost_port> tohost;
    std::unique_ptr<console_script> script;
    node_outcome outcome;
    std::optional<std::uint64_t> test;  ///< what `tohost` said: 0 or the number of the failed test
    bool end_unreported = false;        ///< to its debugger
    bool reset_wanted = false;
    bool has_software() const { return !images.firmware.empty() || !images.kernel.empty() || !extras.empty(); }
};

struct platform::implementation {
    implementation(const machine_params& params, std::string image_base, ranks::communicator* communicator = nullptr);
    ~implementation();

    machine_params params;
    ranks::communicator* const communicator;      ///< the run's other processes; null: this one has the whole machine
    std::unique_ptr<ranks::partition> partition;  ///< which of them has what
    std::unique_ptr<machine> hardware;
    std::vector<node_context> contexts;  ///< one a node
    std::unique_ptr<watchdog> guard;
    std::unique_ptr<fault_plan> planned_faults;
    std::vector<std::function<void()>> services;
    std::shared_ptr<run_monitor> onlooker;      ///< of platform::monitor()
    std::unique_ptr<ranked_look> look;          ///< of the same, with ranks
    const ranked_subject* looked_at = nullptr;  ///< of the onlooker, in rank 0
    std::unique_ptr<trace_recording> recording;
    std::unique_ptr<network_capture> capture;
    std::unique_ptr<run_folder> results;  ///< of open_results()
    std::unique_ptr<input_wait_detector> input_wait;
    std::unique_ptr<ranks::window_synchronizer> synchronizer;  ///< keeps in step with the others
    std::unique_ptr<ranks::partition> planned_parts;           ///< of plan_ranks()
    std::unique_ptr<ranks::rank_plan> plan;                    ///< what they would have to do
    std::vector<ranks::rank_part> rank_parts;  ///< what all ranks have measured, once it is here; by rank
    std::unique_ptr<gpu::replay::recorder> recorder;
    std::string recorder_path;
    std::vector<std::string> command;
    std::vector<std::string> symbol_files;   ///< of add_symbols()
    std::unique_ptr<guest_profile> profile;  ///< it knows harts and GPUs

    bool started = false;
    bool running = false;
    std::atomic<bool> stop_wanted{false};
    std::optional<run_result> ending;
    /// What happens at one node is known to another one after this time at the earliest; 0 where no network links them.
    ticks lookahead = 0;
    /// When the nodes that have ended end the run: where a network links nodes, that is known to all of them by then.
    ticks end_at = never;
    ticks slice_end = never;                   ///< of the present slice
    ticks look_end = never;                    ///< when ranks are looked at next
    bool has_scripts = false;                  ///< in some rank
    bool scripts_pending = false;              ///< when scripts were last looked at, some waited
    std::vector<std::size_t> unreported_ends;  ///< nodes that have ended, which other ranks do not know
    std::vector<std::pair<std::size_t, ticks>>
        forwarded_faults;  ///< faults of other ranks whose marks have come here, and when they happen
    std::chrono::duration<double> wall{0};

    host::host_complex& host(std::size_t node) { return hardware->nodes[node]->host; }
    memory_range memory(std::size_t node) const;

    void connect(std::size_t node);
    void check_scopes() const;
    /// Reads or writes memory for a debugger at a physical address as GPUs of the node have them.
    bool access_of_gpu(std::size_t node, std::uint64_t physical, void* data, std::size_t size, bool write);
    void load(std::size_t node);
    void place(std::size_t node, const boot_plan& plan);
    void start();
    void restart();
    void restart(std::size_t node);
    /// Resets the nodes that wish it, or arranges that this happens once the running callback is over.
    void serve_resets();

    /// platform_profile.cpp: made when it is asked for first
    guest_profile& profiler();

    /// platform_replay.cpp
    void start_replay(std::size_t node);

    /// platform_nodes.cpp
    void node_ended(std::size_t node, node_state state, int status, std::string detail);
    void node_rejected(std::size_t node);  ///< its end is not waited for
    /// Tells debuggers of nodes that have ended.
    void report_ends();
    /// True if the end of the run depends on this node.
    bool determines_end(std::size_t node) const;
    bool all_ended() const;
    /// Sets when the run ends, if its nodes have decided that.
    void plan_end();
    /// Ends the run with what its nodes have come to.
    void end_by_nodes();
    void add_verdicts(statistics_snapshot& values) const;
    std::string failure_message() const;
    bool owes_result(std::size_t node) const;
    run_record record(bool complete) const;
    /// Lets scripts look at their consoles, and ends the run with them. Where a network links nodes only at the ends of
    /// slices, which all ranks have.
    void serve_scripts();
    struct script_state {
        bool waits, done, finishes;
        std::string failure;
    };
    std::map<std::size_t, script_state> look_at_scripts();
    void conclude_scripts(const std::map<std::size_t, script_state>& all);
    /// How far scripts have come, by node; of all ranks, once that is here.
    std::map<std::size_t, script_report> script_reports() const;

    /// platform_ranks.cpp: what this process has of the machine, and how it runs with the others
    machine_partition local_partition();
    void create_synchronizer();
    void run_with_ranks(ticks limit);
    void agree_on_scripts();
    void agree_on_end(ticks limit, bool quiet);
    bool run_ranks_to_slice_end();
    void begin_look(std::unique_ptr<run_subject> own);
    void serve_onlooker_of_ranks();
    void go_on_after_look();
    std::string control_messages();
    void apply_control_messages(const std::string& control_messages);
    statistics_snapshot own_statistics() const;
    void add_rank(statistics_snapshot& values) const;
    void add_plan(statistics_snapshot& values) const;
    static void add_parallel_work(statistics_snapshot& values, const ranks::parallel_work& work);
    ranks::rank_part own_rank_part();

    /// platform_results.cpp: what a node has printed, was typed and dumped; of all ranks, once that is here
    struct node_results {
        std::string console, input;
        const std::vector<host::marker::region>* regions;
    };
    std::map<std::size_t, node_results> results_of_nodes() const;
    nlohmann::ordered_json whole_topology() const;

    /// Ends the run; the first reason counts.
    void end(run_outcome outcome, std::string detail, int status = 0);

    run_result run(ticks limit);
    void run_slices(ticks limit);
    void end_by_limit();
    /// The run is at a time at which it is looked after, whatever happened before.
    void after_slice(ticks limit);
    bool step(ticks limit);
    void serve();
    void serve_consoles();
    /// Serves who looks on. The run stands still here as long as they wish.
    void serve_onlooker();
    void check_tohost();
    void pace(bool all_wait);
    bool scheduled_input_pending() const;
    bool external_input_possible() const;
    bool all_harts_wait() const;

    struct pacing {
        bool active = false;
        bool slept = false;  ///< after the last slice
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
