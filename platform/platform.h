// SPDX-License-Identifier: Apache-2.0
// A machine with everything around it that a person needs: configuration, images, consoles, run control, results.
// The CLI, the Python package and embedders use this class and nothing below it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/parameters.h"
#include "base/statistics.h"
#include "base/time.h"
#include "base/trace.h"
#include "platform/common/trace_file.h"
#include "platform/loader/image_set.h"
#include "platform/results/outcome.h"

namespace fabricvp {

class machine;  // the hardware: platform/machine.h
struct machine_params;
class console;      // one node's serial line: platform/console/console.h
class run_monitor;  // who looks on while it runs: platform/run_monitor.h
namespace ranks {
class communicator;  // how processes that have parts of a machine talk: platform/ranks/communicator.h
}

class platform {
public:
    /// `key=value` pairs in dotted paths ("node.host.harts", "4"), applied over the file.
    using overrides = std::vector<std::pair<std::string, std::string>>;
    /// Bytes of a capture's or a recording's file.
    static constexpr std::uint64_t default_file_limit = std::uint64_t{1} << 30;

    /// Reads a configuration and builds the machine. One platform a process, because SystemC elaborates once.
    /// \param communicator the run's other processes, each of which has a part of the machine; null: all is here. With
    /// others, what this process does not have cannot be asked for; there is no input, debugger or fork. \throws
    /// input_error
    static std::unique_ptr<platform> from_config(const std::string& path, const overrides& set = {},
                                                 ranks::communicator* communicator = nullptr);
    static std::unique_ptr<platform> from_text(const std::string& yaml, const std::string& name,
                                               const overrides& set = {});
    /// The fabric of a configuration, with a recording in the place of its GPUs and their software: run_until() plays
    /// it, and ends when it does (power_off; guest_failure where packets vanished or changed). \throws input_error,
    /// where the recording cannot be read, or does not fit the configuration
    static std::unique_ptr<platform> from_recording(const std::string& recording, const std::string& path,
                                                    const overrides& set = {},
                                                    const std::string& replica_placement = {});
    ~platform();

    machine& hardware();
    const machine& hardware() const;
    std::size_t node_count() const;

    /// Loads a node's images now. Fields that are empty keep what the configuration names, except where `images` are
    /// those of a GPU application, which runs alone; relative paths start from the working directory. What the
    /// configuration names is loaded at the first run_until(). \throws input_error
    void load_images(std::size_t node, const image_set& images = {});
    /// Has write_results() leave the node's initial RAM disk beside the configuration, which names that file, since the
    /// one that it came from will be gone. \throws input_error
    void keep_initrd(std::size_t node);
    /// Copies a file's ELF segments to their physical addresses; returns the entry point.
    std::uint64_t load_elf(std::size_t node, const std::string& path);
    void load_binary(std::size_t node, const std::string& path, std::uint64_t address);

