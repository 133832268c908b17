// SPDX-License-Identifier: Apache-2.0
// A DMA copy engine with memory of its own: the traffic source of congestion studies, and the pattern to follow for new
// endpoints. Registers and descriptors: abi/copy_engine.h.
#pragma once

#include <cstdint>
#include <deque>

#include "abi/copy_engine.h"
#include "base/registers.h"
#include "base/sparse_memory.h"
#include "pcie/endpoint.h"

namespace fabricvp::pcie {

struct copy_engine_params {
    endpoint_params endpoint;
    byte_size memory{std::uint64_t{64} << 20};
    byte_size chunk{4096};                 ///< bytes handed to the link at a time
    std::uint64_t reads_ahead = 8;         ///< chunks that are read ahead of being written
    void describe(parameter_visitor& v);
};

class copy_engine final : public endpoint {
public:
    const copy_engine_params params;

    sparse_memory memory;
    register_bank registers{COPY_ENGINE_REGISTERS_SIZE};
    device_register control{registers, "control", COPY_ENGINE_CONTROL, 4, 0,
                            {{"enable", 0, 1, field_access::read_write, "fetch and execute descriptors"}}};
    device_register status{registers, "status", COPY_ENGINE_STATUS, 4, 0,
                           {{"busy", 0, 1, field_access::read_only, "descriptors are being executed"},
                            {"failed", 1, 1, field_access::read_only, "stopped: a descriptor could not be fetched"}}};
    device_register ring_base{registers, "ring_base", COPY_ENGINE_RING_BASE, 8, 0};
    device_register ring_size{registers, "ring_size", COPY_ENGINE_RING_SIZE, 4, 0};
    device_register doorbell{registers, "doorbell", COPY_ENGINE_DOORBELL, 4, 0};
    device_register completed{registers, "completed", COPY_ENGINE_COMPLETED, 4, 0,
                              {{"count", 0, 32, field_access::read_only, "descriptors ever completed"}}};
    device_register interrupt{registers, "interrupt", COPY_ENGINE_INTERRUPT, 4, 0,
                              {{"done", 0, 1, field_access::write_one_to_clear, "a descriptor that asked for it is done"},
                               {"error", 1, 1, field_access::write_one_to_clear, "a copy failed, or the engine has stopped"}}};
    device_register memory_size{registers, "memory_size", COPY_ENGINE_MEMORY_SIZE, 8, 0,
                                {{"bytes", 0, 64, field_access::read_only, "bytes behind BAR 2"}}};

    counter descriptors{*this, "descriptors", "1", "descriptors executed"};
    counter bytes_copied{*this, "bytes_copied", "B", "bytes copied"};
    counter bytes_received{*this, "bytes_received", "B", "bytes written into this engine's memory by others"};

    copy_engine(const sc_core::sc_module_name& name, const copy_engine_params& params);

    /// Copies without a descriptor, as if the firmware of the device did it: `bytes` of own memory to a bus address.
    /// Studies use it. \param handed_over called when the last byte has been given to the link
    void push(std::uint64_t offset, std::uint64_t bus_address, std::uint64_t bytes, std::function<void()> handed_over);

private:
    struct job {
        std::uint64_t source = 0, destination = 0, length = 0;
        std::uint64_t written = 0;           // handed to the link or to own memory
        bool failed = false;
        bool local_source = false;           // `source` is an offset into own memory
        std::function<void(bool ok)> finished;
        std::uint64_t requested = 0;         // reads asked for
        std::deque<buffer_slice> ready;      // chunks that have arrived, in order
        unsigned reading = 0;
    };

    void bar_read(const bar_hit& at, std::uint8_t* to, std::uint32_t bytes) override;
    void bar_write(const bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) override;
    void function_reset() override;
    void outbox_empty() override { advance(); }

    void kick();
    void fetch_descriptor();
    void execute(const copy_engine_descriptor& d);
    void complete_descriptor(const copy_engine_descriptor& d, bool ok);
    void advance();
    void read_ahead();
    void deliver(std::uint64_t address, const buffer_slice& data);
    bool own_memory(std::uint64_t address, std::uint64_t bytes, std::uint64_t& offset) const;
    void fail();
    void notify(unsigned vector);

    std::deque<job> m_jobs;   // the first is being executed
    bool m_fetching = false;
    bool m_advancing = false;
    std::uint32_t m_epoch = 0;  // reads of before a reset are forgotten
};

}  // namespace fabricvp::pcie
