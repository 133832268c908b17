// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/machine.h"

namespace fabricvp {

/// Notices harts that do not get on although they neither wait for an interrupt nor are held by a debugger, because an
/// access of theirs is not answered, and other blocks that wait for something for too long (a link for credits).
class watchdog {
public:
    /// \param timeout simulated time without an instruction; 0: only idle() works
    watchdog(const machine& hardware, ticks timeout);

    /// \returns one line that names what is stuck, if something is
    std::optional<std::string> check(ticks now);
    /// The calendar is empty: what every hart is doing. The flag tells whether one is stuck in an access.
    std::pair<bool, std::string> idle() const;

private:
    struct stalled {
        const model* block;
        model::wait wait;
    };
    /// Blocks of the machine that wait for others since `latest` or before, longest first.
    std::vector<stalled> stalls(ticks latest) const;
    static std::string list_of(const std::vector<stalled>& blocks, ticks now);
    struct progress {
        std::uint64_t instructions = 0;
        ticks since = 0;
    };
    const machine& m_hardware;
    std::vector<const node*> m_nodes;  ///< those of this process
    ticks m_timeout;
    ticks m_next_check = 0;
    std::vector<progress> m_progress;  ///< one a hart, in order
};

}  // namespace fabricvp
