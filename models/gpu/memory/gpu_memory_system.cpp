// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/gpu_memory_system.h"

#include <stdexcept>

#include <fmt/format.h>

#include "base/invalid_parameter.h"

namespace fabricvp::gpu {

void gpu_memory_system_params::describe(parameter_visitor& v) {
    v.field("capacity", capacity, between{1 << 20, 1024.0 * (1 << 30)},
            "bytes of device memory, a power of two below 1 GiB or whole GiB from there; costs what is touched");
    const auto gib = std::uint64_t{1} << 30;
    const bool whole = capacity < gib ? (capacity & (capacity - 1)) == 0 : capacity % gib == 0;
    if (const auto where = v.origin_of("capacity"); !where.empty() && !whole)
        throw std::invalid_argument(
            fmt::format("{}: memory.capacity is {} bytes: give a power of two below 1 GiB or whole GiB from there",
                        where, capacity.bytes));
    v.field("page_size", page_size, between{1 << small_page_bits, 1 << large_page_bits},
            "pages of applications' buffers, 4 KiB or 2 MiB, as the machine's software would have them");
    if (page_size != std::uint64_t{1} << small_page_bits && page_size != std::uint64_t{1} << large_page_bits)
        reject(v, {"page_size", fmt::format("page_size is {} bytes: give 4 KiB or 2 MiB", page_size.bytes)});
    v.field("migration_size", migration_size, between{1 << small_page_bits, 1 << large_page_bits},
            "what first touch moves at a time, a power of two, aligned; never less than a page");
    if (migration_size & (migration_size - 1))
        reject(v, {"migration_size",
                   fmt::format("migration_size is {} bytes: give a power of two", migration_size.bytes)});
    v.group("unit", unit, "a compute unit's way to memory");
    v.group("scalar_cache", scalar_cache, "cache for constants, shared by several compute units");
    v.group("l2_tlb", l2_tlb, "TLB of the whole GPU");
    v.group("gmmu", gmmu, "page-table walkers");
    v.group("router", router, "crossbar between first-level caches and L2");
    v.group("l2", l2, "second-level cache");
    v.group("hbm", hbm, "high-bandwidth memory");
}

gpu_memory_system::gpu_memory_system(const sc_core::sc_module_name& name, const gpu_memory_system_params& p,
                                     unsigned index, const clock_domain& clock, unsigned compute_units,
                                     unsigned compute_units_per_scalar_cache)
    : model(name),
      params(p),
      memory(p.capacity),
      hbm("hbm", p.hbm),
      l2("l2", p.l2, {clock, clock.span(p.router.response_latency), memory, hbm, scheduler}),
      router("router", p.router, GPU_PA_GPU0 + index, {clock, l2, memory, scheduler}),
      gmmu("gmmu", p.gmmu, clock, router),
      l2_tlb("l2_tlb", p.l2_tlb, clock, gmmu) {
    hbm.errors.flip.defaults.capacity = p.capacity;
    for (unsigned i = 0; i < (compute_units + compute_units_per_scalar_cache - 1) / compute_units_per_scalar_cache; ++i)
        scalar_caches.push_back(std::make_unique<vector_cache>(fmt::format("scalar_cache{}", i).c_str(), p.scalar_cache,
                                                               clock, router, pools.requests));
    for (unsigned i = 0; i < compute_units; ++i) {
        const vector_memory_unit_wiring to{clock, l2_tlb, router, *scalar_caches[i / compute_units_per_scalar_cache],
                                           pools};
        units.push_back(std::make_unique<vector_memory_unit>(fmt::format("unit{}", i).c_str(), p.unit, i, to));
        units.back()->l1.number = i;
    }
    for (unsigned i = 0; i < scalar_caches.size(); ++i) scalar_caches[i]->number = compute_units + i;
}

void gpu_memory_system::invalidate_translations(std::uint32_t space) {
    l2_tlb.invalidate(space);
    for (auto& unit : units) unit->tlb.invalidate(space);
}

bool gpu_memory_system::debug_access(std::uint64_t physical, void* data, std::size_t size, bool write) {
    const std::uint64_t offset = offset_of(physical);
    if (!router.is_local(physical) || !memory.bytes.contains(offset, size)) return false;
    if (write) {
        memory.bytes.write(offset, data, size);
        const std::uint64_t first = offset & ~std::uint64_t{line_bytes - 1};
        for (std::uint64_t line = first; line < offset + size; line += line_bytes) l2.reservations.written(line, 0);
    } else {
        memory.bytes.read(offset, data, size);
    }
    return true;
}

bool gpu_memory_system::debug_read(std::uint32_t space, std::uint64_t address, void* to, std::size_t size) const {
    translation t;
    if (!debug_translate(space, address, t) || t.fault != memory_fault::none) return false;
    const auto physical = t.at(address);
    if (auto* const shared = router.shared(); shared && shared->holds(physical) && shared->holds(physical + size - 1))
        shared->load(offset_of(physical), to, size);
    else if (router.is_local(physical) && memory.bytes.contains(offset_of(physical), size))
        memory.bytes.read(offset_of(physical), to, size);
    else
        return !router.is_local(physical) && read_peers && read_peers(physical, to, size);
    return true;
}

bool gpu_memory_system::debug_translate(std::uint32_t space, std::uint64_t address, translation& to) const {
    return gmmu.debug_walk(space, page_of(address), to, [this](std::uint64_t physical, std::uint64_t& entry) {
        const std::uint64_t offset = offset_of(physical);
        if (!router.is_local(physical)) return read_peers && read_peers(physical, &entry, sizeof entry);
        if (!memory.bytes.contains(offset, sizeof entry)) return false;
        memory.bytes.read(offset, &entry, sizeof entry);
        return true;
    });
}

}  // namespace fabricvp::gpu
