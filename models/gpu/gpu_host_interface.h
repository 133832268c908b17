// SPDX-License-Identifier: Apache-2.0
// The side of a GPU that its host sees, whatever lies between them: registers (abi/gpu.h), the command processor's
// memory, doorbells, a window to device memory, the copy engine, interrupts. It knows no bus. The device that attaches
// the GPU to one (gpu_device: PCI Express) calls it for what arrives, and hears of what the GPU has to say as a
// gpu_attachment.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/gpu.h"
#include "base/registers.h"
#include "base/slot_table.h"
#include "gpu/control/sdma_engine.h"
#include "gpu/gpu_core.h"
#include "gpu/memory/gpu_memory_port.h"

namespace fabricvp::gpu {

/// When lanes see what others write into a GPU's memory through its window.
enum class peer_writes {
    on_arrival,  ///< at once, in the order of arrival
    at_bank  ///< each line when its bank of L2 gets to it, so that a busy bank lets later lines of others be seen first
};

struct gpu_host_interface_params {
    gpu_memory_port_params window;
    gpu::peer_writes peer_writes = gpu::peer_writes::on_arrival;
    std::uint64_t queue = 16;
    sdma_engine_params sdma;
    void describe(parameter_visitor& v);
};

/// What a GPU is attached to.
class gpu_attachment {
public:
    /// The level of the interrupt line: high while any vector is pending in the front's `interrupt` register.
    virtual void interrupt_line(bool level) = 0;
    /// A vector has been raised, pending or not: for interrupts by messages.
    virtual void interrupt_message(unsigned vector) = 0;
    /// The data of read_memory() are there; zeros where memory failed.
    virtual void memory_read(std::uint64_t cookie) = 0;
    /// can_accept() may be true again.
    virtual void space_available() = 0;

protected:
    ~gpu_attachment() = default;
};

class gpu_host_interface final : public model, private transfer_client {
public:
    const gpu_host_interface_params params;

    register_bank registers{GPU_SRAM_WINDOW};
    device_register id, index, memory_size, page_size, migration_size, compute_units, wavefront_slots, clock_hz,
        sram_size, cp_harts, lds_bytes, register_bytes, slot_lanes, l2_bytes, memory_clock_hz, memory_bus_bits,
        cp_control, cp_status, cp_entry, cp_firmware, host_request, peers, page_request, page_retry, flush_page,
        queue_hart, interrupt;

    counter bytes_received{*this, "bytes_received", "B", "bytes written into this GPU's memory through the window"};
    counter bytes_sent{*this, "bytes_sent", "B", "bytes read from this GPU's memory through the window"};

    /// What comes in through the window goes to L2 as requests of compute units do. A write is seen as `peer_writes`
    /// says; on arrival, its time at L2 and in memory is taken behind it. A read is performed at L2. What arrives
    /// behind writes (reads, atomics, doorbells, registers) never shows a state without them.
    gpu_memory_port window;

    sdma_engine sdma;

    /// \param number of this GPU in its node \param system the way to memory of the host, for whole ranges of bytes
    gpu_host_interface(const sc_core::sc_module_name& name, const gpu_host_interface_params& params, gpu_core& core,
                       unsigned number, gpu_attachment& attachment, transfer_port& system);

    /// GPU_REGISTERS_SIZE bytes: registers, and from GPU_SRAM_WINDOW on the command processor's memory. Addresses that
    /// none claims read as zeros and ignore writes.
    void read_registers(std::uint64_t offset, std::uint8_t* to, std::uint32_t bytes);
    void write_registers(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes);
    /// GPU_DOORBELLS_SIZE bytes. Doorbells are written whole (4 or 8 bytes at a multiple of 8); other writes are
    /// ignored.
    void write_doorbell(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes);

    /// Device memory, from offset 0. Behind its end reads give zeros, and writes are dropped.
    void write_memory(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes);
    /// Fills `data` in and tells the attachment, later and never inside this call. \param cookie the attachment's own
    void read_memory(std::uint64_t offset, const buffer_slice& data, std::uint64_t cookie);
    /// \param size 4 or 8 bytes, naturally aligned \returns the old value
    std::uint64_t atomic(std::uint64_t offset, unsigned size, atomic_extension::operation what, std::uint64_t operand,
                         std::uint64_t compare);
    /// Whether the window takes one more request now; the attachment holds it back otherwise.
    bool can_accept() const { return window.waiting() < params.queue; }

    /// Its own state; the core is reset by the owner of both.
    void reset() override;

private:
    void transfer_done(std::uint64_t cookie, memory_fault fault) override;
    void raise(unsigned vector);
    void commit_posted_writes();
    std::uint64_t physical(std::uint64_t offset) const {
        return std::uint64_t{m_core.memory.router.where()} << GPU_PA_APERTURE_SHIFT | offset;
    }

    struct pending_read {
        std::uint64_t cookie;  // the attachment's
        buffer_slice data;
    };
    gpu_core& m_core;
    gpu_attachment& m_attachment;
    slot_table<pending_read> m_reads;  // by the window's cookie - 1; writes have cookie 0
};

}  // namespace fabricvp::gpu

namespace fabricvp {
template <>
struct choice_traits<gpu::peer_writes> {
    static constexpr std::pair<gpu::peer_writes, const char*> names[] = {{gpu::peer_writes::on_arrival, "on_arrival"},
                                                                         {gpu::peer_writes::at_bank, "at_bank"}};
};
}  // namespace fabricvp
