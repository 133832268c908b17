// SPDX-License-Identifier: Apache-2.0
#include "gpu/apu.h"

namespace fabricvp::gpu {

void apu_params::describe(parameter_visitor& v) {
    v.group("coherent", coherent, "an APU's way from its L2 to memory of the host (below: host)");
    v.group("system", system, "what the copy engine of an APU reaches memory of the host by (below: host)");
}

apu::apu(const sc_core::sc_module_name& name, const apu_params& p, const gpu_core_params& c,
         const gpu_host_interface_params& f, unsigned number, coherent_memory& host)
    : model(name),
      gpu_unit(core, host_interface),
      params(p),
      core(*this, c, number),
      coherent("coherent", p.coherent, host),
      devices("devices", p.coherent.latency / 2, core.memory.scheduler),
      system("system", p.system, core.clock, core.router()),
      host_interface("host_interface", f, core, number, *this, system),
      register_window("register_window", apu_window::side::registers, *this, p.coherent.latency),
      doorbell_window("doorbell_window", apu_window::side::doorbells, *this, p.coherent.latency),
      memory_window("memory_window", apu_window::side::memory, *this, p.coherent.latency) {
    core.memory.l2.attach_coherent_port(coherent);
    core.router().attach_coherent_port(coherent);
    core.router().set_aperture(GPU_PA_SYSTEM, &devices);
}

void apu::reset() {
    host_interface.reset();
    core.reset();
    for (model* m : {static_cast<model*>(&coherent), static_cast<model*>(&devices), static_cast<model*>(&system)})
        m->reset();
    for (auto* window : {&register_window, &doorbell_window, &memory_window}) window->reset();
    interrupt.drive(false);
}

}  // namespace fabricvp::gpu
