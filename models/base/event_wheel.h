// SPDX-License-Identifier: Apache-2.0
// The calendar's queue: a hierarchical timing wheel of intrusive lists. Times count in granules of 64 ps; level k has
// one slot for each value of the k-th digit (base 512) of a granule number. Slots so small mostly hold one event, which
// makes the branches below predictable; with coarser ones the wheel was slower (tests/bench/calendar_bench.cpp).
//
// An event lies at the highest digit in which its granule differs from that of the base, the time of the last event
// taken. So every slot in use lies ahead of the base's own digit (at level 0: not behind it), and the first occupied
// slot of the lowest occupied level holds the earliest event. Lists of level 0 are sorted by time and rank, the others
// by insertion; entering a slot of a higher level deals its events out again, relative to the earliest of them. Either
// way insertion order survives at equal times and ranks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/calendar.h"

namespace fabricvp {

struct calendar::wheel {
    static constexpr unsigned granule_bits = 6;
    static constexpr unsigned digit_bits = 9;
    static constexpr unsigned slots = 1u << digit_bits;
    static constexpr unsigned levels = (64 - granule_bits + digit_bits - 1) / digit_bits;

    // Beside the queue: what the calendar knows of its order.
    std::uint32_t rank = 0;  ///< of the running event
    std::uint32_t last_rank = arrival_rank;
    position reached{0, 0};  ///< outside of callbacks
    std::vector<lagging*> all_lagging;

    bool empty() const { return m_occupied_levels == 0; }
    ticks base() const { return m_base; }

    /// `event.m_when` must be set and not before base().
    void insert(calendar_event& event) {
        const unsigned level = level_of(event.m_when);
        level_slots& l = m_levels[level];
        const unsigned slot = slot_of(event.m_when, level);
        calendar_event*& head = l.heads[slot];
        if (!head) {
            event.m_previous = event.m_next = &event;
            head = &event;
            l.occupied[slot / 64] |= std::uint64_t{1} << (slot % 64);
            l.words |= std::uint32_t{1} << (slot / 64);
            m_occupied_levels |= 1u << level;
        } else {
            calendar_event* before = head->m_previous;
            if (level == 0) {
                while (is_later(*before, event) && before != head) before = before->m_previous;
                if (is_later(*before, event)) {
                    before = head->m_previous;
                    link_behind(event, before);
                    head = &event;
                    return;
                }
            }
            link_behind(event, before);
        }
    }

    void remove(calendar_event& event) {
        if (event.m_next == &event) {
            const unsigned level = level_of(event.m_when);
            vacate(level, slot_of(event.m_when, level));
            return;
        }
        event.m_previous->m_next = event.m_next;
        event.m_next->m_previous = event.m_previous;
        const unsigned level = level_of(event.m_when);
        calendar_event*& head = m_levels[level].heads[slot_of(event.m_when, level)];
        if (head == &event) head = event.m_next;
    }

    /// The earliest event, if it is due at `horizon` or before; the wheel must not be empty. It is taken out.
    calendar_event* take(ticks horizon) {
        for (;;) {
            const unsigned level = static_cast<unsigned>(__builtin_ctz(m_occupied_levels));
            const unsigned slot = first_slot(level);
            calendar_event* head = m_levels[level].heads[slot];
            calendar_event* second = head->m_next;
            if (second == head || level == 0) {
                if (head->m_when > horizon) return nullptr;
                m_base = head->m_when;
                if (second == head) {
                    vacate(level, slot);
                } else {
                    calendar_event* tail = head->m_previous;
                    tail->m_next = second;
                    second->m_previous = tail;
                    m_levels[level].heads[slot] = second;
                    prefetch_behind(second);
                    __builtin_prefetch(second->m_next);
                }
                return head;
            }
            // Where all of the slot is due, its beginning serves as well as its earliest event, which costs a look at
            // each.
            const ticks span = span_of(level);
            const ticks begin = begin_of_slot(head->m_when, level);
            const ticks first = horizon - begin >= span && begin <= horizon ? begin : earliest(head);
            if (first > horizon) return nullptr;
            vacate(level, slot);
            m_base = first;
            redistribute(head);
        }
    }

