// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "base/bus.h"
#include "base/parameters.h"
#include "base/registers.h"
#include "base/sparse_memory.h"
#include "base/statistics.h"
#include "gpu/memory_types.h"
#include "gpu/vector_memory.h"

namespace fabricvp::gpu {

struct cp_bus_params {
    duration register_latency{10'000};
    duration memory_latency{2'000};  ///< of the processor's own memory, when reached over the bus
    void describe(parameter_visitor& v);
};

/// Everything that one hart of a command processor reaches beyond its own memory: registers, the GPU's L2, memory of other
/// GPUs and of the host, and the address space of kernels (abi/gpu_apertures.h). One access at a time.
class cp_bus final : public bus_target, private line_client, private translation_client {
public:
    const cp_bus_params params;

    counter line_accesses{*this, "line_accesses", "1", "accesses to GPU or host memory"};
    counter register_accesses{*this, "register_accesses", "1", "accesses to registers"};
    counter errors{*this, "errors", "1", "accesses that nobody answered"};
    histogram latency{*this, "latency", "ps", "of accesses to GPU or host memory"};

    /// Reads or writes bytes at a physical address for a debugger. \returns false if nothing is there
    using debug_memory = std::function<bool(std::uint64_t physical, void* data, std::size_t size, bool write)>;

    /// \param owner_base reservation owner number of this hart, unique in the node
    cp_bus(const sc_core::sc_module_name& name, const cp_bus_params& params, sparse_memory& local, register_bank& registers,
           line_target& memory, translator& mmu, std::uint64_t owner_base, debug_memory debug);

    /// Whose tables the virtual aperture uses.
    std::uint32_t address_space = 0;
    /// Why the last access that failed did.
    memory_fault last_fault = memory_fault::none;

    /// Offsets and sizes of the accesses to registers, for audits; off at first.
    void record_touched(bool on) { m_recording = on; }
    const std::set<std::pair<std::uint64_t, unsigned>>& touched() const { return m_touched; }

    void reset() override;

private:
    outcome access(bus_payload& payload, ticks& latency) override;
    unsigned debug_access(bus_payload& payload) override;
    void line_done(line_request& request) override;
    void translated(std::uint64_t page, std::uint64_t physical, memory_fault fault, std::uint64_t cookie) override;

    bool access_local(bus_payload& payload, std::uint64_t offset, ticks& latency);
    void next_piece();
    void send_line(std::uint64_t physical);
    void finish(memory_fault fault);

    sparse_memory& m_local;
    register_bank& m_registers;
    line_target& m_memory;
    translator& m_mmu;
    std::uint64_t m_owner;
    debug_memory m_debug;
    pool<line_request> m_lines;

    bus_payload* m_payload = nullptr;  // under way
    unsigned m_done = 0;               // bytes of it
    unsigned m_piece = 0;              // bytes of the present line
    ticks m_begin = 0;
    bool m_recording = false;
    std::set<std::pair<std::uint64_t, unsigned>> m_touched;
    std::uint64_t m_epoch = 0;         // answers to what a reset has dropped are recognised by it
};

}  // namespace fabricvp::gpu
