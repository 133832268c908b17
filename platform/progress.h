// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/time.h"

namespace fabricvp {

class platform;

/// Tells a person on standard error, about once a second, how a long run is getting on.
class progress_line {
public:
    /// \param limit end of the run, `never` if unknown
    progress_line(const platform& p, ticks limit);
    ~progress_line();

    /// To be called often; a clock reading when there is nothing to say.
    void poll();

private:

    const platform& m_platform;
    ticks m_limit;
    std::chrono::steady_clock::time_point m_began, m_last;
    ticks m_began_at;
    double m_last_instructions = 0;
    bool m_printed = false;
};

}  // namespace fabricvp
