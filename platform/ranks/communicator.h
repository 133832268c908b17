// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "platform/ranks/window_exchange.h"

namespace fabricvp::ranks {

/// How the processes of one run (its ranks) exchange messages. What carries them (rings in shared memory, MPI) only an
/// implementation knows.
class communicator {
public:
    virtual ~communicator() = default;

    virtual unsigned rank() const = 0;   ///< of this process: 0 …
    virtual unsigned count() const = 0;  ///< of all

    /// All ranks call it, each the same number of times: `to[r]` goes to rank r, and `from[r]` is what that one has
    /// sent here. What is at [rank()] stays where it is. It returns when all has come; a rank that waits long leaves
    /// its core to others.
    virtual void all_to_all(const std::vector<bytes>& to, std::vector<bytes>& from) = 0;
    /// Windows in which only those ranks take part that have something to do; null: not by this communicator. At most
    /// one at a time, and no all_to_all() but where all ranks are in one window. \param lookahead of these windows
    virtual std::unique_ptr<window_exchange> open_windows([[maybe_unused]] ticks lookahead) { return nullptr; }
    /// Seconds of wall time in all_to_all() and between windows.
    virtual double waited() const { return 0; }
    /// The rank that was the last to take part in the latest exchange, as far as this one knows.
    virtual unsigned last_sender() const { return rank(); }
};

/// Between processes that end each by itself.
class process_communicator : public communicator {
public:
    /// All ranks part in peace. Without it, the end of one process ends all.
    virtual void finish() = 0;
};

}  // namespace fabricvp::ranks
