// SPDX-License-Identifier: Apache-2.0
// A GPU on its host's bus: an accelerated processing unit. There is no PCI Express between them: registers, doorbells
// and the part of memory that is the GPU's own are ranges of addresses of the host, interrupts are a line, and the
// host's memory is one that GPU and harts share, coherent in the cache that the harts share. The GPU itself is gpu_core
// and gpu_host_interface, as behind PCI Express.
#pragma once

#include "base/wire.h"
#include "gpu/apu_window.h"
#include "gpu/gpu_unit.h"
#include "gpu/memory/bus_port.h"
#include "gpu/memory/coherent_port.h"

namespace fabricvp::gpu {

/// What an APU has beside its core and front.
struct apu_params {
    coherent_port_params coherent;
    gpu_memory_port_params system;
    void describe(parameter_visitor& v);
};

class apu final : public model, public gpu_unit, private gpu_attachment {
public:
    const apu_params params;

    gpu_core core;
    coherent_port coherent;
    bus_port devices;
    gpu_memory_port system;  ///< of the copy engine, to memory of the host
    gpu_host_interface host_interface;
    apu_window register_window, doorbell_window, memory_window;
    wire interrupt;

    /// \param number of this GPU in its node \param host memory that it shares with the harts
    apu(const sc_core::sc_module_name& name, const apu_params& params, const gpu_core_params& core,
        const gpu_host_interface_params& host_interface, unsigned number, coherent_memory& host);

    void reset() override;

private:
    void interrupt_line(bool level) override { interrupt.drive(level); }
    void interrupt_message(unsigned) override {}  // the line says it
    void memory_read(std::uint64_t cookie) override { memory_window.memory_read(cookie); }
    void space_available() override { memory_window.retry_waiting(); }
};

}  // namespace fabricvp::gpu
