// SPDX-License-Identifier: Apache-2.0
// A GPU as a PCIe endpoint: its memory, doorbells and registers in BARs, interrupts, and the way to system memory. The GPU
// itself is gpu_core, which knows nothing of PCIe.
#pragma once

#include "abi/gpu.h"
#include "base/registers.h"
#include "gpu/gpu_core.h"
#include "gpu/system_port.h"
#include "pcie/endpoint.h"

namespace fabricvp::gpu {

struct gpu_device_params {
    pcie::endpoint_params endpoint;
    gpu_core_params core;
    void describe(parameter_visitor& v);
};

class gpu_device final : public pcie::endpoint {
public:
    const gpu_device_params params;

    register_bank registers{GPU_SRAM_WINDOW};
    device_register id, index, memory_size, compute_units, wavefront_slots, clock_hz, sram_size, cp_harts, cp_control, cp_status,
        cp_entry, host_request, peers, page_request, page_retry, interrupt;

    counter bytes_received{*this, "bytes_received", "B", "bytes written into this GPU's memory over PCIe"};
    counter bytes_sent{*this, "bytes_sent", "B", "bytes read from this GPU's memory over PCIe"};

    gpu_core core;
    /// Figures of the core, under names that do not depend on what the GPU is plugged into.
    derived wavefront_instructions{*this, "wavefront_instructions", "1", "instructions executed by wavefronts",
                                   [this] { return core.instructions(); }};
    derived l1_transactions{*this, "l1.transactions", "1", "lines presented to L1 caches or sent past them",
                            [this] { return core.transactions(); }};
    system_port system{"system", dma};

    /// \param number of this GPU in its node
    gpu_device(const sc_core::sc_module_name& name, const gpu_device_params& params, unsigned number);

private:
    void bar_read(const pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) override;
    void bar_write(const pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) override;
    bool bar_atomic(const pcie::bar_hit& at, pcie::tlp& t, std::uint8_t* old_value) override;
    void function_reset() override;

    void write_memory(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes);
    void write_doorbell(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes);
};

}  // namespace fabricvp::gpu
