// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_core.h"

#include <fmt/format.h>

#include "gpu/control/kernel_name.h"

namespace fabricvp::gpu {

void gpu_core_params::describe(parameter_visitor& v) {
    v.field("clock", clock, between{1e6, 1e11}, "of compute units, caches and dispatcher");
    v.field("compute_units", compute_units, between{1, 1024}, "number of compute units");
    v.field("compute_units_per_scalar_cache", compute_units_per_scalar_cache, between{1, 64},
            "compute units that share an instruction cache and a scalar cache");
    v.group("compute_unit", compute_unit, "every compute unit");
    v.group("instruction_cache", instruction_cache, "every instruction cache");
    v.group("memory", memory, "address translation, caches, device memory");
    v.group("dispatcher", dispatcher, "gives work-groups to compute units");
    v.group("launches", launches, "how launches reach the dispatcher");
    v.group("processor", processor, "command processor");
}

gpu_core::gpu_core(model& o, const gpu_core_params& p, unsigned index)
    : owner(o),
      params(p),
      clock(p.clock),
      memory("memory", p.memory, index, clock, static_cast<unsigned>(p.compute_units),
             static_cast<unsigned>(p.compute_units_per_scalar_cache)),
      dispatcher("dispatcher", p.dispatcher, clock),
      processor("processor", p.processor, index, memory.router, memory.l2_tlb,
                [this](std::uint64_t physical, void* data, std::size_t size, bool write) {
                    return memory.debug_access(physical, data, size, write);
                }),
      launches("launches", p.launches, processor, dispatcher) {
    for (std::uint64_t i = 0;
         i < (p.compute_units + p.compute_units_per_scalar_cache - 1) / p.compute_units_per_scalar_cache; ++i) {
        instruction_caches.push_back(std::make_unique<instruction_cache>(
            fmt::format("instruction_cache{}", i).c_str(), p.instruction_cache, clock, memory.l2_tlb, memory.router));
        instruction_caches.back()->gpu = index;
        instruction_caches.back()->number =
            static_cast<unsigned>(memory.units.size() + memory.scalar_caches.size() + i);
        dispatcher.attach(*instruction_caches.back());
    }
    for (std::uint64_t i = 0; i < p.compute_units; ++i) {
        const compute_unit_wiring to{clock,
                                     index,
                                     static_cast<std::uint32_t>(i),
                                     *memory.units[i],
                                     *instruction_caches[i / p.compute_units_per_scalar_cache],
                                     dispatcher.listener()};
        compute_units.push_back(
            std::make_unique<compute_unit>(fmt::format("compute_unit{}", i).c_str(), p.compute_unit, to));
        dispatcher.attach(*compute_units.back());
    }
    dispatcher.name_of = [this](const dispatch& what) { return kernel_name(memory, what); };
    dispatcher.read_code = [this](std::uint32_t space, std::uint64_t address, void* to, std::size_t size) {
        return memory.debug_read(space, address, to, size);
    };
    processor.on_page_table = [this](std::uint32_t space, std::uint64_t root) { memory.gmmu.set_root(space, root); };
    processor.on_tlb_invalidate = [this](std::uint32_t space) {
        memory.invalidate_translations(space);
        processor.invalidate_translations(space);
    };
    processor.on_acquire = [this] { dispatcher.acquire(); };
    processor.on_queue_lines = [this](std::uint64_t physical, std::uint64_t bytes, bool lock) {
        memory.l2.watch(physical, bytes, lock);
    };
    processor.set_log(log);
    launches.on_launch = [this] { fabric.kernel_launched(); };
}

void gpu_core::reset() {
    for (model* m : {static_cast<model*>(&memory), static_cast<model*>(&fabric), static_cast<model*>(&dispatcher)})
        m->reset();
    for (auto& cache : instruction_caches) cache->reset();
    for (auto& unit : compute_units) unit->reset();
    processor.reset();
    launches.reset();
}

void gpu_core::hold_processor() {
    processor.hold();
    launches.abort_all();
}

class_counts gpu_core::executed() const {
    class_counts total{};
    for (const auto& u : compute_units)
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += u->executed()[i];
    return total;
}

double gpu_core::transactions(bool since_power_on) const {
    double total = 0;
    for (const auto& u : memory.units)
        total += static_cast<double>(since_power_on ? u->transactions.total() : u->transactions.value());
    return total;
}

}  // namespace fabricvp::gpu