    /// Runs until `limit` (absolute simulated time) or an outcome. May be called again; not from within a callback.
    /// Nodes that end (power off, fail) rest while the others run on; whose end is the end of the run is
    /// `simulation.until`, and the outcome is then guest_failure if one of them has failed. With all ended, it returns
    /// at once.
    run_result run_until(ticks limit);
    /// Records what the GPUs of node0 send to each other in the first region that its firmware marks, until
    /// finish_recording(). To be called before the first run_until(). \param max_bytes of the file, about: work-groups
    /// that begin later are left out \throws input_error
    void record(const std::string& file, std::uint64_t max_bytes = default_file_limit);
    /// Writes the file. \returns one line about it \throws input_error, where no such region has ended for instance
    std::string finish_recording();
    /// Of a recording that is played: which part of its transactions has ended.
    std::optional<double> replay_progress() const;
    /// What the hosts execute in all, about, to make and check the input of GPU applications; nothing where no node
    /// runs one, or where it is not known.
    std::optional<double> app_instructions() const;
    /// A line about GPU applications that will take more than a minute, before the run begins; nothing where that is
    /// not known.
    std::optional<std::string> long_work_message() const;
    /// All harts wait, and time keeps the pace of the wall clock, since keys may be typed.
    bool waits_for_user() const;
    const node_outcome& outcome(std::size_t node) const;
    /// Some node that the end of the run depends on has failed, or was to give a verdict (tohost, a GPU application)
    /// and has not, or a script was not done. One line about it; empty otherwise.
    std::string failure_message() const;
    /// Whether something happens by itself: nodes have software, or there are traffic generators or plug-ins.
    bool has_work() const;
    /// The node's guest is to give a verdict (tohost, a GPU application), and has not yet.
    bool owes_result(std::size_t node) const;
    /// Ends run_until() soon; the only member that may be called from a signal handler or another thread.
    void request_stop();
    /// Ends run_until() with run_outcome::event; for conditions that callers watch on the simulation thread.
    void stop_with_event(std::string detail);
    /// The same with another outcome (a breakpoint of a caller's own, for instance). The first reason counts.
    void stop_with(run_outcome outcome, std::string detail);
    ticks now() const;

    /// Called between slices on the simulation thread (servers, user interfaces).
    void add_service(std::function<void()> poll);

    /// Lets other threads see and steer runs. Results are the same. Made at the first call. With ranks all of them call
    /// it before the run: rank 0 gets the monitor of the whole machine, the others nothing, and follow it.
    std::shared_ptr<run_monitor> monitor();

    console& serial(std::size_t node);
    /// Lets a script (console/console_script.h) speak with a node from now on. When all scripts have ended, the run
    /// ends with run_outcome::event, unless they let the guest finish; a line whose text does not come ends it with
    /// guest_failure. Where a network links nodes, regular expressions, time-outs and ends of scripts count at
    /// multiples of 100 us. \param name of the file, for messages \throws input_error
    void run_script(std::size_t node, const std::string& text, const std::string& name);
    /// Results of all scripts in JUnit's format: a test suite a node, a test case for each line that types or waits,
    /// and one for the end of the run. Times are simulated. \param failure why the run failed; empty: it did not
    std::string script_results(const std::string& failure) const;
    /// For runs without a time limit: a guest that waits for console input must not run for ever. With
    /// this, the run ends (interrupted) when all guests have done nothing else for half a second of simulated time (a
    /// minute where their harts rest in wfi, since they may have set a timer) and no console, debugger or script can
    /// speak any more.
    void end_when_guests_wait();

    /// Physical memory of a node as the bus decodes it, without time or side effects. \returns bytes done
    std::size_t read_memory(std::size_t node, std::uint64_t address, void* to, std::size_t size);
    std::size_t write_memory(std::size_t node, std::uint64_t address, const void* from, std::size_t size);

    /// Statistics plus sim.time_s, sim.wall_s, sim.events, sim.instructions. Where a GPU application has ended
    /// nodeN.app.ok, where `tohost` is watched and has spoken nodeN.tohost.test, and over all nodes that have one
    /// app.ok and tohost.test.
    statistics_snapshot statistics() const;
    /// YAML with every parameter and its value. \param with_results as it stands beside what write_results() leaves
    std::string resolved_config(bool with_results = false) const;
    /// Writes stats.json, stats.csv, config.resolved.yaml, topology.json (blocks, links and what each of these
    /// carried), what was recorded (console logs, regions, trace), and run.json, which says that this is complete.
    /// Results of an earlier run are replaced as a whole. \throws input_error, where another run is leaving its results
    /// there for instance
    void write_results(const std::string& folder);
    /// Takes a folder for the results of this run, until write_results(): it is locked against other runs, those of
    /// earlier ones are removed, consoles are logged as they come, and run.json says that the run has not ended.
    /// \throws input_error
    void open_results(const std::string& folder);
    /// Brings what all processes of the run have measured and recorded to the first one, whose statistics() and
    /// write_results() are then about the whole machine. All of them call it, after run_until().
    void gather();
    /// Measures from now on what each of `count` ranks would have to do in its windows, for statistics() as those of a
    /// run with ranks. The machine is all here; results are the same. Before the first run_until(). \throws input_error
    /// where the machine cannot be cut so
    void plan_ranks(unsigned count);
    /// Whether this process has the node.
    bool has(std::size_t node) const;
    /// What started this run, for run.json.
    void set_command(std::vector<std::string> command);

