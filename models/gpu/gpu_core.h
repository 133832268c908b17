// SPDX-License-Identifier: Apache-2.0
// A GPU without the bus that it is plugged into: compute units, memory, command processor. Its wrapper gives it
// ways to memory elsewhere (router().set_aperture) and takes its interrupts (processor.on_interrupt), and is their
// owner: blocks and statistics of the core stand directly below its name.
#pragma once

#include <memory>
#include <vector>

#include "base/clock_domain.h"
#include "gpu/control/command_processor.h"
#include "gpu/control/dispatch_port.h"
#include "gpu/control/queue_log.h"
#include "gpu/lanes/dispatcher.h"
#include "gpu/lanes/instruction_cache.h"
#include "gpu/memory/fabric_port.h"
#include "gpu/memory/gpu_memory_system.h"

namespace fabricvp::gpu {

struct gpu_core_params {
    frequency clock{1'000'000'000};
    std::uint64_t compute_units = 64;
    std::uint64_t compute_units_per_scalar_cache = 4;  ///< compute units that share an instruction and a scalar cache
    compute_unit_params compute_unit;
    instruction_cache_params instruction_cache;
    gpu_memory_system_params memory;
    dispatcher_params dispatcher;
    dispatch_port_params launches;
    command_processor_params processor;
    void describe(parameter_visitor& v);
    std::uint64_t wavefront_slots() const { return compute_unit.slots(); }
};

class gpu_core final {
public:
    model& owner;
    const gpu_core_params params;

    clock_domain clock;
    gpu_memory_system memory;
    fabric_port fabric{"fabric", memory.router};
    gpu::dispatcher dispatcher;
    std::vector<std::unique_ptr<instruction_cache>> instruction_caches;
    std::vector<std::unique_ptr<compute_unit>> compute_units;
    command_processor processor;
    dispatch_port launches;
    queue_log log{processor, memory};

    derived wavefront_instructions{owner, "wavefront_instructions", "1", "instructions executed by wavefronts",
                                   [this] { return instructions(); }};
    instruction_counts instructions_by_class{owner, [this] { return executed(); }};
    derived wavefront_instructions_total{
        owner, "wavefront_instructions_total", "1", "the same since power-on, outside of the region of interest too",
        [this] { return sum([](const compute_unit& u) { return u.wavefront_instructions.total(); }); }};
    derived lane_instructions{owner, "lane_instructions", "1", "instructions executed by lanes",
                              [this] { return lanes_executed(); }};
    derived lanes_per_instruction{owner, "lanes_per_instruction", "1",
                                  "lanes that executed an instruction of their wavefront, on average",
                                  [this] { return instructions() > 0 ? lanes_executed() / instructions() : 0.0; }};
    derived l1_transactions{owner, "l1.transactions", "1", "lines presented to L1 caches or sent past them",
                            [this] { return transactions(false); }};
    derived l1_transactions_total{owner, "l1.transactions_total", "1",
                                  "the same since power-on, outside of the region of interest too",
                                  [this] { return transactions(true); }};

    /// To be called in the constructor of `owner`. \param index of this GPU in its node
    /// \throws std::invalid_argument if sizes do not fit each other
    gpu_core(model& owner, const gpu_core_params& params, unsigned index);

    void reset();
    /// Holds the command processor in reset; what it has launched is aborted.
    void hold_processor();

    memory_router& router() { return memory.router; }

    /// What the statistics above report of the region of interest.
    double instructions() const {
        return sum([](const compute_unit& u) { return u.wavefront_instructions.value(); });
    }
    double lanes_executed() const {
        return sum([](const compute_unit& u) { return u.lane_instructions.value(); });
    }
    double transactions() const { return transactions(false); }

private:
    template <class Value>
    double sum(Value value) const {
        double total = 0;
        for (const auto& u : compute_units) total += static_cast<double>(value(*u));
        return total;
    }
    class_counts executed() const;
    double transactions(bool since_power_on) const;
};

}  // namespace fabricvp::gpu
