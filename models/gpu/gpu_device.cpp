// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_device.h"

#include <cstring>
#include <utility>

#include "base/trace_flow.h"

namespace fabricvp::gpu {

void gpu_device_params::describe(parameter_visitor& v) {
    endpoint_params::describe(v);
    core.describe(v);
    v.group("host_interface", host_interface, "what the host sees of the GPU");
    v.group("system", system, "the way to memory of the host and to other devices");
}

gpu_device::gpu_device(const sc_core::sc_module_name& name, const gpu_device_params& p, unsigned number)
    : endpoint(name, p, {GPU_VENDOR, GPU_DEVICE, GPU_CLASS, 1, GPU_VENDOR, 1}),
      gpu_unit(core, host_interface),
      params(p),
      core(*this, p.core, number),
      system("system", p.system, core.router(), dma, [this] { return !posted_requests_wait(); }),
      host_interface("host_interface", p.host_interface, core, number, *this, system) {
    add_memory_bar(GPU_BAR_MEMORY, p.memory_bar());
    config.add_bar(GPU_BAR_DOORBELLS, GPU_DOORBELLS_SIZE, true, true);
    config.add_bar(GPU_BAR_REGISTERS, GPU_REGISTERS_SIZE, false, false);
    config.set_interrupt_pin(1);
    add_common_capabilities(true);
    add_msi_x(GPU_VECTORS, GPU_BAR_REGISTERS, GPU_MSIX_TABLE);
    core.router().set_system_port(system, system);
    host_interface.flush_page.on_write([this](std::size_t, std::uint64_t page) { system.flush_page = page; });
}

void gpu_device::bar_read(const pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) {
    if (at.bar == GPU_BAR_REGISTERS) return host_interface.read_registers(at.offset, to, bytes);
    std::memset(to, 0, bytes);  // doorbells are written only
}

void gpu_device::bar_write(const pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) {
    switch (at.bar) {
        case GPU_BAR_MEMORY:
            if (trace::on() && trace::has_pending_results())
                trace::note_result_written(core.router(), config.bar_base(GPU_BAR_MEMORY) + at.offset, at.offset,
                                           bytes);
            return host_interface.write_memory(at.offset, from, bytes);
        case GPU_BAR_DOORBELLS: return host_interface.write_doorbell(at.offset, from, bytes);
        default: return host_interface.write_registers(at.offset, from, bytes);
    }
}

bool gpu_device::bar_read_later(const pcie::bar_hit& at, const pcie::tlp_ptr& t, const buffer_slice& data) {
    if (at.bar != GPU_BAR_MEMORY || !t->bytes) return false;
    host_interface.read_memory(at.offset, data, m_reads.insert({t, data}));
    return true;
}

void gpu_device::memory_read(std::uint64_t cookie) {
    const auto read = m_reads.remove(static_cast<std::uint32_t>(cookie));
    finish_read(read.request, read.data);
}

bool gpu_device::bar_atomic(const pcie::bar_hit& at, pcie::tlp& t, std::uint8_t* old_value) {
    if (at.bar != GPU_BAR_MEMORY || !core.memory.memory.bytes.contains(at.offset, t.target_bytes())) return false;
    using operation = atomic_extension::operation;
    const bool compares = t.kind == pcie::tlp_kind::compare_swap;
    const auto size = t.target_bytes();
    std::uint64_t compare = 0, operand = 0;
    if (compares) std::memcpy(&compare, t.data.data(), size);
    std::memcpy(&operand, t.data.data() + (compares ? size : 0), size);
    const auto what = compares                         ? operation::compare_swap
                      : t.kind == pcie::tlp_kind::swap ? operation::swap
                                                       : operation::add;
    const auto old = host_interface.atomic(at.offset, size, what, operand, compare);
    std::memcpy(old_value, &old, size);
    return true;
}

void gpu_device::function_reset() {
    host_interface.reset();
    core.reset();
    system.reset();
    m_reads.clear();
    resume_accepting();
}

}  // namespace fabricvp::gpu
