// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/time.h"

namespace fabricvp::gpu {

class dispatch_run;
class vector_access;

/// Sees what one wavefront does and what it waits for. \param worked how long the running segment has taken so far
class wavefront_observer {
public:
    // Its SIMD unit worked for it, or it waited for the unit.
    virtual void worked(ticks spent) = 0;
    virtual void queued(ticks spent) = 0;
    /// All that it waited for was there at `data`, and it comes to its SIMD unit now.
    virtual void resumed(ticks data, ticks now) = 0;

    /// Registers are used for the first time since accesses loaded them. \param rows bit n: row n
    virtual void uses(std::uint64_t rows, ticks at, ticks worked) = 0;
    /// Registers that it waited for can be used at `at`.
    virtual void registers_available(ticks at) = 0;

    /// It waits for its loads, or for all of its accesses; these have ended.
    virtual void fence(bool everything, ticks at, ticks worked) = 0;
    virtual void passed(ticks at) = 0;
    /// It waits at a barrier; all wavefronts have arrived.
    virtual void arrived(ticks at) = 0;
    virtual void released(ticks at) = 0;

    /// The memory unit cannot accept its access.
    virtual void issue_blocked(ticks at, ticks worked) = 0;
    /// \param row that the access loads; lane_registers::sink or less than 0: none
    virtual void issued(vector_access& access, int row, ticks at, ticks worked) = 0;

    /// It waits for a line of code; the instruction cache has it.
    virtual void fetches(ticks at, ticks worked) = 0;
    virtual void fetched(unsigned gpu, unsigned cache, std::uint64_t line, ticks at) = 0;

    /// Its last instruction has been executed, or it was killed.
    virtual void ended(ticks at, ticks worked) = 0;
    /// Its accesses have ended too. Nothing follows.
    virtual void retired(ticks at) = 0;

protected:
    ~wavefront_observer() = default;
};

/// Sees the dispatches of all GPUs, and observes their wavefronts. At most one is attached.
class dispatch_observer {
public:
    /// Null: none.
    static dispatch_observer* attached() { return s_attached; }

    virtual void submitted(unsigned gpu, const dispatch_run& run, ticks now) = 0;
    virtual void finished(unsigned gpu, const dispatch_run& run, ticks now) = 0;
    /// A wavefront starts. \param number in its work-group \returns its observer, which lives until retired(); or null
    virtual wavefront_observer* started(unsigned gpu, const dispatch_run& run, std::uint32_t number, ticks now) = 0;

protected:
    dispatch_observer() = default;
    ~dispatch_observer() { detach(); }
    dispatch_observer(const dispatch_observer&) = delete;
    dispatch_observer& operator=(const dispatch_observer&) = delete;

    void attach() { s_attached = this; }
    void detach() {
        if (s_attached == this) s_attached = nullptr;
    }

private:
    inline static dispatch_observer* s_attached = nullptr;
};

}  // namespace fabricvp::gpu
