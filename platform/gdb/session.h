// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/gdb/field_reader.h"
#include "platform/gdb/gdb_hooks.h"
#include "platform/gdb/monitor.h"
#include "platform/gdb/run_control.h"

namespace fabricvp::gdb {

/// One debugger's conversation: takes packet payloads, acts on the process and sends payloads back. It does no input or
/// output of its own and accepts anything: what it does not understand gets an empty reply, what cannot be done `E01`.
class session {
public:
    /// The process is halted when the session begins. All arguments must outlive it.
    session(const gdb_process& process, const gdb_hooks& hooks, run_control& run,
            std::function<void(std::string_view)> send);

    /// A packet's payload.
    void receive(std::string_view payload);
    /// The interrupt byte.
    void interrupt();
    /// Reports a thread that has stopped since the process was resumed.
    void report_stop();
    /// Reports the end of the process.
    void report_exit(int status);

    /// The debugger switched acknowledgements off.
    bool no_acknowledge() const { return m_no_acknowledge; }
    /// The debugger has said good-bye.
    bool over() const { return m_over; }

private:
    struct last_report {
        run_control::stop stop;
        int signal;
    };

    void reply(std::string_view payload) { m_send(payload); }
    void reply_ok(bool good = true) { m_send(good ? "OK" : "E01"); }
    bool allowed_now(std::string_view payload) const;

    // session.cpp: registers, memory, break- and watchpoints
    void read_registers();
    void write_registers(field_reader fields);
    void read_register(field_reader fields);
    void write_register(field_reader fields);
    void read_memory(field_reader fields, bool binary);
    void write_memory(field_reader fields, bool binary);
    void change_breakpoint(field_reader fields, bool insert);
    std::string register_text(std::size_t thread, unsigned number) const;

    // session_query.cpp: what the debugger wants to know
    void query(field_reader fields);
    void set(field_reader fields);
    void negotiate(field_reader features);
    void transfer(field_reader fields);
    void list_threads(bool first);
    void extra_info(field_reader fields);
    void command(std::string_view hex);
    std::string id_text(std::size_t thread) const;
    std::optional<std::size_t> find(thread_id id) const;

    // session_run.cpp: running and stopping
    void status();
    void select(field_reader fields);
    void verbose(field_reader fields);
    void continue_all(field_reader fields);
    void legacy_resume(field_reader fields, bool step, bool with_signal);
    void attach(field_reader fields);
    void detach(field_reader fields);
    void kill(bool acknowledge);
    void alive(field_reader fields);
    std::string stop_text() const;

    const gdb_process& m_process;
    const gdb_hooks& m_hooks;
    run_control& m_run;
    std::function<void(std::string_view)> m_send;
    monitor m_monitor;
    last_report m_last;
    std::size_t m_selected = 0;             // thread of g, G, m, M, p, P (Hg)
    std::optional<std::size_t> m_run_only;  // thread of c and s (Hc); none: all
    std::size_t m_listed = 0;               // qsThreadInfo goes on here
    bool m_multiprocess = false;
    bool m_knows_swbreak = false;
    bool m_knows_hwbreak = false;
    bool m_no_acknowledge = false;
    bool m_extended = false;
    bool m_over = false;
};

}  // namespace fabricvp::gdb
