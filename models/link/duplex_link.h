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

class duplex_link {
public:
    /// \param b null if the other end is in another simulation: then no lane can turn
    explicit duplex_link(channel& a, channel* b = nullptr);
    duplex_link(const duplex_link&) = delete;
    duplex_link& operator=(const duplex_link&) = delete;

    /// Configures the lanes; those that have turned are back at once. What is lost stays lost.
    void set_lanes(std::uint64_t a, std::uint64_t b);

    std::uint64_t configured(side s) const { return of(s).configured; }
    /// More than it was configured with, or fewer.
    std::int64_t reversed(side s) const { return of(s).reversed; }
    std::uint64_t failed(side s) const { return of(s).failed; }
    /// On their way to this direction, serving none.
    std::uint64_t reversing(side s) const { return of(s).reversing; }
    /// Those that serve it: configured, and turned, without those lost and those that still turn. May be 0.
    std::uint64_t lanes(side s) const;

    /// From now on lanes may turn, each in `switch_time`. The last lane of a direction may not; but a direction that
    /// has lost its last one to faults gets one from the other.
    void make_reversible(duration switch_time);
    bool reversible() const { return m_reversible; }
    /// Turns up to `count` lanes towards a direction. They stop to serve the other one now, and serve this one when the
    /// switch time has passed and what had been sent on them has left. \returns how many
    std::uint64_t reverse(side to, std::uint64_t count);
    /// Turns lanes until the directions have what they were configured with, as far as that is possible. \returns how
    /// many
    std::uint64_t restore();

    /// Takes lanes away from a direction, at most all it has, those that are turning to it included. \returns how many
    std::uint64_t fail_lanes(side s, std::uint64_t count);
    /// Gives lost lanes back to the direction that has lost them.
    void repair(side s, std::uint64_t count);

    /// Called after any change; and for lanes that reverse, with when they will have done so.
    void on_change(std::function<void()> changed) { m_changed = std::move(changed); }
    void on_reversal(std::function<void(side to, std::uint64_t count, ticks until)> reversed) {
        m_on_reversal = std::move(reversed);
    }

    /// As configured; lanes that are lost to faults stay lost.
    void reset();

private:
    struct direction {
        channel* lanes = nullptr;
        std::uint64_t configured = 0;
        std::int64_t reversed = 0;
        std::uint64_t failed = 0, reversing = 0;
    };
    struct reversal_end {
        ticks when;
        side to;
        std::uint64_t count;
    };

    direction& of(side s) { return m_directions[static_cast<unsigned>(s)]; }
    const direction& of(side s) const { return m_directions[static_cast<unsigned>(s)]; }
    std::uint64_t working_lanes(side s) const;
    void ensure_one_lane();
    void apply();
    void arrive();

    std::array<direction, 2> m_directions;
    bool m_reversible = false;
    ticks m_switch_time = 0;
    std::vector<reversal_end> m_reversals;  // by when they end
    std::function<void()> m_changed;
    std::function<void(side, std::uint64_t, ticks)> m_on_reversal;
    calendar_event m_arrive{method<&duplex_link::arrive>, this};
};

}  // namespace fabricvp::link
