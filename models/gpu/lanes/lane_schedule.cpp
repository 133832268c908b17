// SPDX-License-Identifier: Apache-2.0
#include "gpu/lanes/lane_schedule.h"

#include <algorithm>

namespace fabricvp::gpu {

void lane_schedule::start(lane_groups& storage, std::uint64_t entry, lane_mask lanes, unsigned divergence_quantum) {
    m_groups = &storage;
    m_count = 0;
    m_live = active = lanes;
    m_parked = m_waiting = 0;
    pc = entry;
    depth = 0;
    m_limit = nowhere;
    m_switch_count = m_last_run = 0;
    m_divergence_quantum = m_budget = divergence_quantum;
    m_rotated = false;
}

std::uint64_t lane_schedule::pc_of(unsigned lane) const {
    for (unsigned i = 0; i < m_count; ++i)
        if ((*m_groups)[i].lanes >> lane & 1) return (*m_groups)[i].pc;
    return pc;
}

void lane_schedule::add(std::uint64_t at, lane_mask lanes, std::uint32_t at_depth, bool parked) {
    (parked ? m_parked : m_waiting) |= lanes;
    for (unsigned i = 0; i < m_count; ++i) {
        auto& g = (*m_groups)[i];
        if (g.pc != at || g.depth != at_depth || g.parked != parked) continue;
        g.lanes |= lanes;
        g.last_run = std::min(g.last_run, m_last_run);
        return;
    }
    (*m_groups)[m_count++] = {at, lanes, m_last_run, at_depth, parked};
}

void lane_schedule::make_current(unsigned index) {
    auto& g = (*m_groups)[index];
    pc = g.pc;
    active = g.lanes;
    depth = g.depth;
    m_last_run = g.last_run;
    m_waiting &= ~g.lanes;
    g = (*m_groups)[--m_count];
}

bool lane_schedule::comes_before(const lane_group& g) const { return g.depth != depth ? g.depth > depth : g.pc < pc; }

void lane_schedule::split(lane_mask lanes, std::uint64_t to, std::uint32_t their_depth) {
    active &= ~lanes;
    add(to, lanes, their_depth, false);
}

void lane_schedule::merge() {
    for (unsigned i = 0; i < m_count;) {
        auto& g = (*m_groups)[i];
        if (g.parked || g.pc != pc || g.depth != depth) {
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
    for (unsigned i = 0; i < m_count; ++i) {
        const auto& g = (*m_groups)[i];
        if (!g.parked && g.depth == depth && g.pc > pc) m_limit = std::min(m_limit, g.pc);
    }
}

void lane_schedule::reconsider() {
    if (m_waiting != 0) {
        merge();
        if (!m_rotated) {
            unsigned best = m_count;
            for (unsigned i = 0; i < m_count; ++i) {
                const auto& g = (*m_groups)[i];
                if (g.parked || !comes_before(g)) continue;
                if (best == m_count || g.depth > (*m_groups)[best].depth ||
                    (g.depth == (*m_groups)[best].depth && g.pc < (*m_groups)[best].pc))
                    best = i;
            }
            if (best != m_count) {
                const lane_group was{pc, active, ++m_switch_count, depth, false};
                make_current(best);
                m_waiting |= was.lanes;
                (*m_groups)[m_count++] = was;
            }
        }
    }
    find_limit();
}

/// No group is current: the first in order becomes it.
void lane_schedule::choose() {
    active = 0;
    m_rotated = false;
    m_budget = m_divergence_quantum;
    if (m_waiting != 0) {
        unsigned first = 0;
        while ((*m_groups)[first].parked) ++first;
        make_current(first);
    }
    reconsider();
}

void lane_schedule::rotate() {
    if (m_waiting == 0) return;
    unsigned oldest = m_count;
    for (unsigned i = 0; i < m_count; ++i) {
        const auto& g = (*m_groups)[i];
        if (!g.parked && (oldest == m_count || g.last_run < (*m_groups)[oldest].last_run)) oldest = i;
    }
    const lane_group was{pc, active, ++m_switch_count, depth, false};
    make_current(oldest);
    m_waiting |= was.lanes;
    (*m_groups)[m_count++] = was;
    m_rotated = true;
    m_budget = m_divergence_quantum;
    merge();
    find_limit();
}

void lane_schedule::park() {
    add(pc, active, depth, true);
    choose();
}

void lane_schedule::release() {
    m_waiting |= m_parked;
    m_parked = 0;
    for (unsigned i = 0; i < m_count; ++i) (*m_groups)[i].parked = false;
    if (active == 0) choose();
}

void lane_schedule::end() {
    m_live &= ~active;
    choose();
}

bool lane_schedule::redirect(unsigned lane, std::uint64_t to) {
    const auto bit = lane_mask{1} << lane;
    if (!(m_live & ~m_parked & bit)) return false;
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
    add(to, bit, its_depth, false);
    if (active)
        reconsider();
    else
        choose();
    return true;
}

}  // namespace fabricvp::gpu