    /// Time of the earliest event, `never` if there is none.
    ticks next() const {
        if (empty()) return never;
        const unsigned level = static_cast<unsigned>(__builtin_ctz(m_occupied_levels));
        const calendar_event* head = m_levels[level].heads[first_slot(level)];
        return level == 0 ? head->m_when : earliest(head);
    }

    /// Whether an event is due at `when` or before.
    bool is_due(ticks when) const {
        if (empty()) return false;
        const unsigned level = static_cast<unsigned>(__builtin_ctz(m_occupied_levels));
        const calendar_event* head = m_levels[level].heads[first_slot(level)];
        return begin_of_slot(head->m_when, level) <= when && (level == 0 ? head->m_when : earliest(head)) <= when;
    }

    template <class Function>
    void for_each(Function f) {
        for (auto& l : m_levels)
            for (auto* head : l.heads)
                if (auto* e = head) do {
                        auto* next = e->m_next;
                        f(*e);
                        e = next;
                    } while (e != head);
    }

private:
    struct level_slots {
        std::array<calendar_event*, slots> heads{};
        std::array<std::uint64_t, slots / 64> occupied{};
        std::uint32_t words = 0;  // which words of `occupied` are not zero
    };

    static bool is_later(const calendar_event& a, const calendar_event& b) {
        return a.m_when != b.m_when ? a.m_when > b.m_when : a.m_rank > b.m_rank;
    }
    static void link_behind(calendar_event& event, calendar_event* before) {
        event.m_previous = before;
        event.m_next = before->m_next;
        before->m_next->m_previous = &event;
        before->m_next = &event;
    }
    unsigned level_of(ticks when) const {
        const ticks difference = (when ^ m_base) >> granule_bits;
        return difference < slots ? 0 : (63u - static_cast<unsigned>(__builtin_clzll(difference))) / digit_bits;
    }
    static unsigned slot_of(ticks when, unsigned level) {
        return static_cast<unsigned>(when >> (granule_bits + level * digit_bits)) & (slots - 1);
    }
    static ticks span_of(unsigned level) { return ticks{1} << (granule_bits + level * digit_bits); }
    static ticks begin_of_slot(ticks when, unsigned level) { return when & ~(span_of(level) - 1); }
    unsigned first_slot(unsigned level) const {
        const level_slots& l = m_levels[level];
        const unsigned word = static_cast<unsigned>(__builtin_ctz(l.words));
        return word * 64 + static_cast<unsigned>(__builtin_ctzll(l.occupied[word]));
    }
    void vacate(unsigned level, unsigned slot) {
        level_slots& l = m_levels[level];
        l.heads[slot] = nullptr;
        const std::uint64_t rest = l.occupied[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
        if (rest) return;
        if ((l.words &= ~(std::uint32_t{1} << (slot / 64))) == 0) m_occupied_levels &= ~(1u << level);
    }
    static ticks earliest(const calendar_event* head) {
        ticks first = head->m_when;
        for (const calendar_event* e = head->m_next; e != head; e = e->m_next)
            if (e->m_when < first) first = e->m_when;
        return first;
    }
    /// Events lie inside what they are for, and soon it is their turn: the lines behind them come meanwhile.
    static void prefetch_behind(const calendar_event* e) {
        for (unsigned line = 1; line < 4; ++line) __builtin_prefetch(reinterpret_cast<const char*>(e) + 64 * line);
    }
    void redistribute(calendar_event* head) {
        calendar_event* e = head;
        do {
            calendar_event* next = e->m_next;
            prefetch_behind(e);
            insert(*e);
            e = next;
        } while (e != head);
    }

    ticks m_base = 0;
    std::uint32_t m_occupied_levels = 0;
    std::array<level_slots, levels> m_levels;
};

}  // namespace fabricvp
