// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "abi/kernel_descriptor.h"
#include "gpu/lanes/lane_context.h"
#include "gpu/lanes/reconvergence_table.h"

namespace fabricvp::gpu {

/// A kernel over a grid of work-items, as the command processor orders it.
struct dispatch {
    std::uint64_t kernel_object = 0;               ///< for those who want a name; not used
    std::uint64_t image = 0;                       ///< global virtual address of the kernel's image, a multiple of 64
    std::uint64_t entry = 0;                       ///< in the code aperture
    std::uint64_t kernarg = 0;                     ///< global virtual address of the arguments
    std::array<std::uint32_t, 3> grid{1, 1, 1};    ///< work-items
    std::array<std::uint32_t, 3> group{64, 1, 1};  ///< work-items of a work-group, at most 1024 in all
    std::uint32_t lds_bytes = 0;                   ///< of a work-group, static and dynamic
    std::uint32_t scratch_bytes = 0;               ///< of a lane
    std::uint64_t scratch = 0;                     ///< global virtual address of the scratch memory, a multiple of 64
    std::uint64_t scratch_size = 0;                ///< of all of it; how many wavefronts fit there can live at a time
    std::uint32_t address_space = 0;
    std::uint64_t first_group = 0;  ///< where grids are spread over GPUs: the first work-group of this one's part,
    std::uint64_t groups = 0;       ///< and how many; 0: all from there on
    std::uint32_t chunk = 0;        ///< not 0: this many of every `period` work-groups run here, from first_group on
    std::uint32_t period = 0;
    std::uint32_t flags = 0;  ///< of the kernel's descriptor (abi/kernel_descriptor.h)
    unsigned lanes() const { return flags & KERNEL_WAVEFRONT_32 ? 32 : wavefront_lanes; }  ///< of a wavefront
    /// Scratch memory of a wavefront.
    std::uint64_t scratch_area_bytes() const { return std::uint64_t{scratch_bytes} * lanes(); }
    bool acquire = true;       ///< caches of compute units clear what they hold when the first work-group starts
    std::uint64_t cookie = 0;  ///< the client's own
};

/// What went wrong in a kernel, and where.
struct fault_record {
    lane_fault kind = lane_fault::none;
    memory_fault memory = memory_fault::none;                ///< of kind memory
    std::uint32_t gpu = 0, compute_unit = 0, wavefront = 0;  ///< wavefront: slot in the compute unit
    std::array<std::uint32_t, 3> group_id{};
    std::uint32_t lane = 0;
    std::uint64_t pc = 0;       ///< in the code aperture
    std::uint64_t address = 0;  ///< what was accessed; for others the faulting target or the pc
};

/// "memory: unmapped" and so on.
const char* describe(lane_fault kind);
const char* describe(memory_fault fault);

/// A dispatch under way.
class dispatch_run {
public:
    dispatch what;
    unsigned lanes() const { return what.lanes(); }
    std::uint64_t number = 0;               ///< counts dispatches of this GPU
    std::array<std::uint32_t, 3> groups{};  ///< work-groups in each dimension
    std::uint64_t group_count = 0;
    std::uint64_t started = 0, finished = 0;  ///< work-groups
    std::uint32_t group_wavefronts = 0;       ///< of a full work-group
    /// Wavefront-sized areas of the scratch memory, shared by dispatches that are alive there together.
    std::shared_ptr<std::vector<std::uint32_t>> free_scratch;
    /// Wavefronts that the registers of all compute units have place for, if that is less than there are slots; 0:
    /// more.
    std::uint64_t register_wavefronts = 0;
    std::uint64_t waited_for_registers = 0;  ///< the last work-group that did, from 1 on
    ticks queued_at = 0, started_at = 0;
    ticks executed_at = never;                                 ///< the first instruction
    std::shared_ptr<const reconvergence_table> reconvergence;  ///< null: the code could not be read when it started
    bool aborted = false;
    fault_record fault;  ///< the first one
};

}  // namespace fabricvp::gpu
