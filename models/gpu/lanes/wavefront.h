// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include <systemc>

#include "gpu/lanes/dispatch.h"
#include "gpu/lanes/lds.h"
#include "gpu/lanes/wavefront_observer.h"

namespace fabricvp::gpu {

/// What a wavefront does or waits for.
enum class wavefront_state : std::uint8_t {
    free,   ///< the slot is empty
    ready,  ///< waits for its SIMD unit
    running,
    memory,    ///< a register is to be loaded
    queue,     ///< the queue of the memory unit or of the LDS is full, or it has too many accesses under way
    fetch,     ///< an instruction line
    fence,     ///< its accesses must end first
    barrier,   ///< other wavefronts must arrive
    draining,  ///< it has ended or was killed; accesses are under way
    starting,  ///< the dispatcher has not come to it yet
    count
};
const char* describe(wavefront_state s);

/// A work-group on a compute unit.
struct work_group {
    dispatch_run* run = nullptr;
    std::array<std::uint32_t, 3> id{};
    std::uint64_t wavefronts = 0;  ///< slots that were given to it
    std::uint32_t live = 0;        ///< wavefronts that have not ended, accesses included
    std::uint32_t executing = 0;   ///< wavefronts with lanes that have not ended
    std::uint32_t arrived = 0;     ///< wavefronts at the barrier
    bool lane_ended = false;
    ticks started = 0;
    lds_block lds;
};

/// A wavefront slot. It is an object of SystemC so that it has a track in traces.
class wavefront final : public sc_core::sc_object, public on_large_pages {
public:
    wavefront(const char* name, unsigned slot, unsigned simd, unsigned position)
        : sc_object(name), slot(slot), simd(simd), position(position) {}
    const char* kind() const override { return "wavefront"; }

    const unsigned slot, simd;
    const unsigned position;  ///< among those of its SIMD unit
    lane_context context;
    work_group* group = nullptr;
    lane_mask started_lanes = 0;
    std::uint64_t scratch = 0;  ///< global virtual address of its area
    std::uint32_t scratch_area = 0;
    std::uint64_t register_bytes = 0;  ///< of the register file

    wavefront_state state = wavefront_state::free;
    ticks since = 0;  ///< when it came into this state
    ticks started = 0;
    ticks wakes_at = never;  ///< in state memory: when the registers it needs will be there
    bool killed = false;
    bool at_barrier = false;        ///< in state fence: goes on to the barrier
    bool acquires = false;          ///< in state fence: caches are to be emptied
    bool waits_for_stores = false;  ///< in state fence
    bool flushes_system = false;    ///< in state fence: when its stores are acknowledged, a release of system scope
    bool issues_behind = false;     ///< in state fence: goes on with its memory instruction
    bool blocked_by_lds = false;    ///< its memory instruction found the queue of the LDS full
    lane_mask to_issue = 0;         ///< lanes of the memory instruction that are not issued yet
    ticks lds_until = 0;            ///< when its accesses of the LDS have been performed

    ticks busy_for = 0;      ///< in state running: how long its segment occupies the SIMD unit
    ticks issued_until = 0;  ///< when its last segment had issued all of its instructions

    std::uint32_t accesses = 0, stores = 0;  ///< under way
    std::uint64_t timed = 0;                 ///< rows whose data have come but are not to be used before loaded_at
    std::uint64_t poisoned = 0;              ///< rows with two wrong bits that ECC has found; they stay pending
    std::array<std::uint8_t, 64> poisoned_lane{};  ///< by row
    std::uint64_t tolerated = 0;           ///< poisoned rows that the next instruction names without reading them
    std::array<std::uint8_t, 64> loads{};  ///< under way, by row
    std::array<ticks, 64> loaded_at{};
    wavefront_observer* observer = nullptr;  ///< null: none
    std::uint64_t probed_pc = 0;             ///< where a probe was told that it stands
};

}  // namespace fabricvp::gpu
