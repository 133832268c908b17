// SPDX-License-Identifier: Apache-2.0
// Sleep instead of polls. A slice that ends with `pause` costs the calendar an event, and a hart that counts pauses
// down does nothing that anything else could notice. Where what its rounds do to registers is proven (linear_loop.h),
// it sleeps over them (hart_sleep.cpp) until they are over or something happens that it could notice: an interrupt, its
// timer, a write to its code or to what it loads, a line that its cache loses, a debugger.
#include <algorithm>
#include <cstring>
#include <utility>

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

/// Loads and stores that hit in the hart's own cache, of memory whose writes need no announcement.
loop_memory::seen hart::implementation::look(std::uint64_t address, unsigned size, bool writes) {
    using use = memory_timing::use;
    const auto to = memory.look(address, size, writes ? access_type::write : access_type::read);
    if (to.place == memory_target::where::fault ||
        !timing->only_hits(owner.id(), to.physical, size, writes ? use::store : use::load))
        return {};
    const bool on_calendar = to.place == memory_target::where::bus;
    if (writes ? on_calendar || !to.plain : on_calendar && !to.memory->was_reached_by_hart(to.offset)) return {};
    return {to.host, on_calendar};
}

/// After a slice that ended with a pause.
void hart::implementation::consider_sleep() {
    const auto cost = std::exchange(m_since_pause, 0);
    if (state.pc != m_poll.pc || cost != m_poll.cost) {
        m_poll = {state.pc, cost, loop_refusal::none};
        ++owner.polls.first_rounds;
        return;
    }
    if (m_poll.refusal == loop_refusal::none) m_poll.refusal = fall_asleep();
    if (m_poll.refusal != loop_refusal::none) ++owner.polls.executed[static_cast<unsigned>(m_poll.refusal)];
}

loop_refusal hart::implementation::fall_asleep() {
    if (m_debugging || m_halted || reservation || state.interrupt_to_take() >= 0 || sc_core::sc_pending_activity())
        return loop_refusal::system;
    auto& loop = m_sleep.loop;
    loop = prove_linear(
        state.x.data(), state.pc,
        [this](std::uint64_t pc, bool starts, instruction& i) { return peek_code(pc, starts, i); }, costs,
        timing && !code_cache && !order_on_bus && accesses_are_separate() ? this : nullptr);
    if (loop.refusal != loop_refusal::none) return loop.refusal;
    const auto cost = static_cast<std::int64_t>(loop.cost);
    const auto span = span_of(cost) + 1;
    if (cost >= m_quantum_cost / 2 || span > longest_sleep) return loop_refusal::too_long;
    auto rounds = std::min<std::uint64_t>(loop.rounds, longest_sleep / span);
    if (m_timer.scheduled()) {  // slices before it expires may be shorter
        const auto before = cost_before({m_timer.when() - std::min(m_timer.when(), 2 * span), 0});
        rounds = before < 0 ? 0 : std::min(rounds, static_cast<std::uint64_t>(before / cost + 1));
    }
    if (rounds < fewest_rounds) return loop_refusal::few_rounds;
    m_sleep.rounds = rounds;
    m_sleep.round = m_sleep.part = 0;
    tell_rest(hart_rest::polls);
    begin_sleep(m_local + span_of(cost * static_cast<std::int64_t>(rounds)));
    return loop_refusal::none;
}

}  // namespace fabricvp::riscv
