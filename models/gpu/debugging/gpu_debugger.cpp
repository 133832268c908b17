// SPDX-License-Identifier: Apache-2.0
#include "gpu/debugging/gpu_debugger.h"

namespace fabricvp::gpu {

/// Passes on what a compute unit says to the thread that it is about.
class gpu_debugger::unit_watcher final : public wavefront_watcher {
public:
    unit_watcher(compute_unit& unit, lane_breakpoints& breakpoints, wavefront_memory& memory) : m_unit(unit) {
        for (unsigned slot = 0; slot < unit.slots(); ++slot)
            threads.push_back(std::make_unique<wavefront_thread>(unit, slot, *this, breakpoints, memory));
    }
    ~unit_watcher() { m_unit.watch(nullptr); }

    std::vector<std::unique_ptr<wavefront_thread>> threads;

private:
    wavefront_thread& of(const wavefront& w) { return *threads[w.slot]; }

    bool holds(const wavefront& w) override { return of(w).holds(); }
    bool wants_each(const wavefront& w) override { return of(w).wants_each(); }
    bool stops_before(const wavefront& w) override { return of(w).stops_before(); }
    void executed(const wavefront& w, lane_mask lanes) override { of(w).executed(lanes); }
    void state_changed(const wavefront& w) override { of(w).state_changed(); }
    void started(const wavefront& w) override { of(w).started(); }
    void ending(const wavefront& w) override { of(w).ending(); }
    void faulted(const wavefront& w, const fault_record& record) override { of(w).faulted(record); }

    compute_unit& m_unit;
};

gpu_debugger::gpu_debugger(gpu_core& core, wavefront_memory::elsewhere others)
    : memory(core.memory, std::move(others)), m_core(core) {
    m_core.log.watch(true);
    for (auto& unit : core.compute_units)
        m_units.push_back(std::make_unique<unit_watcher>(*unit, m_breakpoints, memory));
}

gpu_debugger::~gpu_debugger() { m_core.log.watch(false); }

std::vector<riscv::debug_target*> gpu_debugger::threads() const {
    std::vector<riscv::debug_target*> all;
    for (const auto& unit : m_units)
        for (const auto& thread : unit->threads) all.push_back(thread.get());
    return all;
}

}  // namespace fabricvp::gpu
