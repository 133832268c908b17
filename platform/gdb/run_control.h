// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "platform/gdb/breakpoint_table.h"
#include "platform/gdb/gdb_hooks.h"
#include "riscv/hart_debug.h"

namespace fabricvp::gdb {

/// Stops and resumes the threads of a process together (all-stop mode) and remembers why they stopped.
class run_control : private riscv::debug_listener {
public:
    enum class action { stay, go, step };
    struct stop {
        std::size_t thread = 0;
        riscv::stop_reason reason = riscv::stop_reason::halted;
        std::uint64_t address = 0;  ///< watched address that was hit
        std::uint64_t pc = 0;
    };

    /// Both must outlive this object.
    run_control(const std::vector<riscv::debug_target*>& threads, const gdb_hooks& hooks,
                std::size_t lockstep_threads = ~std::size_t{0});
    virtual ~run_control();

    breakpoint_table breakpoints;

    /// Halts all threads, listens to them and puts them into lockstep.
    void attach();
    /// Removes all breakpoints and lets all threads run.
    void detach();
    bool attached() const { return m_attached; }
    /// Attached, and threads may execute.
    bool running() const { return m_running; }

    /// Halts all threads again, after a reset of the machine for instance.
    void halt_all();
    /// One action a thread; the others stay halted.
    void resume(const std::vector<action>& actions);
    /// Stops a running process by the user's wish; `thread` is the one to report.
    void interrupt(std::size_t thread);
    /// If a thread has stopped since resume(), halts all others and tells which.
    std::optional<stop> take_stop();

private:
    void stopped(riscv::debug_target& target, riscv::stop_reason reason, std::uint64_t address) override;
    bool still_due(const stop& s) const;
    void add_breakpoint_stop(std::size_t thread, std::uint64_t pc);
    std::uint64_t pc_of(std::size_t thread) const;
    void set_lockstep(bool on);

    const std::vector<riscv::debug_target*>& m_threads;
    const gdb_hooks& m_hooks;
    const std::size_t m_lockstep_threads;
    std::deque<stop> m_stops;    // not reported yet; several threads may stop before the simulation comes to a halt
    std::vector<bool> m_active;  // threads that the last resume() let go
    bool m_attached = false;
    bool m_running = false;
};

}  // namespace fabricvp::gdb