    /// Power-on reset of the whole machine, or of one node while the others run on.
    void reset();
    void reset(std::size_t node);

    /// What can be injected, block by block.
    struct fault_argument {
        std::string name, value, allowed, help;  ///< `value` is the default
    };
    struct fault_description {
        std::string target, kind, help;
        std::vector<fault_argument> arguments;
    };
    std::vector<fault_description> faults() const;
    /// Lets a fault happen at an absolute simulated time, in a calendar callback. `target` is the hierarchical name of
    /// a block that offers the kind, or of one around it if only one block in there does. \throws input_error
    void inject(const std::string& target, const std::string& kind, ticks at, const overrides& arguments = {});

    /// Listens for GDB on a loopback port (0: any); returns the port. With `hold`, run_until() waits until a debugger
    /// has connected and resumed the node. \throws input_error
    std::uint16_t listen_gdb(std::size_t node, std::uint16_t port, bool hold = false);

    /// True while a debugger is attached to the node.
    bool debugged(std::size_t node) const;
    /// In a forked child: releases terminals, sockets and debuggers without a word; they stay the parent's.
    void detach_after_fork();

    /// Refuses names in the configuration that only the whole machine can judge: scopes of marks. A run begins with it.
    /// \throws input_error
    void check_names() const;
    /// Records a Perfetto trace from now on, which write_results() ends and leaves as trace.json or trace.pftrace.
    /// `filter` is a glob over hierarchical names, or text that they contain; empty for all. \throws input_error
    void start_trace(const trace::options& what, trace_file form);

    /// Writes packets of the network into a file as they leave ports, from now on: for Wireshark (pcap with ERF
    /// records), or as a table if the name ends in .csv. It is complete after each run_until(). `filter` is a glob over
    /// names of ports, or text that they contain; empty: the ports of channel adapters and generators. An empty file
    /// name ends it. Packets that would make the file larger than `max_bytes` are left out. \throws input_error
    void start_capture(const std::string& file, const std::string& filter = {},
                       std::uint64_t max_bytes = default_file_limit);

    /// Looks into an ELF file with debug information before it looks into those that are loaded: of a kernel or a
    /// program that nodes get by other means. Before start_profile() and start_coverage(). \throws input_error
    void add_symbols(const std::string& file);
    /// Samples harts and wavefronts once in each period of simulated time from now on. The run stays the same.
    /// \throws input_error for a period of 0, and with ranks
    void start_profile(ticks period);
    /// Stacks, "outermost;…;innermost", and how often each was sampled. \throws input_error if no profile was started
    std::map<std::string, std::uint64_t> profile_stacks();
    /// The same, a line each, as tools for flame graphs read them; and a page that shows them.
    std::string folded_stacks();
    std::string profile_page();
    /// Writes the page, and beside it the folded stacks, under the same name with .folded. \param page its name ends in
    /// .html \throws input_error
    void write_profile(const std::string& page);
    /// Whether it would take that name. \throws input_error
    static void check_profile_name(const std::string& page);
    /// Counts executions of the instructions of guests from now on. The run stays the same. \throws input_error with
    /// ranks
    void start_coverage();
    /// A tracefile of lcov: which source lines were executed, and how often. \throws input_error if it was not started
    std::string coverage();

private:
    platform();
    static std::unique_ptr<platform> from_params(const machine_params& params, const std::string& name,
                                                 ranks::communicator* communicator = nullptr);
    struct implementation;
    std::unique_ptr<implementation> m;
};

}  // namespace fabricvp
