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

}  // namespace fabricvp
