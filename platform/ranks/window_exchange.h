// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.h"
#include "platform/ranks/parallel_work.h"

namespace fabricvp::ranks {

using bytes = std::vector<std::uint8_t>;

/// Where a rank stands that has done what a window allowed.
struct window_report {
    ticks next = never;        ///< its earliest event; what others are about to hear is left out
    ticks now = 0;             ///< how far it has come
    ticks limit = never;       ///< windows that begin later do not take place
    double seconds = 0;        ///< processor time of its window
    std::uint64_t events = 0;  ///< in its window
    bool for_all = false;      ///< what it sends may change limits: all ranks take part in the next window
};

/// What a rank knows of a window in which it takes part.
struct window_bounds {
    ticks own;     ///< its earliest event, messages that it receives with this included
    ticks others;  ///< the earliest one of all others
    ticks latest;  ///< how far any rank has come

    ticks first() const { return std::min(own, others); }
    /// The last tick that nothing can change of which this rank does not know.
    ticks end(ticks lookahead) const {
        const auto before = [](ticks t, ticks time) { return t > never - time ? never : t + time - 1; };
        return std::min(before(others, lookahead), before(own, 2 * lookahead));
    }
};

/// How ranks go from window to window.
class window_exchange {
public:
    virtual ~window_exchange() = default;

    /// A message, and where in these bytes it begins.
    using receiver = std::function<void(const bytes&, std::size_t)>;

    /// Says that this rank has done what its window allowed, or begins. `to[r]` goes to rank r, which hears it in the
    /// next window of its own; empty: nothing. `due[r]` is from when on that counts, `never` where it counts for
    /// limits only. It returns when a window begins in which this rank takes part, with all that was sent to it in
    /// earlier ones. One that begins behind the limit, or without an event anywhere, has all ranks.
    virtual window_bounds next(const window_report& own, const std::vector<bytes>& to, const std::vector<ticks>& due,
                               const receiver& receive) = 0;
    /// Of all ranks, in all windows; up to date where all ranks take part.
    virtual const parallel_work& work() const = 0;
};

}  // namespace fabricvp::ranks
