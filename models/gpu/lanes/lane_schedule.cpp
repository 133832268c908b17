// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/lane_schedule.h"

#include <algorithm>
#include <utility>

namespace fabricvp::gpu {

namespace {
constexpr unsigned first_check = 64;     // backward jumps before a group that others wait for is looked at
constexpr std::uint64_t jump = 1 << 16;  // of the clock; turns count one
constexpr unsigned comparisons = 4;      // backward jumps that are looked at then: a loop that spins may have some
}  // namespace

void lane_schedule::start(lane_groups& storage, const reconvergence_table* order, std::uint64_t entry, lane_mask lanes,
                          unsigned divergence_quantum) {
    *this = {};
    m_groups = &storage;
    m_order = order;
    m_live = active = lanes;
    pc = entry;
    m_divergence_quantum = divergence_quantum;
}

std::uint64_t lane_schedule::pc_of(unsigned lane) const {
    for (unsigned i = 0; i < m_count; ++i)
        if ((*m_groups)[i].lanes >> lane & 1) return (*m_groups)[i].pc;
    return pc;
}

void lane_schedule::add(const lane_group& joins) {
    lanes_that_wait(joins.waits) |= joins.lanes;
    for (unsigned i = 0; i < m_count; ++i) {
        auto& g = (*m_groups)[i];
        if (g.pc != joins.pc || g.depth != joins.depth || g.key != joins.key || g.waits != joins.waits ||
            g.needed != joins.needed || g.kind != joins.kind)
            continue;
        g.lanes |= joins.lanes;
        g.last_run = std::min(g.last_run, joins.last_run);
        g.since = std::min(g.since, joins.since);
        return;
    }
    (*m_groups)[m_count++] = joins;
}

void lane_schedule::make_current(unsigned index) {
    auto& g = (*m_groups)[index];
    pc = m_key_pc = g.pc;
    active = g.lanes;
    depth = g.depth;
    m_key = g.key;
    m_last_run = g.last_run;
    m_waiting &= ~g.lanes;
    g = (*m_groups)[--m_count];
    m_synchronises = m_stores = false;
}

void lane_schedule::split(lane_mask lanes, std::uint64_t from, std::uint64_t to, std::uint32_t their_depth) {
    if (m_waiting == 0) {
        m_granted = false;
        m_check_at = m_clock + first_check * jump;
    }
    active &= ~lanes;
    add({to, lanes, m_last_run, m_clock, m_order ? m_order->key(from, to) : 0, their_depth, lane_wait::turn, 0});
}

void lane_schedule::merge() {
    const auto here = key();
    for (unsigned i = 0; i < m_count;) {
        auto& g = (*m_groups)[i];
        if (!g.can_run() || g.pc != pc || g.depth != depth || g.key != here) {
            ++i;
            continue;
        }
        active |= g.lanes;
        m_waiting &= ~g.lanes;
        m_last_run = std::min(m_last_run, g.last_run);
        g = (*m_groups)[--m_count];
    }
}

void lane_schedule::find_limit() {
    m_limit = nowhere;
    if (m_waiting == 0) return;
    if (m_order) m_limit = m_order->stretch_end(pc);
    for (unsigned i = 0; i < m_count; ++i) {
        const auto& g = (*m_groups)[i];
        if (g.can_run() && g.depth == depth && g.pc > pc && g.pc < m_limit && g.key == key_of(g.pc)) m_limit = g.pc;
    }
}

void lane_schedule::reconsider(std::uint64_t from) {
    arrive(from);
    settle();
}

/// A group has run until now, and waits.
void lane_schedule::set_aside(lane_group g) {
    g.last_run = g.since = ++m_clock;
    add(g);
}

/// Merges groups, and lets the first in order run.
void lane_schedule::settle() {
    if (m_waiting != 0) {
        merge();
        if (!m_granted) do {
                const auto first = first_before(current());
                if (first == m_count) continue;
                const auto was = current();
                make_current(first);
                set_aside(was);
            } while (end_wait());
    }
    find_limit();
}

/// The group that comes first of those that come before one, or m_count.
unsigned lane_schedule::first_before(lane_group best) const {
    unsigned found = m_count;
    for (unsigned i = 0; i < m_count; ++i)
        if (const auto& g = (*m_groups)[i]; g.can_run() && comes_before(g, best)) {
            best = g;
            found = i;
        }
    return found;
}

/// The current group is the first in order. If it has waited for the end of a loop, it and all others that have go on:
/// there may be several places where they do. \returns whether there are such others, one of which may come first
bool lane_schedule::end_wait() {
    const auto waited_for = std::exchange(m_key, key_of(pc));
    m_key_pc = pc;
    if (m_key == waited_for) return false;
    bool others = false;
    for (unsigned i = 0; i < m_count; ++i) {
        auto& g = (*m_groups)[i];
        if (!g.can_run() || g.depth != depth || g.key != waited_for) continue;
        g.key = key_of(g.pc);
        others = true;
    }
    if (others) merge();
    return others;
}

/// No group is current: the first in order becomes it.
void lane_schedule::choose() {
    active = 0;
    m_granted = false;
    if (m_waiting != 0) {
        make_current(first_before({nowhere, 0, 0, 0, ~std::uint32_t{0}, 0, lane_wait::turn, 0}));
        m_check_at = m_clock + first_check * jump;
        settle();
    }
    find_limit();
}

unsigned lane_schedule::oldest(std::uint64_t lane_group::*when) const {
    unsigned found = m_count;
    for (unsigned i = 0; i < m_count; ++i) {
        const auto& g = (*m_groups)[i];
        if (g.can_run() && (found == m_count || g.*when < (*m_groups)[found].*when)) found = i;
    }
    return found;
}

/// A group gets a turn of so many backward jumps, whatever the order.
void lane_schedule::grant(unsigned index, unsigned turn) {
    const auto was = current();
    make_current(index);
    set_aside(was);
    m_granted = true;
    m_granted_left = turn;
    m_comparisons = 0;
    m_compared_pc = nowhere;
    merge();
    find_limit();
}

void lane_schedule::rotate(std::uint64_t from) {
    arrive(from);
    if (m_waiting == 0) return;
    grant(oldest(&lane_group::last_run), granted_turn);
}

lane_schedule::loop_action lane_schedule::looped(std::uint64_t from) {
    if (m_waiting == 0) return loop_action::none;
    m_clock += jump;
    const bool synchronises = std::exchange(m_synchronises, false), stores = std::exchange(m_stores, false);
    if (m_granted) {
        if (--m_granted_left == 0) {
            m_granted = false;
            m_check_at = m_clock + first_check * jump;
        }
        return synchronises && m_granted ? loop_action::compare : loop_action::none;
    }
    if (m_clock >= m_check_at) {
        const auto longest = oldest(&lane_group::since);
        const auto since = (*m_groups)[longest].since, waited = (m_clock - since) / jump;
        if (waited >= m_divergence_quantum && m_clock >= m_short_turn_at) {
            arrive(from);
            grant(longest, m_short_turn);
            m_short_turn = std::min(2 * m_short_turn, max_short_turn);
            m_short_turn_at = m_clock + m_divergence_quantum * jump;
            return loop_action::passed;
        }
        if (waited >= first_check)
            m_comparisons = comparisons;
        else
            m_short_turn = 1;  // no group waits for long
        if (waited < m_divergence_quantum)
            m_check_at = since + jump * std::min<std::uint64_t>(std::max<std::uint64_t>(2 * waited, first_check),
                                                                m_divergence_quantum);
        else
            m_check_at = std::max(m_clock + first_check * jump, m_short_turn_at);
    }
    if (m_comparisons != 0) {
        --m_comparisons;
        if (!stores) return loop_action::compare;
    }
    return synchronises ? loop_action::compare : loop_action::none;
}

bool lane_schedule::compare(std::uint64_t from, std::uint64_t state) {
    if (m_compared_pc == from) {
        m_missed = 0;
        if (std::exchange(m_compared, state) != state) return false;
        rotate(from);
        return true;
    }
    // A loop may jump backwards at several places, one of which sees it spin.
    if (m_compared_pc == nowhere || ++m_missed >= comparisons) {
        m_compared_pc = from;
        m_compared = state;
        m_missed = 0;
    }
    return false;
}

void lane_schedule::park() {
    auto g = current();
    g.waits = lane_wait::barrier;
    add(g);
    choose();
}

void lane_schedule::release() {
    m_waiting |= m_parked;
    m_parked = 0;
    for (unsigned i = 0; i < m_count; ++i)
        if (auto& g = (*m_groups)[i]; g.waits == lane_wait::barrier) g.waits = lane_wait::turn;
    if (active == 0) choose();
}

void lane_schedule::sync(const std::array<std::uint64_t, wavefront_lanes>& masks, lane_wait how, std::uint8_t kind,
                         const std::array<std::uint64_t, wavefront_lanes>* values) {
    if (values) {
        if (!m_exchanges) m_exchanges = std::make_shared<exchanges>();
        for (lane_mask left = active; left; left &= left - 1) {
            const auto lane = static_cast<unsigned>(__builtin_ctzll(left));
            m_exchanges->given[lane] = (*values)[lane];
        }
    }
    auto g = current();
    g.key = key_of(pc);  // however they came: who goes on together must be one group
    g.waits = how;
    g.kind = kind;
    for (lane_mask left = active; left; left &= ~g.lanes) {
        g.needed = masks[static_cast<unsigned>(__builtin_ctzll(left))];
        g.lanes = 0;
        for (lane_mask others = left; others; others &= others - 1)
            if (masks[static_cast<unsigned>(__builtin_ctzll(others))] == g.needed) g.lanes |= others & -others;
        add(g);
    }
    release_synced();
    choose();
}

void lane_schedule::exchanged_here() {
    if (!m_exchanges) return;
    for (lane_mask left = active; left; left &= left - 1)
        m_exchanges->kept[static_cast<unsigned>(__builtin_ctzll(left))] = nullptr;
}

/// A group goes on after an exchange with all that have come.
void lane_schedule::keep_exchange(const lane_group& g, lane_mask come) {
    std::shared_ptr<const lane_exchange> all;
    if (come != g.lanes) all = std::make_shared<lane_exchange>(lane_exchange{come, m_exchanges->given});
    for (lane_mask left = g.lanes; left; left &= left - 1)
        m_exchanges->kept[static_cast<unsigned>(__builtin_ctzll(left))] = all;
}

/// Lanes for which all have come that they wait for go on.
void lane_schedule::release_synced() {
    lane_mask released = 0;
    for (unsigned i = 0; i < m_count; ++i) {
        const auto& g = (*m_groups)[i];
        auto come = g.lanes;
        if (g.waits == lane_wait::lanes_anywhere || g.waits == lane_wait::lanes_exchange) {
            for (unsigned k = 0; k < m_count; ++k)
                if (const auto& other = (*m_groups)[k];
                    other.waits == g.waits && other.needed == g.needed && other.kind == g.kind)
                    come |= other.lanes;
        } else if (g.waits != lane_wait::lanes) {
            continue;
        }
        if (g.needed & m_live & ~come) continue;
        released |= g.lanes;
        if (g.waits == lane_wait::lanes_exchange) keep_exchange(g, come);
    }
    for (unsigned i = 0; i < m_count; ++i) {
        auto& g = (*m_groups)[i];
        if (!(g.lanes & released)) continue;
        g.waits = lane_wait::turn;
        g.needed = 0;
        g.kind = 0;
    }
    m_synced &= ~released;
    m_waiting |= released;
}

void lane_schedule::end() {
    m_live &= ~active;
    if (m_synced) release_synced();
    choose();
}

bool lane_schedule::redirect(unsigned lane, std::uint64_t to) {
    const auto bit = lane_mask{1} << lane;
    if (!(m_live & ~m_parked & ~m_synced & bit)) return false;
    const auto here = key();
    auto its_depth = depth;
    active &= ~bit;
    for (unsigned i = 0; i < m_count; ++i) {
        auto& g = (*m_groups)[i];
        if (!(g.lanes & bit)) continue;
        its_depth = g.depth;
        g.lanes &= ~bit;
        if (!g.lanes) g = (*m_groups)[--m_count];
        break;
    }
    add({to, bit, m_last_run, m_clock, key_of(to), its_depth, lane_wait::turn, 0});
    if (!active) {
        choose();
        return true;
    }
    m_key = here;
    m_key_pc = pc;
    settle();
    return true;
}

}  // namespace fabricvp::gpu
