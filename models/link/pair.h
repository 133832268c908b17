// SPDX-License-Identifier: Apache-2.0
// Both directions of a link and the lanes that they share. How many lanes serve a direction follows from three numbers
// that are kept apart: how many it was configured with, how many have turned to it from the other direction since, and
// how many of them are lost to faults. So a repair never undoes a turn, and a turn never mends a fault.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/calendar.h"
#include "link/channel.h"

namespace fabricvp::link {

/// A direction, named by the end that sends.
enum class side : unsigned { a, b };
constexpr side other(side s) { return s == side::a ? side::b : side::a; }

class pair {
public:
    /// \param b null if the other end is in another simulation: then no lane can turn
    explicit pair(channel& a, channel* b = nullptr);
    pair(const pair&) = delete;
    pair& operator=(const pair&) = delete;

    /// Configures the lanes; those that have turned are back at once. What is lost stays lost.
    void set_lanes(std::uint64_t a, std::uint64_t b);

    std::uint64_t configured(side s) const { return of(s).configured; }
    /// More than it was configured with, or fewer.
    std::int64_t turned(side s) const { return of(s).turned; }
    std::uint64_t lost(side s) const { return of(s).lost; }
    /// On their way to this direction, serving none.
    std::uint64_t turning(side s) const { return of(s).turning; }
    /// Those that serve it: configured, and turned, without those lost and those that still turn. May be 0.
    std::uint64_t lanes(side s) const;

    /// From now on lanes may turn, each in `switch_time`. The last lane of a direction may not; but a direction that
    /// has lost its last one to faults gets one from the other.
    void make_reversible(duration switch_time);
    bool reversible() const { return m_reversible; }
    /// Turns up to `count` lanes towards a direction. They stop to serve the other one now, and serve this one when the
    /// switch time has passed and what had been sent on them has left. \returns how many
    std::uint64_t turn(side to, std::uint64_t count);
    /// Turns lanes until the directions have what they were configured with, as far as that is possible. \returns how
    /// many
    std::uint64_t restore();

    /// Takes lanes away from a direction, at most all it has, those that are turning to it included. \returns how many
    std::uint64_t lose(side s, std::uint64_t count);
    /// Gives lost lanes back to the direction that has lost them.
    void repair(side s, std::uint64_t count);

    /// Called after any change; and for lanes that turn, with when they will have turned.
    void on_change(std::function<void()> changed) { m_changed = std::move(changed); }
    void on_turn(std::function<void(side to, std::uint64_t count, ticks until)> turned) {
        m_turned = std::move(turned);
    }

    /// As configured, and whole.
    void reset();

private:
    struct way {
        channel* lanes = nullptr;
        std::uint64_t configured = 0;
        std::int64_t turned = 0;
        std::uint64_t lost = 0, turning = 0;
    };
    struct turn_end {
        ticks when;
        side to;
        std::uint64_t count;
    };

    way& of(side s) { return m_ways[static_cast<unsigned>(s)]; }
    const way& of(side s) const { return m_ways[static_cast<unsigned>(s)]; }
    std::uint64_t have(side s) const;
    void feed();
    void apply();
    void arrive();

    std::array<way, 2> m_ways;
    bool m_reversible = false;
    ticks m_switch_time = 0;
    std::vector<turn_end> m_turns;  // by when they end
    std::function<void()> m_changed;
    std::function<void(side, std::uint64_t, ticks)> m_turned;
    calendar_event m_arrive{method<&pair::arrive>, this};
};

}  // namespace fabricvp::link
