// SPDX-License-Identifier: Apache-2.0
// The command processor: RISC-V harts with memory of their own that run firmware (firmware/cp). What that firmware can
// do is what it reaches by the registers of abi/gpu.h and by memory; the hardware here knows nothing of queues or
// packets.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "abi/gpu.h"
#include "base/fault.h"
#include "base/memory_code.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/registers.h"
#include "base/rejection.h"
#include "base/sparse_memory.h"
#include "base/statistics.h"
#include "gpu/control/cp_bus.h"
#include "riscv/hart.h"

namespace fabricvp::gpu {

struct command_processor_params {
    std::uint64_t harts = 1;
    byte_size memory{std::uint64_t{256} << 10};
    bool ecc = false;        ///< of the memory, see memory_code
    double ecc_latency = 2;  ///< of a load with ECC, in cycles of a hart
    riscv::hart_params hart;
    cp_bus_params bus;
    duration quantum{100'000};
    std::string firmware;     ///< file that it starts with instead of what the host loads; empty: none
    parameter_origin origin;  ///< of `firmware`; not described
    command_processor_params();
    void describe(parameter_visitor& v);
};

/// Firmware that a GPU comes with, as from a flash memory of its own.
struct processor_firmware {
    struct segment {
        std::uint64_t offset = 0, size = 0;  ///< in the command processor's memory
        std::string bytes;                   ///< at most `size`; those behind are zero
    };
    std::uint64_t entry = 0;  ///< an offset, too
    std::vector<segment> segments;
    std::uint64_t bytes() const;
};

class command_processor final : public model {
public:
    const command_processor_params params;

    sparse_memory memory;
    register_bank registers{GPU_CP_REGISTERS_SIZE};
    device_register event_pending, event_enable, doorbell_pending, host_pending, firmware_state, interrupt, hart_count,
        time_ns, access_fault, address_space, doorbell_value, page_table, tlb_invalidate, tlb_busy, acquire, queue_hart,
        hart_queues, lines_begin, lines_bytes, lines_lock;

    counter doorbells{*this, "doorbells", "1", "doorbells rung"};
    counter rejected_assignments{*this, "rejected_assignments", "1", "queues assigned to a hart that does not exist"};
    histogram doorbell_service{*this, "doorbell_service", "ps", "from a doorbell to the firmware's clearing it"};

    memory_code code{*this, memory, params.ecc};
    fault_kind<> crash;

    std::vector<std::unique_ptr<cp_bus>> bus;
    std::vector<std::unique_ptr<riscv::hart>> harts;

    /// Hears of what harts and host do with queues, while it is open.
    queue_log* log = nullptr;
    void set_log(queue_log& l);

    /// What the rest of the GPU does for the firmware.
    std::function<void(unsigned vector)> on_interrupt;
    std::function<void(std::uint32_t space, std::uint64_t root)> on_page_table;
    std::function<void(std::uint32_t space)> on_tlb_invalidate;
    std::function<void()> on_acquire;
    std::function<void(std::uint64_t physical, std::uint64_t bytes, bool lock)>
        on_queue_lines;  ///< abi/gpu_queue_lines.h
    std::function<void()> on_doorbell;

    /// \param gpu index in the node
    command_processor(const sc_core::sc_module_name& name, const command_processor_params& params, unsigned gpu,
                      memory_router& router, l2_tlb& translations, debug_memory debug);
    ~command_processor() override;

    void ring(unsigned queue, std::uint64_t value);
    /// Lets a hart hear the doorbell of a queue. A hart that does not exist changes nothing.
    void assign(unsigned queue, std::uint64_t hart);
    void host_request();
    /// Harts drop translations of an address space.
    void invalidate_translations(std::uint32_t space);
    /// Lets the harts run from `entry`, an offset in their memory, or holds them in reset.
    void run(std::uint64_t entry);
    void hold();
    bool running() const { return m_running; }
    /// From now on run() loads this first and starts at its entry, whatever the host has loaded.
    /// \throws std::invalid_argument where it does not fit the memory
    void install(processor_firmware firmware);
    /// What install() was given; without segments: nothing.
    const processor_firmware& installed() const { return m_firmware; }

    /// Level of an event source (enum gpu_event) of one hart, or of all.
    void set_event(unsigned hart, unsigned event, bool level);
    void set_event(unsigned event, bool level);

    /// The host's window into the memory.
    void host_read(std::uint64_t offset, void* to, std::size_t size) const;
    void host_write(std::uint64_t offset, const void* from, std::size_t size);

    void reset() override;

private:
    class clock;
    void show_events(std::size_t hart, std::uint32_t before);
    void update(std::size_t hart);
    void update_doorbells();
    void assign_round_robin();

    std::unique_ptr<clock> m_time;
    direct_memory_map m_direct;
    std::vector<std::uint32_t> m_events;
    std::vector<std::array<ticks, 4>> m_event_since;  // for traces
    std::array<ticks, GPU_QUEUES> m_rung_at{};
    std::uint64_t m_rung = 0;                          // doorbells not yet cleared
    std::array<std::uint8_t, GPU_QUEUES> m_hart_of{};  // what queue_hart says, as long as it says something that exists
    bool m_running = false;
    processor_firmware m_firmware;
};

}  // namespace fabricvp::gpu
