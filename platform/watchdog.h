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

    /// Who waits, since when, and for what, before that is long: blocks of nodes and of what links them, longest first,
    /// then targets that owe a hart a response.
    struct waiting {
        std::string who;
        std::optional<ticks> since;
        std::string what;
    };
    std::vector<waiting> present() const;

private:
    struct stalled {
        const model* block;
        model::wait wait;
    };
    /// Blocks that wait for others since `latest` or before, longest first.
    static std::vector<stalled> stalls(const std::vector<const model*>& blocks, ticks latest);
    /// Those of the machine's nodes.
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
