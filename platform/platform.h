// SPDX-License-Identifier: Apache-2.0
// A machine with everything around it that a person needs: configuration, images, consoles, run control, results.
// The CLI, the Python package and embedders use this class and nothing below it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/parameters.h"
#include "base/statistics.h"
#include "base/time.h"

namespace fabricvp {

class machine;      // the hardware: platform/machine.h
class console;      // one node's serial line: platform/console.h

/// Bad user input. what() is the one line to print; the process exits with status 2.
class input_error : public std::runtime_error {
public:
    /// Control characters and bytes that are not UTF-8 are shown as \xNN, so that the message stays one printable line.
    explicit input_error(const std::string& message);
};

enum class run_outcome {
    time_limit,    ///< the limit given to run() was reached
    power_off,     ///< the guest powered off cleanly
    guest_failure, ///< the guest reported failure (test finisher, tohost)
    breakpoint,    ///< a debugger or a Python breakpoint stopped a hart
    event,         ///< a condition given by the caller became true (console line, marker)
    interrupted,   ///< request_stop(), Ctrl-C
    idle,          ///< nothing is scheduled any more: time cannot advance
    watchdog       ///< no progress: detail names the stuck component
};

struct run_result {
    run_outcome outcome = run_outcome::time_limit;
    int guest_status = 0;   ///< exit code of the guest where it gave one
    std::string detail;     ///< one line for people
};

/// Images of one node. Empty paths are absent.
struct image_set {
    std::string firmware;  ///< ELF or raw binary at the reset address (OpenSBI, own firmware)
    std::string kernel;    ///< ELF at its addresses, or raw `Image` at the firmware's jump address
    std::string initrd;
    std::string append;    ///< kernel command line (/chosen bootargs)
    bool tohost = false;   ///< watch the ELF's `tohost` symbol (riscv-tests)
    std::string app;       ///< GPU application that the firmware runs; its verdict becomes app.ok
};

class platform {
public:
    /// `key=value` pairs in dotted paths ("node.host.harts", "4"), applied over the file.
    using overrides = std::vector<std::pair<std::string, std::string>>;

    /// Reads a configuration and builds the machine. One platform a process, because SystemC elaborates once.
    /// \throws input_error
    static std::unique_ptr<platform> from_config(const std::string& path, const overrides& set = {});
    static std::unique_ptr<platform> from_text(const std::string& yaml, const std::string& name, const overrides& set = {});
    ~platform();

    machine& hardware();
    const machine& hardware() const;
    std::size_t node_count() const;

    /// Loads a node's images now. Fields that are empty keep what the configuration names; relative paths start from the
    /// working directory. What the configuration names is loaded at the first run_until(). \throws input_error
    void load_images(std::size_t node, const image_set& images = {});
    /// Copies a file's ELF segments to their physical addresses; returns the entry point.
    std::uint64_t load_elf(std::size_t node, const std::string& path);
    void load_binary(std::size_t node, const std::string& path, std::uint64_t address);

    /// Runs until `limit` (absolute simulated time) or an outcome. May be called again; not from within a callback.
    run_result run_until(ticks limit);
    /// Ends run_until() soon; the only member that may be called from a signal handler or another thread.
    void request_stop();
    /// Ends run_until() with run_outcome::event; for conditions that callers watch on the simulation thread.
    void stop_with_event(std::string detail);
    /// The same with another outcome (a breakpoint of a caller's own, for instance). The first reason counts.
    void stop_with(run_outcome outcome, std::string detail);
    ticks now() const;

    /// Called between slices on the simulation thread (servers, user interfaces).
    void add_service(std::function<void()> poll);

    console& serial(std::size_t node);

    /// Physical memory of a node as the bus decodes it, without time or side effects. \returns bytes done
    std::size_t read_memory(std::size_t node, std::uint64_t address, void* to, std::size_t size);
    std::size_t write_memory(std::size_t node, std::uint64_t address, const void* from, std::size_t size);

    /// Statistics plus sim.time_s, sim.wall_s, sim.events, sim.instructions, and app.ok where an application ran.
    statistics_snapshot statistics() const;
    std::string resolved_config() const;  ///< YAML with every parameter and its value
    /// Writes stats.json, stats.csv, config.resolved.yaml, fabric.svg (where GPUs are linked: what their links carried) and
    /// what was recorded (console logs, regions, trace). \throws input_error
    void write_results(const std::string& folder) const;

    void reset();

    /// What can be injected, block by block.
    struct fault_argument {
        std::string name, value, allowed, help;  ///< `value` is the default
    };
    struct fault_description {
        std::string target, kind, help;
        std::vector<fault_argument> arguments;
    };
    std::vector<fault_description> faults() const;
    /// Lets a fault happen at an absolute simulated time, in a calendar callback. `target` is the hierarchical name of a
    /// block that offers the kind, or of one around it if only one block in there does. \throws input_error
    void inject(const std::string& target, const std::string& kind, ticks at, const overrides& arguments = {});

    /// Listens for GDB on a loopback port (0: any); returns the port. With `hold`, run_until() waits until a debugger has
    /// connected and resumed the node. \throws input_error
    std::uint16_t listen_gdb(std::size_t node, std::uint16_t port, bool hold = false);

    /// True while a debugger is attached to the node.
    bool debugged(std::size_t node) const;
    /// In a forked child: lets go of terminals, sockets and debuggers without a word; they stay the parent's.
    void detach_after_fork();

    /// Records a Perfetto trace from now on, which write_results() ends and leaves as trace.json. `filter` is a glob over
    /// hierarchical names, or text that they contain; empty for all. \throws input_error
    void start_trace(ticks from, ticks to, const std::string& filter, std::uint64_t most_bytes);

private:
    platform();
    struct implementation;
    std::unique_ptr<implementation> m;
};

}  // namespace fabricvp
