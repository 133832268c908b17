// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_device.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabricvp::gpu {

namespace {
register_field constant(const char* name, unsigned width, const char* help) {
    return {name, 0, width, field_access::read_only, help};
}
}  // namespace

void gpu_device_params::describe(parameter_visitor& v) {
    v.group("endpoint", endpoint, "link, requests and completions");
    core.describe(v);
    v.group("bar", bar, "what reads and writes device memory through its BAR");
    v.field("bar_queue", bar_queue, between{1, 4096}, "requests to device memory that have arrived and not left for L2; further ones wait in the link's buffer");
}

gpu_device::gpu_device(const sc_core::sc_module_name& name, const gpu_device_params& p, unsigned number)
    : endpoint(name, p.endpoint, {GPU_VENDOR, GPU_DEVICE, GPU_CLASS, 1, GPU_VENDOR, 1}),
      params(p),
      id(registers, "id", GPU_ID, 4, GPU_ID_VALUE, {constant("id", 32, "\"GPVF\"")}),
      index(registers, "index", GPU_INDEX, 4, number, {constant("index", 32, "of this GPU in its node")}),
      memory_size(registers, "memory_size", GPU_MEMORY_SIZE, 8, p.core.memory.capacity, {constant("bytes", 64, "of device memory")}),
      compute_units(registers, "compute_units", GPU_COMPUTE_UNITS, 4, p.core.compute_units, {constant("count", 32, "compute units")}),
      wavefront_slots(registers, "wavefront_slots", GPU_WAVEFRONT_SLOTS, 4, p.core.wavefront_slots(),
                      {constant("count", 32, "wavefronts that a compute unit holds")}),
      clock_hz(registers, "clock_hz", GPU_CLOCK_HZ, 8, p.core.clock.hertz, {constant("hertz", 64, "clock")}),
      sram_size(registers, "sram_size", GPU_SRAM_SIZE, 4, p.core.processor.memory, {constant("bytes", 32, "memory of the command processor")}),
      cp_harts(registers, "cp_harts", GPU_CP_HARTS, 4, p.core.processor.harts, {constant("count", 32, "harts of the command processor")}),
      cp_control(registers, "cp_control", GPU_CP_CONTROL, 4, 0, {{"run", 0, 1, field_access::read_write, "0: held in reset"}}),
      cp_status(registers, "cp_status", GPU_CP_STATUS, 4, 0, {constant("state", 32, "enum gpu_firmware_state")}),
      cp_entry(registers, "cp_entry", GPU_CP_ENTRY, 8, 0),
      host_request(registers, "host_request", GPU_HOST_REQUEST, 4, 0),
      peers(registers, "peers", GPU_PEERS, 8, 0, {constant("gpus", 64, "whose memory it reaches, its own included")}),
      page_request(registers, "page_request", GPU_PAGE_REQUEST, 8, 0, {constant("page", 64, "that a walk waits for; reading pops it")}),
      page_retry(registers, "page_retry", GPU_PAGE_RETRY, 4, 0),
      interrupt(registers, "interrupt", GPU_INTERRUPT, 4, 0,
                {{"vectors", 0, GPU_VECTORS, field_access::write_one_to_clear, "raised since they were cleared"}}),
      core("core", p.core, number) {
    add_memory_bar(GPU_BAR_MEMORY, p.core.memory.capacity);
    config.add_bar(GPU_BAR_DOORBELLS, GPU_DOORBELLS_SIZE, true, true);
    config.add_bar(GPU_BAR_REGISTERS, GPU_REGISTERS_SIZE, false, false);
    config.set_interrupt_pin(1);
    add_common_capabilities(true);
    add_msi_x(GPU_VECTORS, GPU_BAR_REGISTERS, GPU_MSIX_TABLE);
    core.router().set_aperture(GPU_PA_SYSTEM, &system);
    core.processor.on_interrupt = [this](unsigned vector) {
        if (vector >= GPU_VECTORS) return;
        interrupt.set(interrupt() | 1u << vector);
        set_intx(true);
        if (msi_x_enabled()) raise(vector);
    };
    interrupt.on_write([this](std::size_t, std::uint64_t) { set_intx(interrupt() != 0); });
    cp_status.on_read([this](std::size_t) { return core.processor.firmware_state(); });
    cp_status.on_debug_read([this](std::size_t) { return core.processor.firmware_state(); });
    cp_control.on_write([this](std::size_t, std::uint64_t) {
        if (cp_control() & 1)
            core.processor.run(cp_entry());
        else
            core.hold_processor();
    });
    page_request.on_read([this](std::size_t) {
        std::uint32_t space = 0;
        std::uint64_t page = 0;
        return core.memory.mmu.take_demand(space, page) ? std::uint64_t{space} << 60 | page << small_page_bits | 1 : 0;
    });
    const auto reached = [this, number](std::size_t) { return core.fabric.peers() | std::uint64_t{1} << number; };
    peers.on_read(reached);
    peers.on_debug_read(reached);
    page_retry.on_write([this](std::size_t, std::uint64_t) { core.memory.mmu.retry_demands(); });
    host_request.on_write([this](std::size_t, std::uint64_t) { core.processor.host_request(); });
}

