// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/time.h"

namespace fabricvp {

class platform;

/// Seconds, for people: "80 s", "12 min", "3 h".
std::string span_text(double seconds);

/// How a run gets on, in a line of text: simulated time, the speed of host and guest, and the time left where an end is
/// known: a time limit, a recording, the work-groups of a kernel, the instructions that an application's input takes.
class progress_meter {
public:
    /// Nothing is said of runs that take no longer.
    static constexpr std::chrono::seconds grace{2};
    /// Work that takes longer deserves a warning.
    static constexpr std::chrono::seconds long_work{60};

    /// Begins now. \param limit end of the run, `never` if unknown
    progress_meter(const platform& p, ticks limit);

    /// To be called often; a clock reading when there is nothing to say. \returns a line about once a second
    std::optional<std::string> poll();
    /// A line about work that will take long, before the run begins. There is no warning later then.
    std::optional<std::string> forecast();
    /// A line, once, when it has turned out that much is left to do.
    std::optional<std::string> warning();
    /// The guest waits for its user.
    bool idle() const;

private:
    using wall_clock = std::chrono::steady_clock;
    /// Something whose end is known.
    struct work {
        std::string name;  ///< changes where other work begins
        std::string text;  ///< how far it is
        double done = 0;   ///< in any unit
        double whole = 0;
        std::string whose;  ///< behind "left"
    };

    std::optional<work> present_work(double instructions) const;
    std::optional<work> kernels() const;
    std::optional<double> seconds_left(const work& w);

    const platform& m_platform;
    const ticks m_limit;
    const wall_clock::time_point m_began;
    const ticks m_began_at;
    wall_clock::time_point m_last;
    ticks m_last_now;
    double m_last_instructions;
    std::string m_work;  ///< the present one's name
    wall_clock::time_point m_work_began;
    double m_done_before = 0;  ///< of it, when it was seen first
    std::string m_left;        ///< how long the present work still takes
    unsigned m_long = 0;       ///< in so many lines after each other, that was long
    bool m_warned = false;
};

/// Shows it on the terminal of standard error, if it is one, as long as it lives.
class progress_line {
public:
    progress_line(const platform& p, ticks limit);
    ~progress_line();
    void poll();

private:
    progress_meter m_meter;
    bool m_terminal;
};

/// The same as lines, one every half minute, for a run whose standard error another process shows.
class progress_log {
public:
    progress_log(const platform& p, ticks limit);
    /// Tells of work that will take long.
    void begin();
    void poll();

private:
    progress_meter m_meter;
    std::chrono::steady_clock::time_point m_last;
};

}  // namespace fabricvp
