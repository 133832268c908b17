// SPDX-License-Identifier: Apache-2.0
// A GPU as a PCIe endpoint: its memory, doorbells and registers in BARs, interrupts, and the way to system memory. The GPU
// itself is gpu_core, which knows nothing of PCIe.
#pragma once

#include <vector>

#include "abi/gpu.h"
#include "base/registers.h"
#include "gpu/gpu_core.h"
#include "gpu/memory/gpu_memory_port.h"
#include "gpu/memory/system_port.h"
#include "pcie/endpoint.h"

namespace fabricvp::gpu {

struct gpu_device_params {
    pcie::endpoint_params endpoint;
    gpu_core_params core;
    gpu_memory_port_params bar;
    std::uint64_t bar_queue = 16;
    void describe(parameter_visitor& v);
};

class gpu_device final : public pcie::endpoint, private transfer_client {
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
    /// What comes in through the BAR of device memory goes to L2 as requests of compute units do. A write is seen, in the
    /// order of PCIe, as soon as it has arrived; its time at L2 and in memory is taken behind it. A read is performed at L2.
    gpu_memory_port bar_memory{"bar_memory", params.bar, core.clock, core.router()};

    /// \param number of this GPU in its node
    gpu_device(const sc_core::sc_module_name& name, const gpu_device_params& params, unsigned number);

private:
    void bar_read(const pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) override;
    void bar_write(const pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) override;
    bool bar_atomic(const pcie::bar_hit& at, pcie::tlp& t, std::uint8_t* old_value) override;
    void function_reset() override;
    bool bar_read_later(const pcie::bar_hit& at, const pcie::tlp_ptr& t, const buffer_slice& data) override;
    bool can_take() const override { return bar_memory.waiting() < params.bar_queue; }
    void transfer_done(std::uint64_t cookie, memory_fault fault) override;

    void write_memory(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes);
    void write_doorbell(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes);
    std::uint64_t physical(std::uint64_t offset) const { return std::uint64_t{core.memory.router.where()} << GPU_PA_WHERE_SHIFT | offset; }

    struct pending_read {
        pcie::tlp_ptr request;
        buffer_slice data;
    };
    std::vector<pending_read> m_reads;  // by cookie - 1; writes have cookie 0
    std::vector<std::uint64_t> m_free_reads;
};

}  // namespace fabricvp::gpu
