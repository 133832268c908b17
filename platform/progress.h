// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/time.h"

namespace fabricvp {

class platform;

/// Tells on standard error how a long run is getting on: a person at a terminal about once a second, in one line that
/// is written over; elsewhere a line every half minute.
class progress_line {
public:
    /// \param limit end of the run, `never` if unknown
    progress_line(const platform& p, ticks limit, bool terminal);
    ~progress_line();

    /// To be called often; a clock reading when there is nothing to say.
    void poll();

private:
    const platform& m_platform;
    const ticks m_limit;
    const bool m_terminal;
    std::chrono::steady_clock::time_point m_began, m_last;
    ticks m_began_at;
    double m_last_instructions = 0;
    double m_began_part = 0;
    bool m_printed = false;
};

}  // namespace fabricvp
