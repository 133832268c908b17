// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/lanes/wavefront.h"

namespace fabricvp::gpu {

/// Who looks at a compute unit's wavefronts while they run and may hold them (a debugger). Time goes on for a wavefront
/// that is held: its loads come in.
class wavefront_watcher {
public:
    /// The wavefront must not execute anything now.
    virtual bool holds(const wavefront& w) = 0;
    /// Whether the watcher is to be asked before, and told after, each of its instructions.
    virtual bool wants_each(const wavefront& w) = 0;
    /// Before the instruction at the scheduler's program counter. True: it must not be executed; holds() is true then.
    virtual bool stops_before(const wavefront& w) = 0;
    /// `lanes` have executed an instruction.
    virtual void executed(const wavefront& w, lane_mask lanes) = 0;
    /// A segment has ended, or data have come.
    virtual void state_changed(const wavefront& w) = 0;

    virtual void started(const wavefront& w) = 0;
    /// The slot is about to be empty; all of the wavefront is still there.
    virtual void ending(const wavefront& w) = 0;
    /// The first fault of a dispatch; it ends all its wavefronts.
    virtual void faulted(const wavefront& w, const fault_record& record) = 0;

protected:
    ~wavefront_watcher() = default;
};

}  // namespace fabricvp::gpu
