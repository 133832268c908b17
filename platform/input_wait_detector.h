// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "platform/machine.h"

namespace fabricvp {

/// Tells when the guests of a machine do nothing but wait for console input: for half a second of simulated time
/// they print nothing and look for input in a tight loop (a prompt), or for sixty their harts rest in wfi (an
/// interrupt-driven prompt; shorter rests may be a sleep). A loop that looks for Ctrl-C now and then, while it does or
/// sleeps, is no prompt.
class input_wait_detector {
public:
    explicit input_wait_detector(const machine& hardware);

    struct verdict {
        bool some;  ///< a guest runs
        bool all;   ///< and all that do wait
    };
    /// To be called between slices, while no console has input.
    verdict look(ticks now);

private:
    struct guest {
        std::uint64_t characters = 0;  ///< sent and received, at the last call
        std::uint64_t polls = 0;       ///< when `polls_since` began
        ticks since = 0, polls_since = 0;
        std::uint64_t calls = 0, resting = 0;  ///< since `since`
        bool prompts = false;
    };
    bool waits(const node& n, guest& g, ticks now);

    const machine& m_hardware;
    std::vector<guest> m_guests;  ///< one a node
};

/// Tells when a guest first reads its console: it has turned on the receiver's interrupt, or looks for input in a loop.
/// What it is sent before is lost where it clears the receiver at its start, as U-Boot does, or taken for the key that
/// stops a countdown.
class input_demand {
public:
    /// To be called between slices. \returns true from the first reading on
    bool look(const host::uart& uart, ticks now);

private:
    std::uint64_t m_characters = 0, m_quiet_polls = 0, m_polls = 0;  ///< polls: when a wait or a loop may have begun
    ticks m_quiet_since = 0, m_since = 0;
    bool m_reads = false;
};

}  // namespace fabricvp
