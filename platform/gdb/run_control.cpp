// SPDX-License-Identifier: Apache-2.0
#include "platform/gdb/run_control.h"

#include <algorithm>

#include "platform/gdb/target_description.h"

namespace fabricvp::gdb {

using riscv::stop_reason;

run_control::run_control(const std::vector<riscv::debug_target*>& threads, const gdb_hooks& hooks,
                         std::size_t lockstep_threads)
    : breakpoints(threads),
      m_threads(threads),
      m_hooks(hooks),
      m_lockstep_threads(std::min(lockstep_threads, threads.size())),
      m_active(threads.size()) {}

run_control::~run_control() { detach(); }

void run_control::attach() {
    if (m_attached) return;
    m_attached = true;
    for (auto* t : m_threads) t->set_debug_listener(this);
    halt_all();
    set_lockstep(true);
}

void run_control::detach() {
    if (!m_attached) return;
    m_attached = false;
    m_running = false;
    m_stops.clear();
    breakpoints.remove_all();
    set_lockstep(false);
    for (auto* t : m_threads) {
        t->set_debug_listener(nullptr);
        t->resume();
    }
}

void run_control::halt_all() {
    m_running = false;
    m_active.assign(m_threads.size(), false);
    for (auto* t : m_threads) t->halt();
}

void run_control::resume(const std::vector<action>& actions) {
    const auto action_of = [&](std::size_t n) { return n < actions.size() ? actions[n] : action::stay; };
    m_running = true;
    for (std::size_t n = 0; n < m_threads.size(); ++n) m_active[n] = action_of(n) != action::stay;

    // What a thread hit while another one's stop was reported is due now, unless the debugger took the cause away.
    const auto others_stay = [&](std::size_t n) {
        return std::count(m_active.begin(), m_active.end(), true) == 1 && m_active[n];
    };
    const auto obsolete = [&](const stop& s) { return m_active[s.thread] && !still_due(s); };
    m_stops.erase(std::remove_if(m_stops.begin(), m_stops.end(), obsolete), m_stops.end());
    // Harts that are resumed on a breakpoint go on, but to GDB a breakpoint that is there stops: where it wants to go
    // on, it takes the breakpoint away for a step. Threads that were halted just in front of one would miss theirs.
    for (std::size_t n = 0; n < m_threads.size(); ++n)
        if (std::uint64_t next = 0; action_of(n) == action::go && m_threads[n]->next_instruction(next) &&
                                    breakpoints.breaks_at(next) && m_threads[n]->stops_at(next))
            add_breakpoint_stop(n, next);
    // A step that must wait for others that stay where they are would never end.
    for (std::size_t n = 0; n < m_threads.size(); ++n)
        if (std::uint64_t next = 0;
            action_of(n) == action::step && others_stay(n) && !m_threads[n]->next_instruction(next))
            m_stops.push_back({n, stop_reason::step, 0, 0});
    if (std::any_of(m_stops.begin(), m_stops.end(), [&](const stop& s) { return m_active[s.thread]; })) return;

    for (std::size_t n = 0; n < m_threads.size(); ++n) {
        if (action_of(n) == action::go) m_threads[n]->resume();
        if (action_of(n) == action::step) m_threads[n]->step();
    }
}

void run_control::interrupt(std::size_t thread) {
    if (!m_running) return;
    m_active[thread] = true;
    m_stops.push_back({thread, stop_reason::halted, 0, 0});
}

std::optional<run_control::stop> run_control::take_stop() {
    if (!m_running) return std::nullopt;
    const auto first = std::find_if(m_stops.begin(), m_stops.end(), [&](const stop& s) { return m_active[s.thread]; });
    if (first == m_stops.end()) return std::nullopt;
    stop taken = *first;
    m_stops.erase(first);
    halt_all();
    taken.pc = pc_of(taken.thread);
    for (auto& s : m_stops) s.pc = pc_of(s.thread);
    return taken;
}

void run_control::stopped(riscv::debug_target& target, stop_reason reason, std::uint64_t address) {
    // Threads that halt because they were told to do not count.
    if (!m_running || reason == stop_reason::none || reason == stop_reason::halted) return;
    const auto at = std::find(m_threads.begin(), m_threads.end(), &target);
    if (at == m_threads.end()) return;
    m_stops.push_back({static_cast<std::size_t>(at - m_threads.begin()), reason, address, 0});
    if (m_hooks.end_slice) m_hooks.end_slice();
}

void run_control::set_lockstep(bool on) {
    if (m_lockstep_threads == 1) return;  // no thread to be ahead of: it runs at full speed under the debugger
    for (std::size_t n = 0; n < m_lockstep_threads; ++n) m_threads[n]->set_lockstep(on);
}

bool run_control::still_due(const stop& s) const {
    if (!m_threads[s.thread]->alive() || pc_of(s.thread) != s.pc) return false;
    switch (s.reason) {
        case stop_reason::breakpoint:
        case stop_reason::hardware_breakpoint: return breakpoints.breaks_at(s.pc);
        case stop_reason::watch_write:
        case stop_reason::watch_read:
        case stop_reason::watch_access: return breakpoints.watches(s.address);
        default: return false;
    }
}

void run_control::add_breakpoint_stop(std::size_t thread, std::uint64_t pc) {
    if (std::any_of(m_stops.begin(), m_stops.end(), [&](const stop& s) { return s.thread == thread; })) return;
    m_threads[thread]->show_next();
    const auto reason = breakpoints.is_hardware(pc) ? stop_reason::hardware_breakpoint : stop_reason::breakpoint;
    m_stops.push_back({thread, reason, pc, pc});
}

std::uint64_t run_control::pc_of(std::size_t thread) const {
    std::uint64_t pc = 0;
    m_threads[thread]->read_register(register_number::pc, pc);
    return pc;
}

}  // namespace fabricvp::gdb
