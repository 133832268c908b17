// SPDX-License-Identifier: Apache-2.0
// Sleep instead of polls. A slice that ends with `pause` costs the calendar an event, and a hart that counts pauses
// down does nothing that anything else could notice. Where what its rounds do to registers is proven (linear_loop.h),
// it sleeps over them, and accounts them in closed form when they are over, when something happens that it could notice
// (an interrupt, its timer, a write to its code, a debugger), or when its statistics or registers are asked for.
#include <algorithm>
#include <cstring>

#include "riscv/hart_core.h"
#include "riscv/slicing.h"

namespace fabricvp::riscv {

namespace {
bool g_skip = false;

constexpr ticks longest_sleep = 100'000'000;  // 100 us
constexpr std::uint64_t fewest_rounds = 4;
}  // namespace

void skip_polls(bool on) { g_skip = on; }
bool polls_are_skipped() { return g_skip; }

/// Code that is certain to be executed without looking further than the TLB and what is decoded.
bool hart::implementation::peek_code(std::uint64_t pc, bool starts, instruction& i) {
    const auto& entry = memory.fetch_view().execute[tlb_set::index(pc)];
    if (entry.tag != (pc & ~(sparse_memory::page_size - 1))) return false;
    const auto* const host = reinterpret_cast<const std::uint8_t*>(pc + entry.addend);
    std::uint32_t bits = 0;
    std::memcpy(&bits, host, 2);
    const auto length = instruction_length(static_cast<std::uint16_t>(bits));
    if (length > sparse_memory::page_size - (pc & (sparse_memory::page_size - 1))) return false;
    std::memcpy(&bits, host, length);
    if (starts) {
        const auto* const b = blocks.find(host, state.float_enabled());
        if (!b || b->second_page) return false;
    }
    if (code_cache && !(code_cache->holds(host) && code_cache->holds(host + length - 1))) return false;
    i = decode(bits, decoding);
    return true;
}

/// How many of the rounds that begin one after the other from m_local on have begun when the calendar stands there.
std::uint64_t hart::implementation::rounds_before(calendar::position to) const {
    const auto end = to.when + (m_wake.rank() < to.rank ? 1 : 0);
    if (end <= m_local) return 0;
    const auto wide = [](auto v) { return static_cast<unsigned __int128>(v); };
    const auto round = wide(static_cast<std::uint64_t>(m_sleep.cost)) * ticks_per_second;
    const auto passed = wide(end - m_local) * (m_clock.rate().hertz << cost_bits) - m_remainder;
    return static_cast<std::uint64_t>((passed + round - 1) / round);
}

/// After a slice that ended with a pause.
void hart::implementation::consider_sleep() {
    if (state.pc != m_poll.pc || m_slice_cost != m_poll.cost) {
        m_poll = {state.pc, m_slice_cost, loop_refusal::none};
        ++owner.polls.first_rounds;
        return;
    }
    if (m_poll.refusal == loop_refusal::none) m_poll.refusal = fall_asleep();
    if (m_poll.refusal != loop_refusal::none) ++owner.polls.executed[static_cast<unsigned>(m_poll.refusal)];
}

loop_refusal hart::implementation::fall_asleep() {
    if (m_debugging || m_halted || reservation || state.interrupt_to_take() >= 0 || sc_core::sc_pending_activity())
        return loop_refusal::system;
    const auto loop = prove_linear(
        state.x.data(), state.pc,
        [this](std::uint64_t pc, bool starts, instruction& i) { return peek_code(pc, starts, i); }, costs);
    if (loop.refusal != loop_refusal::none) return loop.refusal;
    m_sleep.cost = static_cast<std::int64_t>(loop.cost);
    const auto span = span_of(m_sleep.cost) + 1;
    if (m_sleep.cost >= m_quantum_cost / 2 || span > longest_sleep) return loop_refusal::too_long;
    auto rounds = std::min<std::uint64_t>(loop.rounds, longest_sleep / span);
    if (m_timer.scheduled())  // slices before it expires may be shorter
        rounds = std::min(rounds, rounds_before({m_timer.when() - std::min(m_timer.when(), 2 * span), 0}));
    if (rounds < fewest_rounds) return loop_refusal::few_rounds;
    m_sleep.rounds = rounds;
    m_sleep.instructions = loop.instructions;
    m_sleep.step = loop.step;
    owner.schedule(m_wake, m_local + span_of(m_sleep.cost * static_cast<std::int64_t>(rounds)));
    return loop_refusal::none;
}

void hart::implementation::pass(std::uint64_t rounds) {
    const auto cost = m_sleep.cost * static_cast<std::int64_t>(rounds);
    const auto instructions = m_sleep.instructions * rounds;
    m_local += to_ticks(cost);
    m_retired_total += instructions;
    owner.instructions += instructions;
    m_cycle_remainder += cost;
    owner.active_cycles += static_cast<std::uint64_t>(m_cycle_remainder >> cost_bits);
    m_cycle_remainder &= (1 << cost_bits) - 1;
    for (unsigned r = 1; r < 32; ++r) state.x[r] += m_sleep.step[r] * rounds;
    m_sleep.rounds -= rounds;
    owner.polls.skipped_slices += rounds;
    owner.polls.skipped_instructions += instructions;
}

void hart::implementation::catch_up() {
    if (m_sleep.rounds) pass(std::min(m_sleep.rounds, rounds_before(owner.timeline().reached())));
}

void hart::implementation::wake_up() {
    if (!m_sleep.rounds) return;
    catch_up();
    m_sleep.rounds = 0;
    owner.schedule(m_wake, m_local);
}

}  // namespace fabricvp::riscv
