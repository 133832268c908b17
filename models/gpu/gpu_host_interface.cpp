// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_host_interface.h"

#include <cstring>
#include <utility>

#include "base/register_words.h"
#include "gpu/control/link_registers.h"

namespace fabricvp::gpu {

namespace {

register_field constant(const char* name, unsigned width, const char* help) {
    return {name, 0, width, field_access::read_only, help};
}

bool of_sdma(std::uint64_t offset) { return offset - GPU_SDMA_REGISTERS < GPU_SDMA_REGISTERS_SIZE; }

}  // namespace

void gpu_host_interface_params::describe(parameter_visitor& v) {
    v.group("window", window, "what reads and writes device memory from outside");
    v.choice("peer_writes", peer_writes,
             "when lanes see what the host or a device writes into this GPU's memory: on_arrival, in order, or "
             "at_bank, when the line's bank of L2 gets to it");
    v.field("queue", queue, between{1, 4096},
            "requests to device memory that have arrived and not left for L2; further ones wait outside");
    v.group("sdma", sdma, "the copy engine");
}

gpu_host_interface::gpu_host_interface(const sc_core::sc_module_name& name, const gpu_host_interface_params& p,
                                       gpu_core& core, unsigned number, gpu_attachment& attachment,
                                       transfer_port& system)
    : model(name),
      params(p),
      id(registers, "id", GPU_ID, 4, GPU_ID_VALUE, {constant("id", 32, "\"GPVF\"")}),
      index(registers, "index", GPU_INDEX, 4, number, {constant("index", 32, "of this GPU in its node")}),
      memory_size(registers, "memory_size", GPU_MEMORY_SIZE, 8, core.params.memory.capacity,
                  {constant("bytes", 64, "of device memory")}),
      page_size(registers, "page_size", GPU_PAGE_SIZE, 4, core.params.memory.page_size,
                {constant("bytes", 32, "of pages for programs' buffers")}),
      migration_size(registers, "migration_size", GPU_MIGRATION_SIZE, 4, core.params.memory.migration_size,
                     {constant("bytes", 32, "that first touch moves at a time")}),
      compute_units(registers, "compute_units", GPU_COMPUTE_UNITS, 4, core.params.compute_units,
                    {constant("count", 32, "compute units")}),
      wavefront_slots(registers, "wavefront_slots", GPU_WAVEFRONT_SLOTS, 4, core.params.wavefront_slots(),
                      {constant("count", 32, "wavefronts of slot_lanes that a compute unit holds")}),
      clock_hz(registers, "clock_hz", GPU_CLOCK_HZ, 8, core.params.clock.hertz, {constant("hertz", 64, "clock")}),
      sram_size(registers, "sram_size", GPU_SRAM_SIZE, 4, core.params.processor.memory,
                {constant("bytes", 32, "memory of the command processor")}),
      cp_harts(registers, "cp_harts", GPU_CP_HARTS, 4, core.params.processor.harts,
               {constant("count", 32, "harts of the command processor")}),
      lds_bytes(registers, "lds_bytes", GPU_LDS_BYTES, 4, core.params.compute_unit.lds.size,
                {constant("bytes", 32, "local data share of a compute unit")}),
      register_bytes(registers, "register_bytes", GPU_REGISTER_BYTES, 4, core.params.compute_unit.register_file.size,
                     {constant("bytes", 32, "vector registers of a compute unit; 0: they limit nothing")}),
      slot_lanes(registers, "slot_lanes", GPU_SLOT_LANES, 4, core.params.compute_unit.slot_lanes,
                 {constant("lanes", 32, "of a wavefront that takes one slot")}),
      l2_bytes(registers, "l2_bytes", GPU_L2_BYTES, 8, core.params.memory.l2.size,
               {constant("bytes", 64, "second-level cache")}),
      memory_clock_hz(registers, "memory_clock_hz", GPU_MEMORY_CLOCK_HZ, 8, core.params.memory.hbm.clock.hertz,
                      {constant("hertz", 64, "of device memory, two transfers a clock")}),
      memory_bus_bits(registers, "memory_bus_bits", GPU_MEMORY_BUS_BITS, 4,
                      core.params.memory.hbm.channels * core.params.memory.hbm.bus_bytes * 8,
                      {constant("bits", 32, "a transfer of all channels")}),
      cp_control(registers, "cp_control", GPU_CP_CONTROL, 4, 0,
                 {{"run", 0, 1, field_access::read_write, "0: held in reset"}}),
      cp_status(registers, "cp_status", GPU_CP_STATUS, 4, 0, {constant("state", 32, "enum gpu_firmware_state")}),
      cp_entry(registers, "cp_entry", GPU_CP_ENTRY, 8, 0),
      cp_firmware(registers, "cp_firmware", GPU_CP_FIRMWARE, 4, 0,
                  {constant("bytes", 32, "of firmware that the GPU comes with; 0: the host loads it")}),
      host_request(registers, "host_request", GPU_HOST_REQUEST, 4, 0),
      peers(registers, "peers", GPU_PEERS, 8, 0, {constant("gpus", 64, "whose memory it reaches, its own included")}),
      page_request(registers, "page_request", GPU_PAGE_REQUEST, 8, 0,
                   {constant("page", 64, "that a walk waits for; reading pops it")}),
      page_retry(registers, "page_retry", GPU_PAGE_RETRY, 4, 0),
      flush_page(
          registers, "flush_page", GPU_FLUSH_PAGE, 8, 0,
          {{"address", 0, 64, field_access::read_write, "in host memory, read behind writes to system addresses"}}),
      queue_hart(registers, "queue_hart", GPU_QUEUE_HART, 4, 0, {}, {GPU_QUEUES}),
      interrupt(registers, "interrupt", GPU_INTERRUPT, 4, 0,
                {{"vectors", 0, GPU_VECTORS, field_access::write_one_to_clear, "raised since they were cleared"}}),
      window("window", p.window, core.clock, core.router()),
      sdma("sdma", p.sdma, core.clock, core.router(), core.memory.l2_tlb, system),
      m_core(core),
      m_attachment(attachment) {
    core.processor.on_interrupt = [this](unsigned vector) { raise(vector); };
    sdma.on_interrupt = [this] { raise(GPU_VECTOR_SDMA); };
    interrupt.on_write([this](std::size_t, std::uint64_t) { m_attachment.interrupt_line(interrupt() != 0); });
    const auto state = [this](std::size_t) { return m_core.processor.firmware_state(); };
    cp_status.on_read(state);
    cp_status.on_debug_read(state);
    const auto own_bytes = [this](std::size_t) { return m_core.processor.installed().bytes(); };
    cp_firmware.on_read(own_bytes);
    cp_firmware.on_debug_read(own_bytes);
    cp_control.on_write([this](std::size_t, std::uint64_t) {
        if (cp_control() & 1)
            m_core.processor.run(cp_entry());
        else
            m_core.hold_processor();
    });
    page_request.on_read([this](std::size_t) {
        std::uint32_t space = 0;
        std::uint64_t page = 0;
        return m_core.memory.gmmu.pop_demand_fault(space, page)
                   ? std::uint64_t{space} << 60 | page << small_page_bits | 1
                   : 0;
    });
    const auto reached = [this, number](std::size_t) { return m_core.fabric.peers() | std::uint64_t{1} << number; };
    peers.on_read(reached);
    peers.on_debug_read(reached);
    page_retry.on_write([this](std::size_t, std::uint64_t) { m_core.memory.gmmu.retry_demand_faults(); });
    const auto hart_of = [this](std::size_t queue) { return m_core.processor.queue_hart.get(queue); };
    queue_hart.on_read(hart_of);
    queue_hart.on_debug_read(hart_of);
    queue_hart.on_write(
        [this](std::size_t queue, std::uint64_t hart) { m_core.processor.assign(static_cast<unsigned>(queue), hart); });
    host_request.on_write([this](std::size_t, std::uint64_t) { m_core.processor.host_request(); });
}

void gpu_host_interface::raise(unsigned vector) {
    if (vector >= GPU_VECTORS) return;
    interrupt.set(interrupt() | 1u << vector);
    m_attachment.interrupt_line(true);
    m_attachment.interrupt_message(vector);
}

/// What has arrived before is seen before what comes now.
void gpu_host_interface::commit_posted_writes() {
    if (params.peer_writes == peer_writes::on_arrival) return;
    window.commit_posted_writes([this](std::uint64_t line, const std::uint8_t* from, std::uint64_t mask) {
        m_core.memory.memory.write_line(offset_of(line), from, mask);
        m_core.memory.l2.reservations.written(offset_of(line), 0);
    });
}

void gpu_host_interface::read_registers(std::uint64_t offset, std::uint8_t* to, std::uint32_t bytes) {
    commit_posted_writes();
    std::memset(to, 0, bytes);
    if (offset >= GPU_SRAM_WINDOW) {
        const auto at = offset - GPU_SRAM_WINDOW;
        if (m_core.processor.memory.contains(at, bytes)) m_core.processor.host_read(at, to, bytes);
        return;
    }
    for_each_word(offset, bytes, [&](std::uint64_t at, std::uint32_t i, std::uint32_t size) {
        if (of_sdma(at))
            sdma.registers.read(at - GPU_SDMA_REGISTERS, to + i, size);
        else if (link_registers::have(at))
            link_registers(m_core.fabric.attached()).bank.read(at, to + i, size);
        else
            registers.read(at, to + i, size);
    });
}

void gpu_host_interface::write_registers(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes) {
    commit_posted_writes();
    if (offset >= GPU_SRAM_WINDOW) {
        const auto at = offset - GPU_SRAM_WINDOW;
        if (m_core.processor.memory.contains(at, bytes)) m_core.processor.host_write(at, from, bytes);
        return;
    }
    for_each_word(offset, bytes, [&](std::uint64_t at, std::uint32_t i, std::uint32_t size) {
        if (of_sdma(at))
            sdma.registers.write(at - GPU_SDMA_REGISTERS, from + i, size);
        else if (link_registers::have(at))
            link_registers(m_core.fabric.attached()).bank.write(at, from + i, size);
        else
            registers.write(at, from + i, size);
    });
}

void gpu_host_interface::write_doorbell(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes) {
    if (offset % 8 || (bytes != 4 && bytes != 8)) return;
    commit_posted_writes();
    std::uint64_t value = 0;
    std::memcpy(&value, from, bytes);
    m_core.processor.ring(static_cast<unsigned>(offset / 8), value);
}

/// Device memory is written at the L2, so reservations of lanes hear of it.
void gpu_host_interface::write_memory(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes) {
    if (!m_core.memory.memory.bytes.contains(offset, bytes)) return;
    bytes_received += bytes;
    if (params.peer_writes == peer_writes::at_bank) {
        const auto data = allocate_slice(bytes);
        std::memcpy(data.data(), from, bytes);
        return window.post_write(physical(offset), data, *this, 0);
    }
    for (auto line = offset & ~std::uint64_t{line_bytes - 1}; line < offset + bytes; line += line_bytes)
        m_core.memory.l2.reservations.written(line, 0);
    m_core.memory.memory.bytes.write(offset, from, bytes);
    window.account_write(physical(offset), bytes, *this, 0);
}

void gpu_host_interface::read_memory(std::uint64_t offset, const buffer_slice& data, std::uint64_t cookie) {
    bytes_sent += data.length;
    window.read(physical(offset), data, *this, std::uint64_t{m_reads.insert({cookie, data})} + 1);
}

void gpu_host_interface::transfer_done(std::uint64_t place, memory_fault fault) {
    if (place) {
        const auto read = m_reads.remove(static_cast<std::uint32_t>(place - 1));
        if (fault != memory_fault::none) std::memset(read.data.data(), 0, read.data.length);
        m_attachment.memory_read(read.cookie);
    }
    m_attachment.space_available();
}

std::uint64_t gpu_host_interface::atomic(std::uint64_t offset, unsigned size, atomic_extension::operation what,
                                         std::uint64_t operand, std::uint64_t compare) {
    commit_posted_writes();
    m_core.memory.l2.reservations.written(offset & ~std::uint64_t{line_bytes - 1}, 0);
    const auto old = m_core.memory.memory.atomic(offset, size, what, operand, compare);
    window.account_write(physical(offset), size, *this, 0);
    return old;
}

void gpu_host_interface::reset() {
    registers.reset();
    m_reads.clear();
    model::reset();
}

}  // namespace fabricvp::gpu
