// SPDX-License-Identifier: Apache-2.0
// How a run has ended, and each node of it.
#pragma once

#include <string>

#include "base/time.h"

namespace fabricvp {

enum class run_outcome {
    time_limit,     ///< the limit given to run() was reached
    power_off,      ///< the guest powered off cleanly
    guest_failure,  ///< the guest reported failure (test finisher, tohost)
    rejected,  ///< a guest refused what it was asked for (test finisher, status 2); ends the run whatever `until` says
    breakpoint,   ///< a debugger or a Python breakpoint stopped a hart
    event,        ///< a condition given by the caller became true (console line, marker)
    interrupted,  ///< request_stop(), Ctrl-C
    idle,         ///< nothing is scheduled any more: time cannot advance
    watchdog      ///< no progress: detail names the stuck component
};

struct run_result {
    run_outcome outcome = run_outcome::time_limit;
    int guest_status = 0;  ///< exit code of the guest where it gave one
    std::string detail;    ///< one line for people
};

enum class node_state {
    running,
    powered_off,  ///< its guest powered off cleanly; its harts rest
    failed        ///< its guest reported failure (test finisher, tohost); its harts rest
};

/// How far a node has come since power-on or its last reset.
struct node_outcome {
    node_state state = node_state::running;
    int status = 0;      ///< exit code of its guest where it gave one
    std::string detail;  ///< one line for people; empty while it runs
    ticks at = 0;        ///< simulated time at which it ended
};

}  // namespace fabricvp
