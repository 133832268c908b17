// SPDX-License-Identifier: Apache-2.0
// The debugger's side of a hart. Breakpoints cost next to nothing: blocks are decoded so that one begins at each of
// them, and the beginning of such a block is looked up anew each time. While the hart steps, is in lockstep with others
// or has watchpoints, it decodes and checks instruction by instruction; stepping and lockstep make its slices one
// instruction long as well, so that what a person sees of several harts is not skewed.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "riscv/hart_core.h"

namespace fabricvp::riscv {

namespace {
constexpr unsigned register_pc = 32, register_f0 = 33, register_csr0 = 65, register_privilege = register_csr0 + 4096;
constexpr std::uint64_t page_size = sparse_memory::page_size;
}  // namespace

void hart::implementation::update_debugging() {
    const bool single = m_stepping || m_lockstep || !m_watchpoints.empty();
    m_debugging = single || m_splits.any();
    if (single == m_single) return;
    m_single = single;
    code_epoch();
}

void hart::implementation::insert_breakpoint(std::set<std::uint64_t>& into, std::uint64_t address) {
    constexpr std::size_t many = 64;
    if (m_breakpoints.empty() && m_hardware_breakpoints.empty() && m_splits.count() > many) m_splits.reset();
    into.insert(address);
    const auto index = split_index(address);
    if (!m_splits[index]) {
        m_splits.set(index);
        clear_code();  // blocks run across the address
    }
    update_debugging();
}

/// A hart that stands on a breakpoint goes on from there.
void hart::implementation::leave_debug_halt() {
    m_halted = false;
    m_skip_breakpoint = breaks_at(state.pc) ? state.pc : no_breakpoint;
    update_debugging();
    if (m_phase == phase::running) continue_at(m_local);
}

/// \returns true if the hart must not execute the instruction at `pc` now
bool hart::implementation::debug_stop_before(std::uint64_t pc) {
    state.pc = pc;
    if (m_watch_hit != stop_reason::none) {
        const auto reason = m_watch_hit;
        m_watch_hit = stop_reason::none;
        stop(reason, m_watch_address);
        return true;
    }
    if (m_stepping && m_executed) {
        stop(stop_reason::step, pc);
        return true;
    }
    if (pc != m_skip_breakpoint && breaks_at(pc)) {
        stop(m_hardware_breakpoints.count(pc) ? stop_reason::hardware_breakpoint : stop_reason::breakpoint, pc);
        return true;
    }
    m_skip_breakpoint = no_breakpoint;
    m_executed = true;
    return m_halted;
}

/// After a slice or an access: stops that need not wait for the next instruction.
void hart::implementation::settle_debug() {
    if (m_phase == phase::request || m_phase == phase::response) return;
    if (m_watch_hit != stop_reason::none) {
        const auto reason = m_watch_hit;
        m_watch_hit = stop_reason::none;
        stop(reason, m_watch_address);
    } else if (m_stepping && m_executed) {
        stop(stop_reason::step, state.pc);
    }
}

void hart::implementation::stop(stop_reason reason, std::uint64_t address) {
    m_halted = true;
    m_stepping = false;
    update_debugging();
    if (m_listener) m_listener->stopped(owner, reason, address);
}

void hart::implementation::note_watch(std::uint64_t address, unsigned size, access_type kind) {
    for (const auto& w : m_watchpoints) {
        if (address > w.address + (w.size - 1) || w.address > address + (size - 1)) continue;
        if (kind == access_type::read && w.kind == watch_kind::write) continue;
        if (kind == access_type::write && w.kind == watch_kind::read) continue;
        m_watch_hit = w.kind == watch_kind::write  ? stop_reason::watch_write
                      : w.kind == watch_kind::read ? stop_reason::watch_read
                                                   : stop_reason::watch_access;
        m_watch_address = std::max(address, w.address);
        return;
    }
}

std::size_t hart::implementation::debug_copy(std::uint64_t address, void* to, const void* from, std::size_t size) {
    owner.timeline().catch_up();
    std::size_t done = 0;
    while (done < size) {
        const auto at = address + done;
        const auto part = std::min<std::uint64_t>(size - done, page_size - (at & (page_size - 1)));
        const auto target = memory.resolve_for_debugger(at);
        if (target.place == memory_target::where::fault) break;
        auto* const read_to = static_cast<std::uint8_t*>(to) + (to ? done : 0);
        const auto* const write_from = static_cast<const std::uint8_t*>(from) + (from ? done : 0);
        if (target.place == memory_target::where::direct) {
            if (to)
                target.memory->read(target.offset, read_to, part);
            else
                target.memory->write(target.offset, write_from, part);
        } else {
            auto* payload = allocate_payload();
            payload->acquire();
            payload->set_command(to ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
            payload->set_address(target.physical);
            payload->set_data_ptr(to ? read_to : const_cast<std::uint8_t*>(write_from));
            payload->set_data_length(static_cast<unsigned>(part));
            payload->set_streaming_width(static_cast<unsigned>(part));
            const auto moved = owner.bus->transport_dbg(*payload);
            payload->release();
            if (moved < part) return done + moved;
        }
        done += part;
    }
    return done;
}

std::string hart::debug_state() const {
    const char* mode = m->state.mode == privilege::machine      ? "M-mode"
                       : m->state.mode == privilege::supervisor ? "S-mode"
                                                                : "U-mode";
    const char* what = m->m_phase == implementation::phase::stopped ? "not started"
                       : waiting()                                  ? "wfi"
                       : m->m_halted                                ? "halted"
                                                                    : "running";
    return fmt::format("{}, {}", what, mode);
}

void hart::set_debug_listener(debug_listener* listener) { m->m_listener = listener; }

void hart::set_lockstep(bool on) {
    m->wake_up();
    m->m_lockstep = on;
    m->update_debugging();
}

bool hart::read_register(unsigned number, std::uint64_t& value) {
    m->catch_up();
    auto& s = m->state;
    if (number < 32)
        value = s.x[number];
    else if (number == register_pc)
        value = s.pc;
    else if (number < register_csr0)
        value = s.f[number - register_f0];
    else if (number < register_privilege)
        return m->csrs.peek(number - register_csr0, value);
    else if (number == register_privilege)
        value = static_cast<std::uint64_t>(s.mode);
    else
        return false;
    return number < register_f0 || number >= register_csr0 || params.floating_point;
}

bool hart::write_register(unsigned number, std::uint64_t value) {
    m->wake_up();
    auto& s = m->state;
    if (number < 32) {
        set_x(number, value);
    } else if (number == register_pc) {
        s.pc = value & ~std::uint64_t{1};
        m->m_access.length = 0;  // an access under way ends where the debugger says
    } else if (number < register_csr0) {
        if (!params.floating_point) return false;
        s.f[number - register_f0] = value;
    } else if (number < register_privilege) {
        const auto csr = number - register_csr0;
        if (!has_csr(csr) || csr >> 10 == 3 || !m->csrs.write(csr, value)) return false;
        m->interrupt_changed();
    } else if (number == register_privilege) {
        if (value > 3 || value == 2 || (!params.supervisor && value != 3)) return false;
        s.mode = static_cast<privilege>(value);
        m->update_context();
    } else {
        return false;
    }
    return true;
}

bool hart::has_csr(unsigned number) const { return m->csrs.exists(number); }

std::size_t hart::read_memory(std::uint64_t address, void* to, std::size_t size) {
    return m->debug_copy(address, to, nullptr, size);
}

std::size_t hart::write_memory(std::uint64_t address, const void* from, std::size_t size) {
    return m->debug_copy(address, nullptr, from, size);
}

void hart::insert_breakpoint(std::uint64_t address, bool hardware) {
    m->wake_up();
    m->insert_breakpoint(hardware ? m->m_hardware_breakpoints : m->m_breakpoints, address);
}

void hart::remove_breakpoint(std::uint64_t address, bool hardware) {
    (hardware ? m->m_hardware_breakpoints : m->m_breakpoints).erase(address);
}

void hart::insert_watchpoint(std::uint64_t address, std::uint64_t size, watch_kind kind) {
    m->wake_up();
    m->m_watchpoints.push_back({address, std::max<std::uint64_t>(size, 1), kind});
    m->memory.flush();
    m->update_debugging();
}

void hart::remove_watchpoint(std::uint64_t address, std::uint64_t size, watch_kind kind) {
    auto& all = m->m_watchpoints;
    const auto at = std::find_if(all.begin(), all.end(), [&](const implementation::watchpoint& w) {
        return w.address == address && w.size == std::max<std::uint64_t>(size, 1) && w.kind == kind;
    });
    if (at != all.end()) all.erase(at);
    m->update_debugging();
}

void hart::halt() {
    m->wake_up();
    if (m->m_halted) return;
    m->m_halted = true;
    m->m_stepping = false;
    if (m->m_phase == implementation::phase::running) cancel(m->m_wake);
}

void hart::resume() {
    m->wake_up();
    m->m_stepping = false;
    m->leave_debug_halt();
}

void hart::step() {
    m->wake_up();
    using phase = implementation::phase;
    m->m_stepping = true;
    if (m->m_phase == phase::waiting) m->m_phase = phase::running;
    m->m_executed = m->m_phase == phase::request || m->m_phase == phase::response;  // what is under way is the step
    m->leave_debug_halt();
}

bool hart::halted() const { return m->m_halted; }

}  // namespace fabricvp::riscv
