// SPDX-License-Identifier: Apache-2.0
// Slices: from the calendar's time a hart runs ahead by at most a quantum, then schedules itself at its local time.
#include <algorithm>

#include "riscv/hart_core.h"
#include "riscv/slicing.h"

namespace fabricvp::riscv {

namespace {
bool g_separate = false;  // as the seed of random streams, one a process
}

void separate_accesses(bool on) { g_separate = on; }
bool accesses_are_separate() { return g_separate; }

hart::implementation::implementation(hart& owner, std::uint64_t hart_id, const direct_memory_map& map,
                                     const timebase& time, ticks quantum)
    : owner(owner),
      time(time),
      quantum(quantum),
      hart_id(hart_id),
      protection(state, owner.params.supervisor ? static_cast<unsigned>(owner.params.pmp_entries) : 0u),
      memory(state, protection, map, owner),
      csrs(state, protection, owner.params, hart_id, *this),
      decoding{owner.params.floating_point, owner.params.bit_manipulation, owner.params.supervisor},
      m_wake{method<&hart::wake>, &owner},
      m_timer{method<&hart::timer>, &owner},
      m_clock(owner.params.clock) {
    const auto& c = owner.params.cpi;
    const double ipc =
        owner.params.instructions_per_cycle;  // of what cores have pipelines for, and order does not hinder
    const double cycles[] = {c.alu / ipc,      c.multiply / ipc, c.divide,     c.load / ipc,
                             c.store / ipc,    c.branch / ipc,   c.jump / ipc, c.atomic,
                             c.floating / ipc, c.float_divide,   c.csr,        c.fence};
    for (std::size_t i = 0; i < costs.size(); ++i)
        costs[i] = std::max(static_cast<std::uint32_t>(cycles[i] * (1u << cost_bits) + 0.5), 1u);
    if (const auto& i = owner.params.instruction_cache; i.size) {
        code_cache = std::make_unique<instruction_cache>("instruction_cache", i);
        m_miss_cost = to_cost(i.miss.value);
    }
    m_wake.set_rank(owner.timeline().next_rank());
    interpret(nullptr, &m_labels);
    if (!code_cache && translator::available())
        code_translator = std::make_unique<translator>(m_labels, decoding, jump_cache.data(), jump_entries);
    m_quantum_cost = std::max<std::int64_t>(to_cost(quantum), 1);
    memory.excluded = [this](std::uint64_t page) {
        return std::any_of(m_watchpoints.begin(), m_watchpoints.end(), [&](const watchpoint& w) {
            return w.address <= page + 0xfff && page <= w.address + (w.size - 1);
        });
    };
    state.reset(owner.params, reset_pc);
    csrs.reset();
    update_context();
    owner.timeline().attach(*this);
}

hart::implementation::~implementation() { owner.timeline().detach(*this); }

namespace {
constexpr std::uint64_t fits_64_bits = std::uint64_t{1} << 23;  // what times a second's ticks still does
}

ticks hart::implementation::span_of(std::int64_t cost) const {
    const auto c = static_cast<std::uint64_t>(cost);
    const auto divisor = m_clock.rate().hertz << cost_bits;
    if (c < fits_64_bits) return (c * ticks_per_second + m_remainder) / divisor;
    return static_cast<ticks>((static_cast<unsigned __int128>(c) * ticks_per_second + m_remainder) / divisor);
}

/// Advances the fraction that is carried, so that many short slices add up to the right time.
ticks hart::implementation::to_ticks(std::int64_t cost) {
    const auto c = static_cast<std::uint64_t>(cost);
    const auto divisor = m_clock.rate().hertz << cost_bits;
    if (c < fits_64_bits) {  // the common case
        const auto scaled = c * ticks_per_second + m_remainder;
        m_remainder = scaled % divisor;
        return scaled / divisor;
    }
    const auto scaled = static_cast<unsigned __int128>(c) * ticks_per_second + m_remainder;
    m_remainder = static_cast<std::uint64_t>(scaled % divisor);
    return static_cast<ticks>(scaled / divisor);
}

std::int64_t hart::implementation::to_cost(ticks span) const {
    const auto rate = m_clock.rate().hertz << cost_bits;
    if (std::uint64_t small = 0;
        !__builtin_mul_overflow(span, rate, &small) && small <= ~std::uint64_t{0} - ticks_per_second)
        return static_cast<std::int64_t>((small + ticks_per_second - 1) / ticks_per_second);
    const auto scaled = static_cast<unsigned __int128>(span) * rate;
    const auto cost = (scaled + ticks_per_second - 1) / ticks_per_second;
    return cost > (std::uint64_t{1} << 62) ? std::int64_t{1} << 62 : static_cast<std::int64_t>(cost);
}

ticks hart::implementation::local_time() const {
    return m_in_slice ? m_slice_start + span_of(m_slice_budget - budget) : std::max(m_local, owner.now());
}

std::uint64_t hart::implementation::cycle_count() { return m_clock.cycle_at(local_time()); }
std::uint64_t hart::implementation::retired_count() { return m_retired_total + retired; }
std::uint64_t hart::implementation::time_count() { return time.time_at(local_time()); }

void hart::implementation::translation_changed() {
    memory.flush();
    translation_epoch();
}

void hart::implementation::protection_changed() {
    memory.flush();
    code_epoch();
}

void hart::implementation::context_changed() { update_context(); }

void hart::implementation::stimecmp_changed() {
    state.timer_reached = time.time_at(local_time()) >= state.stimecmp;
    arm_timer();
    if (m_in_slice && m_timer.scheduled() && m_timer.when() < m_slice_start + span_of(m_slice_budget)) {
        m_end_slice = true;  // the next slice ends where the timer expires
        exit = exit_reason::budget;
    }
}

void hart::implementation::arm_timer() {
    if (!state.stimecmp_enabled() || state.timer_reached) {
        owner.cancel(m_timer);
        return;
    }
    const auto when = time.when(state.stimecmp);
    if (when == never)
        owner.cancel(m_timer);
    else
        owner.schedule(m_timer, std::max(when, owner.now()));
}

void hart::implementation::timer() {
    wake_up();
    state.timer_reached = time.time_at(owner.now()) >= state.stimecmp;
    if (state.timer_reached)
        interrupt_changed();
    else
        arm_timer();
}

void hart::implementation::time_changed() {
    state.timer_reached = time.time_at(owner.now()) >= state.stimecmp;
    arm_timer();
    if (state.timer_reached) interrupt_changed();
}

/// A pending bit changed from outside.
void hart::implementation::interrupt_changed() {
    if (m_phase == phase::waiting) {
        if (state.mip() & state.mie) {
            m_phase = phase::running;
            continue_at(m_local);
        }
    } else if (m_phase == phase::running && m_local > owner.now() && state.interrupt_to_take() >= 0) {
        ++owner.late_interrupts;
    }
}

void hart::implementation::continue_at(ticks when) {
    m_local = std::max(when, owner.now());
    if (!m_halted) owner.schedule(m_wake, m_local);
}

/// A slice, an access and its response follow each other without the calendar as long as it has nothing that is due
/// before them: what happens, and when, is as if each had gone through it.
void hart::implementation::wake() {
    for (;;) {
        m_next = never;
        switch (m_phase) {
            case phase::running: run_slice(); break;
            case phase::request: make_request(); break;
            case phase::response: take_response(); break;
            default: break;
        }
        if (m_debugging) settle_debug();
        if (m_next == never) return;
        if (m_debugging || !owner.timeline().may_go_on_at(m_next)) break;
        owner.timeline().go_on_at(m_wake, m_next);
    }
    if (!m_halted || m_phase != phase::running) owner.schedule(m_wake, m_next);
}

void hart::implementation::make_request() {
    m_slice_start = owner.now();
    send_segment();
    if (m_phase == phase::request) account();  // it was memory that needs no bus
}

void hart::implementation::take_response() {
    m_slice_start = owner.now();
    const bool ok =
        m_payload->get_response_status() == tlm::TLM_OK_RESPONSE && (!m_access.is_atomic || m_atomic.performed);
    drop_payload();
    m_phase = phase::request;
    if (ok)
        segment_done();
    else
        fail_access();
    if (m_phase == phase::request) account();
}

/// Adds up what a slice (or the end of an access) has done; the hart goes on at its local time.
void hart::implementation::account() {
    const auto consumed = m_slice_budget - budget;
    m_since_pause += static_cast<std::uint64_t>(consumed);
    m_local = m_slice_start + to_ticks(consumed);
    m_retired_total += retired;
    owner.instructions += retired;
    retired = 0;
    m_cycle_remainder += consumed;
    owner.active_cycles += static_cast<std::uint64_t>(m_cycle_remainder >> cost_bits);
    m_cycle_remainder &= (1 << cost_bits) - 1;
    m_slice_budget = budget = 0;
    m_phase = phase::running;
    m_next = m_local;
}

void hart::implementation::run_slice() {
    if (m_sleep.rounds) {
        pass_to(m_sleep.rounds, 0);
        end_sleep();
    }
    if (m_halted) return;
    m_local = owner.now();
    const auto why = run_one_slice();
    if (why == exit_reason::pending) {
        tell_rest(hart_rest::access);
        m_phase = phase::request;
    } else if (why == exit_reason::waiting) {
        m_phase = phase::waiting;
        m_next = never;
        tell_rest(hart_rest::interrupt);
    } else if (m_paused && polls_are_skipped()) {
        consider_sleep();
        if (m_sleep.rounds) m_next = never;
    }
}

exit_reason hart::implementation::run_one_slice() {
    m_slice_start = m_local;
    m_slice_budget = m_lockstep || m_stepping ? 1 : m_quantum_cost;
    if (m_timer.scheduled()) {
        if (m_timer.when() <= m_slice_start) {
            owner.cancel(m_timer);
            timer();
        }
        if (m_timer.scheduled() && m_timer.when() - m_slice_start < quantum)
            m_slice_budget = std::min(m_slice_budget, to_cost(m_timer.when() - m_slice_start));
    }
    budget = m_slice_budget;
    retired = 0;
    m_end_slice = m_code_overwritten = m_reservation_marked = m_paused = false;
    exit = exit_reason::budget;
    m_in_slice = true;
    const int code = state.interrupt_to_take();
    if (code >= 0) take_interrupt(static_cast<unsigned>(code));
    interpret(this, nullptr);
    const auto why = exit;
    protect_reservation();
    m_in_slice = false;
    account();
    return why;
}

void hart::implementation::start() {
    if (m_phase != phase::stopped) return;
    if (m_payload_stale) {  // what was under way when it was stopped must be answered first
        m_restart_due = true;
        return;
    }
    m_phase = phase::running;
    continue_at(owner.now());
}

void hart::implementation::reset() {
    const bool was_started = m_phase != phase::stopped || m_restart_due;
    stop();
    if (m_payload_stale)
        m_restart_due = was_started;
    else if (was_started)
        start();
}

void hart::implementation::stop() {
    wake_up();
    m_restart_due = false;
    owner.cancel(m_wake);
    owner.cancel(m_timer);
    m_phase = phase::stopped;
    m_next = never;
    m_local = owner.now();
    m_remainder = 0;
    m_cycle_remainder = 0;
    reservation = nullptr;
    bus_reservation = no_reservation;
    m_reservation_marked = false;
    state.reset(owner.params, reset_pc);
    csrs.reset();
    protection.update();
    memory.flush();
    clear_code();
    if (m_payload && m_response_ready) drop_payload();
    if (m_payload) m_payload_stale = true;
    tell_rest(hart_rest::stopped);
}

}  // namespace fabricvp::riscv
