// SPDX-License-Identifier: Apache-2.0
// How a hart sleeps: it has done what is due at its place in the calendar's order, part by part of a round, and
// accounts that in closed form when it is asked, or before anything changes that it reads or has in its caches.
#include <algorithm>

#include <cstring>

#include "riscv/hart_core.h"

namespace fabricvp::riscv {

/// What may have been done when the calendar stands there, counted from m_local; negative: nothing. A part counts that
/// begins with as much done in front of it.
std::int64_t hart::implementation::cost_before(calendar::position to) const {
    const auto end = to.when + (m_wake.rank() < to.rank ? 1 : 0);
    if (end <= m_local) return -1;
    const auto passed = static_cast<unsigned __int128>(end - m_local) * (m_clock.rate().hertz << cost_bits);
    return static_cast<std::int64_t>((passed - m_remainder - 1) / ticks_per_second);
}

void hart::implementation::begin_sleep(ticks until) {
    const auto& all = m_sleep.loop.accesses;
    for (const auto& a : all) {
        const auto to = memory.look(a.address, a.size, access_type::read);
        to.memory->watch_page(to.offset >> sparse_memory::page_bits);
    }
    if (!all.empty()) timing->watch(owner.id(), &owner);
    owner.schedule(m_wake, until);
}

/// Stores of a round, of parts [from_part, to_part).
void hart::implementation::perform_stores(std::uint64_t round, std::size_t from_part, std::size_t to_part) {
    for (const auto& a : m_sleep.loop.accesses) {
        if (!a.writes || a.part < from_part || a.part >= to_part) continue;
        const auto value = a.value.at(round);
        std::memcpy(a.host, &value, a.size);
    }
}

/// Accounts everything up to the part of the round; (rounds, 0) is the end.
void hart::implementation::pass_to(std::uint64_t round, std::size_t part) {
    auto& s = m_sleep;
    const auto& l = s.loop;
    if (round == s.round && part == s.part) return;
    const auto rounds = round - s.round;
    const auto &from = l.parts[s.part], &to = l.parts[part];
    const auto cost = static_cast<std::int64_t>(rounds * l.cost + to.cost - from.cost);
    const auto instructions = rounds * l.instructions + to.instructions - from.instructions;
    m_local += to_ticks(cost);
    m_retired_total += instructions;
    owner.instructions += instructions;
    m_cycle_remainder += cost;
    owner.active_cycles += static_cast<std::uint64_t>(m_cycle_remainder >> cost_bits);
    m_cycle_remainder &= (1 << cost_bits) - 1;
    for (unsigned r = 1; r < 32; ++r) state.x[r] = to.x[r].at(round);
    state.pc = to.pc;
    if (!l.accesses.empty()) {
        timing->add_hits(rounds * l.accesses.size() + to.accesses - from.accesses);
        if (rounds) perform_stores(round - 1, rounds == 1 ? s.part : 0, l.parts.size());
        perform_stores(round, rounds ? 0 : s.part, part);
    }
    owner.polls.skipped_slices += rounds;
    owner.polls.skipped_instructions += instructions;
    s.round = round;
    s.part = part;
}

void hart::implementation::catch_up() {
    const auto& l = m_sleep.loop;
    if (!m_sleep.rounds) return;
    const auto done = cost_before(owner.timeline().reached());
    if (done < 0) return;
    const auto from_round = static_cast<std::uint64_t>(done) + l.parts[m_sleep.part].cost;
    auto round = m_sleep.round + from_round / l.cost;
    const auto first = std::upper_bound(l.parts.begin(), l.parts.end(), from_round % l.cost,
                                        [](std::uint64_t c, const linear_loop::part& p) { return c < p.cost; });
    auto part = static_cast<std::size_t>(first - l.parts.begin());
    if (part == l.parts.size()) {
        part = 0;
        ++round;
    }
    if (round < m_sleep.rounds)
        pass_to(round, part);
    else
        pass_to(m_sleep.rounds, 0);
}

/// It stands where it has come to, as if all had been executed.
void hart::implementation::end_sleep() {
    const auto& l = m_sleep.loop;
    if (!l.accesses.empty()) {
        timing->watch(owner.id(), nullptr);
        const auto use = [&](std::size_t parts) {
            for (const auto& a : l.accesses)
                if (a.part < parts) timing->use_again(owner.id(), a.address);
        };
        if (m_sleep.round) use(l.parts.size());
        use(m_sleep.part);
    }
    m_since_pause = l.parts[m_sleep.part].cost;
    m_sleep.rounds = 0;
}

void hart::implementation::wake_up() {
    if (!m_sleep.rounds) return;
    catch_up();
    end_sleep();
    if (const auto& p = m_sleep.loop.parts[m_sleep.part]; p.access.op != opcode::illegal) {
        auto& segment = m_access.segments[0];
        segment = {memory.look(p.address, p.size, access_type::read), p.size};
        segment.to.place = memory_target::where::bus;
        m_access.segment_count = 1;
        begin_access(p.access.op, access_type::read, p.access.rd ? p.access.rd : hart_state::sink, p.address, 0);
        m_access.bits = p.access.bits;
        m_access.length = p.access.length;
        m_phase = phase::request;
    }
    owner.schedule(m_wake, m_local);
}

/// \returns whether it sleeps on, and reads or writes in the page
bool hart::implementation::watched_page_reached(const sparse_memory& m, std::uint64_t offset, std::uint64_t size,
                                                bool writes) {
    if (!m_sleep.rounds) return false;
    constexpr auto page_mask = ~(sparse_memory::page_size - 1);
    bool in_page = false;
    for (const auto& a : m_sleep.loop.accesses) {
        if (a.host < m.data() || a.host >= m.data() + m.size()) continue;
        const auto at = static_cast<std::uint64_t>(a.host - m.data());
        const bool same_page = (at & page_mask) >= (offset & page_mask) && (at & page_mask) <= offset + size - 1;
        if (writes ? at < offset + size && offset < at + a.size : same_page && a.on_calendar) {
            wake_up();
            return false;
        }
        in_page = in_page || same_page;
    }
    return in_page;
}

void hart::implementation::line_changes(std::uint64_t physical, std::uint64_t size) {
    const auto& all = m_sleep.loop.accesses;
    if (std::any_of(all.begin(), all.end(), [&](const linear_loop::access& a) { return a.address - physical < size; }))
        wake_up();
}

}  // namespace fabricvp::riscv
