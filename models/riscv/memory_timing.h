// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/time.h"

namespace fabricvp::riscv {

/// What an access to memory costs beyond the instruction's own cycles. A hart with such a model attached asks it for
/// each load, store and atomic in direct memory, and is slower to simulate; data do not pass through it. Fetches are
/// not asked for: code is taken to stay in the first level.
class memory_timing {
public:
    /// Told before what a hart's own caches hold of a line changes by others than the hart.
    class line_watcher {
    public:
        virtual void line_changes(std::uint64_t physical, std::uint64_t size) = 0;

    protected:
        ~line_watcher() = default;
    };

    enum class use { load, store };

    virtual ~memory_timing() = default;
    /// \param hart index of the hart, from 0
    /// \param physical first byte; an access that crosses a line counts for both lines
    /// \param at the hart's local time
    /// \returns the time for which the hart stalls
    virtual ticks access(std::uint64_t hart, std::uint64_t physical, unsigned size, use u, ticks at) = 0;

    /// Makes such an access if it costs nothing and changes no more than a count of hits, which line was used last, and
    /// that a line of this hart alone is dirty. \returns false, with nothing changed, if it is for access() to make
    virtual bool hit(std::uint64_t /*hart*/, std::uint64_t /*physical*/, unsigned /*size*/, use) { return false; }

    /// Whether such an access would cost nothing and change nothing but a count of hits and the order in which the
    /// hart's lines were used, until line_changes().
    virtual bool only_hits(std::uint64_t /*hart*/, std::uint64_t /*physical*/, unsigned /*size*/, use) const {
        return false;
    }
    /// Accounts accesses of which only_hits() was true.
    virtual void add_hits(std::uint64_t /*accesses*/) {}
    /// Makes a line that the hart holds the one used last, as such an access would.
    virtual void use_again(std::uint64_t /*hart*/, std::uint64_t /*physical*/) {}
    /// \param watcher null: none
    virtual void watch(std::uint64_t /*hart*/, line_watcher* /*watcher*/) {}
};

}  // namespace fabricvp::riscv
