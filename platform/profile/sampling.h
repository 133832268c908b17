// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace fabricvp {

/// When samples are taken: once in each period, at a place in it that looks random and is the same in each run. A loop
/// whose length divides the period is thus not seen at one of its instructions alone. A period of 0: never.
struct sampling {
    ticks period = 0, from = 0;

    /// Of samples in [begin, end) that are not before `from`.
    std::uint64_t between(ticks begin, ticks end) const {
        begin = std::max(begin, from);
        return period && end > begin ? before(end) - before(begin) : 0;
    }
    /// The first one at `at` or later.
    ticks next(ticks at) const {
        if (!period) return never;
        at = std::max(at, from);
        const auto n = at / period;
        return place(n) >= at ? place(n) : place(n + 1);
    }

private:
    std::uint64_t before(ticks at) const {
        const auto n = at / period;
        return n + (place(n) < at ? 1 : 0);
    }
    /// Of the sample of a period (its number is scrambled as in SplitMix64).
    ticks place(std::uint64_t number) const {
        auto z = (number + 1) * 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return number * period + (z ^ z >> 31) % period;
    }
};

}  // namespace fabricvp
