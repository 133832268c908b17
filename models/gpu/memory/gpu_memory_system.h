// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "gpu/memory/gmmu.h"
#include "gpu/memory/gpu_memory.h"
#include "gpu/memory/hbm.h"
#include "gpu/memory/l2_cache.h"
#include "gpu/memory/l2_tlb.h"
#include "gpu/memory/memory_router.h"
#include "gpu/memory/vector_memory_unit.h"

namespace fabricvp::gpu {

struct gpu_memory_system_params {
    byte_size capacity{std::uint64_t{4} << 30};
    byte_size page_size{4096};  ///< of applications' buffers; walkers and TLBs know both sizes
    byte_size migration_size{4096};
    vector_memory_unit_params unit;
    vector_cache_params scalar_cache;
    l2_tlb_params l2_tlb;
    gmmu_params gmmu;
    memory_router_params router;
    l2_params l2;
    hbm_params hbm;
    void describe(parameter_visitor& v);
};

/// All of a GPU's memory but what is inside its compute units: HBM and its bytes, L2, address translation, and for each
/// compute unit a way there.
class gpu_memory_system final : public model {
public:
    const gpu_memory_system_params params;
    memory_pools pools;
    line_request_scheduler scheduler;

    gpu_memory memory;
    gpu::hbm hbm;
    l2_cache l2;
    memory_router router;
    gpu::gmmu gmmu;
    gpu::l2_tlb l2_tlb;
    std::vector<std::unique_ptr<vector_cache>> scalar_caches;
    std::vector<std::unique_ptr<vector_memory_unit>> units;  ///< by compute unit
    /// Reads bytes at a physical address of other GPUs of the node, in no time. \returns false if nothing is there
    std::function<bool(std::uint64_t physical, void* to, std::size_t size)> read_peers;

    /// \param index of the GPU in its node \param compute_units how many \param sharing compute units that share a
    /// scalar cache \throws std::invalid_argument if sizes do not fit each other
    gpu_memory_system(const sc_core::sc_module_name& name, const gpu_memory_system_params& params, unsigned index,
                      const clock_domain& clock, unsigned compute_units, unsigned compute_units_per_scalar_cache = 4);

    /// Forgets translations of an address space everywhere in this GPU.
    void invalidate_translations(std::uint32_t space);
    /// Reads or writes bytes at a physical address for a debugger or loader, in no time.
    /// \returns false unless all of them lie in this GPU's memory
    bool debug_access(std::uint64_t physical, void* data, std::size_t size, bool write);
    /// Reads bytes at a virtual address in no time, all in one page. \returns false unless they lie in memory of a
    /// GPU of the node, or in that of the host if this one shares it
    bool debug_read(std::uint32_t space, std::uint64_t address, void* to, std::size_t size) const;
    /// Walks the page tables in no time. \returns false if there is no page, or tables lie in memory of no GPU
    bool debug_translate(std::uint32_t space, std::uint64_t address, translation& to) const;
};

}  // namespace fabricvp::gpu
