// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/memory/memory_types.h"
#include "gpu/memory/system_fence.h"

namespace fabricvp::gpu {

/// What a compute unit sees of memory: its own path of coalescer, L1 TLB and L1 cache, and the scalar cache it shares.
class vector_memory {
public:
    /// A fresh access to fill in.
    virtual vector_access_ptr make_access() = 0;
    /// Takes an access at the present time; its client hears access_done() later or (a hit) inside this call.
    virtual void issue(const vector_access_ptr& access) = 0;
    /// False: the unit's queue is full. The client hears space_available().
    virtual bool can_issue() const = 0;
    /// Acquire: L1 and the scalar cache clear what they hold (lines on their way are not kept either).
    virtual void invalidate() = 0;
    /// Whether a load of the same compute unit may be performed before a store that was issued earlier: where stores go
    /// to other GPUs.
    virtual bool passes_stores() const = 0;
    /// Release of system scope, when all stores of the wavefront are acknowledged: see system_fence::flush().
    virtual bool flush_system(system_fence_client& client, std::uint64_t cookie) = 0;

protected:
    ~vector_memory() = default;
};

/// Virtual to physical without the L1 TLBs of vector units: instruction fetch, command processor.
class translation_client {
public:
    /// `physical` of the first byte of those 4 KiB, or why not.
    virtual void translated(std::uint64_t virtual_page, std::uint64_t physical, memory_fault fault,
                            std::uint64_t cookie) = 0;

protected:
    ~translation_client() = default;
};

class translator {
public:
    /// The client hears translated() later, never inside this call.
    /// \param virtual_page address of the first byte of 4 KiB \param access bits GPU_PTE_READ, _WRITE, _EXECUTE
    virtual void translate(std::uint32_t address_space, std::uint64_t virtual_page, unsigned access,
                           translation_client& client, std::uint64_t cookie) = 0;

protected:
    ~translator() = default;
};

}  // namespace fabricvp::gpu