void gpu_device::bar_read(const pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) {
    std::memset(to, 0, bytes);
    if (at.bar != GPU_BAR_REGISTERS) return;
    if (at.offset >= GPU_SRAM_WINDOW) {
        const auto offset = at.offset - GPU_SRAM_WINDOW;
        if (core.processor.memory.contains(offset, bytes)) core.processor.host_read(offset, to, bytes);
        return;
    }
    for (std::uint32_t i = 0; i < bytes;) {
        const auto size = std::min<std::uint32_t>(bytes - i, 8u - static_cast<std::uint32_t>((at.offset + i) % 8));
        registers.read(at.offset + i, to + i, size);
        i += size;
    }
}

void gpu_device::bar_write(const pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) {
    if (at.bar == GPU_BAR_MEMORY) return write_memory(at.offset, from, bytes);
    if (at.bar == GPU_BAR_DOORBELLS) return write_doorbell(at.offset, from, bytes);
    if (at.offset >= GPU_SRAM_WINDOW) {
        const auto offset = at.offset - GPU_SRAM_WINDOW;
        if (core.processor.memory.contains(offset, bytes)) core.processor.host_write(offset, from, bytes);
        return;
    }
    for (std::uint32_t i = 0; i < bytes;) {
        const auto size = std::min<std::uint32_t>(bytes - i, 8u - static_cast<std::uint32_t>((at.offset + i) % 8));
        registers.write(at.offset + i, from + i, size);
        i += size;
    }
}

/// Device memory is written at the L2, so reservations of lanes hear of it.
void gpu_device::write_memory(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes) {
    for (auto line = offset & ~std::uint64_t{line_bytes - 1}; line < offset + bytes; line += line_bytes)
        core.router().reservations.written(line, 0);
    core.memory.memory.bytes.write(offset, from, bytes);
    bytes_received += bytes;
    bar_memory.account_write(physical(offset), bytes, *this, 0);
}

bool gpu_device::bar_read_later(const pcie::bar_hit& at, const pcie::tlp_ptr& t, const buffer_slice& data) {
    if (at.bar != GPU_BAR_MEMORY || !t->bytes) return false;
    if (m_free_reads.empty()) {
        m_reads.emplace_back();
        m_free_reads.push_back(m_reads.size());
    }
    const auto cookie = m_free_reads.back();
    m_free_reads.pop_back();
    m_reads[cookie - 1] = {t, data};
    bytes_sent += t->bytes;
    bar_memory.read(physical(at.offset), data, *this, cookie);
    return true;
}

void gpu_device::transfer_done(std::uint64_t cookie, memory_fault fault) {
    if (cookie) {
        const auto read = std::exchange(m_reads[cookie - 1], {});
        m_free_reads.push_back(cookie);
        if (fault != memory_fault::none) std::memset(read.data.data(), 0, read.data.length);
        finish_read(read.request, read.data);
    }
    take_more();
}

void gpu_device::write_doorbell(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes) {
    if (offset % 8 || (bytes != 4 && bytes != 8)) return;  // doorbells are written whole
    std::uint64_t value = 0;
    std::memcpy(&value, from, bytes);
    core.processor.ring(static_cast<unsigned>(offset / 8), value);
}

bool gpu_device::bar_atomic(const pcie::bar_hit& at, pcie::tlp& t, std::uint8_t* old_value) {
    if (at.bar != GPU_BAR_MEMORY) return false;
    using operation = atomic_extension::operation;
    const bool compares = t.kind == pcie::tlp_kind::compare_swap;
    const auto size = compares ? t.bytes / 2 : t.bytes;
    std::uint64_t compare = 0, operand = 0;
    if (compares) std::memcpy(&compare, t.data.data(), size);
    std::memcpy(&operand, t.data.data() + (compares ? size : 0), size);
    const auto what = compares ? operation::compare_swap : t.kind == pcie::tlp_kind::swap ? operation::swap : operation::add;
    core.router().reservations.written(at.offset & ~std::uint64_t{line_bytes - 1}, 0);
    const auto old = core.memory.memory.atomic(at.offset, size, what, operand, compare);
    bar_memory.account_write(physical(at.offset), size, *this, 0);
    std::memcpy(old_value, &old, size);
    return true;
}

void gpu_device::function_reset() {
    registers.reset();
    core.reset();
    system.reset();
    bar_memory.reset();
    m_reads.clear();
    m_free_reads.clear();
    take_more();
}

}  // namespace fabricvp::gpu
