// SPDX-License-Identifier: Apache-2.0
// Conservative synchronisation. No message that crosses ranks counts before it has been under way for the lookahead. So
// when the earliest event of all other ranks is at T, a rank can execute what it has before T + lookahead without
// hearing from them, and before twice the lookahead after its own earliest event, which may make them say something:
// that is a window. Then they exchange control messages and the time of their next event; stretches of time in which
// no rank has anything to do are skipped. A rank that has nothing in a window, and is not about to hear anything that
// counts in it, need not take part (window_exchange.h): its time stands still.
//
// Where a window ends and how many there are has no influence on what happens in the simulation: messages carry the
// time from which on they count, and at equal times their order follows from paths (link/arrivals.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/calendar.h"
#include "network/link_message.h"
#include "platform/ranks/communicator.h"
#include "platform/ranks/processor_timer.h"

namespace fabricvp::ranks {

class window_synchronizer {
public:
    struct hooks {
        /// A message of another rank for the network here.
        std::function<void(const network::link_message&)> deliver;
        /// What other ranks have to know of what has happened here in the last window; usually nothing.
        std::function<std::string()> control_messages;
        /// The same of another rank. What it changes must not lie before its time plus the lookahead.
        std::function<void(const std::string&)> apply_control_messages;
        /// How far to run, inclusive; may come nearer with what is learnt, or when the calendar is stopped.
        std::function<ticks()> limit;
        /// The calendar was stopped: what stopped it is served now.
        std::function<void()> stopped;
    };

    /// \param lookahead at least 1
    window_synchronizer(communicator& comm, calendar& timeline, ticks lookahead, hooks h);

    /// Has a message delivered in another rank, or in all others; it counts from now() + lookahead on, or later.
    void post(unsigned rank, const network::link_message& m);
    void post(const network::link_message& m);

    /// Runs to the limit. \returns false if nothing is scheduled in any rank any more; time then is that of the last
    /// event
    bool run();
    /// Lets time pass, up to `when`, though nothing may be due until then.
    void advance_to(ticks when);

    /// Each rank's word on something, by rank. All ranks must ask.
    std::vector<std::string> all(const std::string& own);

    std::uint64_t count() const { return m_count; }  ///< windows so far in which this rank has taken part
    /// Of all ranks, as each of them knows when run() has returned.
    const parallel_work& work() const { return m_windows->work(); }
    /// Seconds between windows of this rank at whose end another one was the last to come.
    double waited_for(unsigned rank) const { return m_waited_for[rank]; }
    /// Processor seconds of this rank's windows, and events in them.
    double own_seconds() const { return m_own_seconds; }
    std::uint64_t own_events() const { return m_own_events; }

private:
    ticks next_here() const;
    window_bounds next_window();
    void receive(const bytes& from, std::size_t at);
    void execute(ticks end);
    void wake() {}

    communicator& m_comm;
    calendar& m_timeline;
    const ticks m_lookahead;
    const hooks m_hooks;
    std::unique_ptr<window_exchange> m_windows;
    std::vector<network::message_bytes> m_posted;  // by rank
    std::vector<ticks> m_posted_due;               // when the earliest of them counts, by rank
    std::vector<bytes> m_to, m_from;
    std::uint64_t m_count = 0;
    std::vector<double> m_waited_for;  ///< by rank
    processor_timer m_timer;
    double m_window_s = 0;  ///< that the latest window took here
    std::uint64_t m_window_events = 0;
    double m_own_seconds = 0;
    std::uint64_t m_own_events = 0;
    calendar_event m_wake{method<&window_synchronizer::wake>, this};
};

}  // namespace fabricvp::ranks
