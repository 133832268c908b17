// SPDX-License-Identifier: Apache-2.0
// Running and stopping: resume packets, stop replies, attach and detach.
#include <algorithm>

#include <fmt/format.h>

#include "platform/gdb/session.h"
#include "platform/gdb/target_description.h"

namespace fabricvp::gdb {

using action = run_control::action;
using riscv::stop_reason;

namespace {

constexpr int signal_interrupt = 2;
constexpr int signal_trap = 5;

int signal_of(stop_reason reason) {
    switch (reason) {
        case stop_reason::halted: return signal_interrupt;
        case stop_reason::bad_instruction: return 4;
        case stop_reason::bad_access: return 11;
        default: return signal_trap;
    }
}

}  // namespace

void session::status() {
    if (!m_run.attached()) return reply("W00");  // extended mode after a detach: no process
    reply(stop_text());
}

std::string session::stop_text() const {
    const auto& stop = m_last.stop;
    std::string text = fmt::format("T{:02x}", m_last.signal);
    switch (stop.reason) {
        case stop_reason::breakpoint:
            if (m_knows_swbreak) text += "swbreak:;";
            break;
        case stop_reason::hardware_breakpoint:
            if (m_knows_hwbreak) text += "hwbreak:;";
            break;
        case stop_reason::watch_write: text += fmt::format("watch:{:x};", stop.address); break;
        case stop_reason::watch_read: text += fmt::format("rwatch:{:x};", stop.address); break;
        case stop_reason::watch_access: text += fmt::format("awatch:{:x};", stop.address); break;
        default: break;
    }
    for (const unsigned n : {register_number::sp, register_number::pc})
        text += fmt::format("{:02x}:{};", n, register_text(stop.thread, n));
    return text + "thread:" + id_text(stop.thread) + ";";
}

void session::interrupt() { m_run.interrupt(m_last.stop.thread); }

void session::report_stop() {
    const auto stop = m_run.take_stop();
    if (!stop) return;
    m_last = {*stop, signal_of(stop->reason)};
    m_selected = stop->thread;
    reply(stop_text());
}

void session::report_exit(int status) {
    constexpr int max_code = 0xff;  // of the packet; the low byte of a failure may be 0, which says that all is well
    if (m_run.running())
        reply(fmt::format(m_multiprocess ? "W{:02x};process:{:x}" : "W{:02x}", std::clamp(status, 0, max_code),
                          m_process.id));
    m_over = true;
}

void session::select(field_reader fields) {
    thread_id id;
    const bool for_run = fields.take('c');
    if ((!for_run && !fields.take('g')) || !fields.thread(id) || !fields.done()) return reply_ok(false);
    const auto thread = find(id);
    if (!thread) return reply_ok(false);
    if (!for_run)
        m_selected = *thread;
    else if (id.thread > 0)
        m_run_only = *thread;
    else
        m_run_only.reset();
    reply_ok();
}

void session::alive(field_reader fields) {
    thread_id id;
    reply_ok(m_run.attached() && fields.thread(id) && fields.done() && find(id));
}

void session::verbose(field_reader fields) {
    if (fields.rest() == "Cont?") return reply("vCont;c;C;s;S;t");
    if (fields.take("Cont;")) return continue_all(fields);
    if (fields.rest() == "CtrlC") {
        reply_ok();
        return interrupt();
    }
    if (fields.take("Attach;")) return attach(fields);
    if (fields.take("Kill;")) {
        std::uint64_t process = 0;
        if (!fields.number(process) || !fields.done() || process != m_process.id) return reply_ok(false);
        return kill(true);
    }
    reply("");
}

void session::continue_all(field_reader fields) {
    if (!m_run.attached() || m_run.running()) return reply_ok(false);
    const std::size_t count = m_process.threads.size();
    std::vector<action> actions(count, action::stay);
    std::vector<bool> decided(count, false);  // the leftmost action that names a thread is its own
    do {
        action wanted = action::stay;
        std::uint64_t signal = 0;
        if (fields.take('c'))
            wanted = action::go;
        else if (fields.take('s'))
            wanted = action::step;
        else if (fields.take('C') && fields.number(signal))
            wanted = action::go;
        else if (fields.take('S') && fields.number(signal))
            wanted = action::step;
        else if (!fields.take('t'))
            return reply_ok(false);

        thread_id id{thread_id::all, thread_id::all};
        if (fields.take(':') && !fields.thread(id)) return reply_ok(false);
        const auto named = find(id);
        if (!named) return reply_ok(false);
        for (std::size_t n = 0; n < count; ++n) {
            if (decided[n] || (id.thread != thread_id::all && n != *named)) continue;
            decided[n] = true;
            actions[n] = wanted;
        }
    } while (fields.take(';'));
    if (!fields.done()) return reply_ok(false);
    m_run.resume(actions);
    // No thread may run: the process is where it was.
    if (std::all_of(actions.begin(), actions.end(), [](action a) { return a == action::stay; })) interrupt();
}

void session::legacy_resume(field_reader fields, bool step, bool with_signal) {
    std::uint64_t ignored = 0, address = 0;
    if (with_signal && !fields.number(ignored)) return reply_ok(false);
    const bool with_address = with_signal ? fields.take(';') : !fields.done();
    if ((with_address && !fields.number(address)) || !fields.done()) return reply_ok(false);
    const std::size_t thread = m_run_only.value_or(m_selected);
    if (with_address && !m_process.threads[thread]->write_register(register_number::pc, address))
        return reply_ok(false);
    std::vector<action> actions(m_process.threads.size(), m_run_only ? action::stay : action::go);
    actions[thread] = step ? action::step : action::go;
    m_run.resume(actions);
}

void session::attach(field_reader fields) {
    std::uint64_t process = 0;
    if (!m_extended || !fields.number(process) || !fields.done() || process != m_process.id || m_run.attached())
        return reply_ok(false);
    m_run.attach();
    m_last = {{}, signal_trap};
    m_selected = 0;
    reply(stop_text());
}

void session::detach(field_reader fields) {
    std::uint64_t process = m_process.id;
    if (fields.take(';') && !fields.number(process)) return reply_ok(false);
    if (!fields.done() || process != m_process.id || !m_run.attached()) return reply_ok(false);
    m_run.detach();
    reply_ok();
    m_over = !m_extended;
}

void session::kill(bool acknowledge) {
    m_run.detach();
    if (m_hooks.kill) m_hooks.kill();
    if (acknowledge) reply_ok();
    m_over = true;
}

}  // namespace fabricvp::gdb
