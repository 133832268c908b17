// SPDX-License-Identifier: Apache-2.0
// The machine as Python sees it: `platform` plus everything that needs the interpreter (GIL, callbacks, signals,
// pending exceptions). Python objects are touched only with the GIL held; the simulation runs without it.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/python_device.h"
#include "bindings/python_timer.h"
#include "bindings/stop_listener.h"
#include "platform/apps.h"
#include "platform/machine.h"
#include "platform/platform.h"
#include "platform/progress.h"

namespace fabricvp::python {

namespace py = pybind11;

/// A device register by name; reads and writes the stored value.
struct register_handle {
    std::string device;
    device_register* reg;
};

class session {
public:
    /// The process's only session; it is never destroyed. \throws input_error
    static session& from_config(const std::string& path, const platform::overrides& set);
    static session& from_text(const std::string& yaml, const std::string& name, const platform::overrides& set);
    static session& from_recording(const std::string& recording, const std::string& path,
                                   const platform::overrides& set, const std::string& replica_placement);
    static bool exists() { return s_session != nullptr; }
    static session& current() { return *s_session; }

    platform& machine() { return *m_platform; }

    // Running: session.cpp
    /// \param progress True: how a long run gets on is shown on the terminal of standard error; a function: it is
    /// called with such a line about once a second, and with a warning as a second argument where much is left to do;
    /// None
    std::tuple<std::string, int, std::string> run_until(ticks limit, const py::object& progress);
    bool running() const { return m_running; }
    /// \throws std::runtime_error inside of run_until()
    void check_not_running() const;
    void check_not_begun() const;
    void load_images(std::size_t node, const image_set& images);
    void load_app(std::size_t node, const std::string& name, const app_options& options);
    std::uint64_t load_elf(std::size_t node, const std::string& path);
    /// The whole machine, or one node.
    void reset(std::optional<std::size_t> node);
    /// State, exit code, one line, and when it ended.
    std::tuple<std::string, int, std::string, ticks> outcome(std::size_t node);
    std::shared_ptr<python_timer> call_at(ticks when, py::function function);
    /// Keeps the Python exception that is being handled, and ends the run, which raises it.
    void fail(std::exception_ptr error);
    /// Ends runs when the other end of a pipe is gone.
    void stop_when_closed(int descriptor) { m_parent = descriptor; }
    void before_fork();
    void after_fork_in_child();
    void close();

    // Watching: session_watch.cpp
    py::bytes console_output(std::size_t node, std::size_t from);
    int watch_console_text(std::size_t node, std::size_t from, std::string text, bool at_line_start,
                           std::string description);
    int watch_console(std::size_t node, py::function holds, std::string description);
    void unwatch_console(std::size_t node, int id) { at(node).console_watches.erase(id); }
    int watch_marker(std::size_t node, std::optional<std::string> label, std::optional<std::string> kind);
    void unwatch_marker(std::size_t node, int id) { at(node).marker_watches.erase(id); }

    // Harts and debugging: session_debug.cpp
    std::size_t hart_count(std::size_t node) { return at(node).harts.size(); }
    riscv::hart& hart(std::size_t node, std::size_t index);
    void insert_breakpoint(std::size_t node, std::uint64_t address);
    void remove_breakpoint(std::size_t node, std::uint64_t address);
    void insert_watchpoint(std::size_t node, std::uint64_t address, std::uint64_t size, const std::string& kind);
    void remove_watchpoint(std::size_t node, std::uint64_t address, std::uint64_t size, const std::string& kind);
    /// Address of a symbol of the ELF files of a node. \throws input_error
    std::uint64_t symbol(std::size_t node, const std::string& name);

    // Memory, devices, statistics, parameters: session_views.cpp
    py::bytes read_memory(std::size_t node, std::uint64_t address, std::size_t size);
    std::size_t write_memory(std::size_t node, std::uint64_t address, const py::buffer& data);
    py::object view_memory(std::size_t node, std::uint64_t address, std::size_t size);
    std::vector<register_handle> device_registers(std::size_t node);
    std::shared_ptr<python_device> add_device(std::size_t node, std::uint64_t base, std::uint64_t size,
                                              py::object object, const std::string& name, int interrupt);
    py::list parameters();
    std::vector<std::tuple<std::string, std::string, std::string>> statistic_descriptions();
    std::vector<std::string> time_series_names();
    std::optional<std::pair<ticks, std::vector<double>>> time_series(const std::string& path);

private:
    struct console_watch {
        std::function<bool(const std::string& output)> holds;
        std::string description;
    };
    struct marker_watch {
        std::optional<std::string> label;
        std::optional<std::string> kind;
    };
    struct node {
        std::vector<riscv::hart*> harts;
        host::host_complex* host = nullptr;
        std::vector<host::register_target*> devices;
        std::vector<std::string> elf_files;
        bool watches_console = false;
        bool watches_marker = false;
        std::map<int, console_watch> console_watches;
        std::map<int, marker_watch> marker_watches;
        std::unique_ptr<stop_listener> stops;
    };

    explicit session(std::unique_ptr<platform> machine);
    static session& adopt(std::unique_ptr<platform> machine);
    static void find_devices(node& into, const sc_core::sc_object& under);
    node& at(std::size_t index);
    void check_not_debugged(std::size_t node) const;
    int watch_output(std::size_t node, console_watch watch);
    void poll();
    void tell_progress();

    static session* s_session;

    std::unique_ptr<platform> m_platform;
    std::vector<node> m_nodes;
    std::vector<std::shared_ptr<python_device>> m_devices;
    std::vector<std::shared_ptr<python_timer>> m_timers;
    std::exception_ptr m_failure;
    std::optional<progress_line> m_progress_line;    ///< of the present run, on a terminal
    std::optional<progress_meter> m_progress_meter;  ///< of the present run, for a function
    py::object m_on_progress;
    std::chrono::steady_clock::time_point m_last_poll;
    int m_next_watch = 0;
    int m_parent = -1;
    bool m_running = false;
};

}  // namespace fabricvp::python
