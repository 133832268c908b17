// SPDX-License-Identifier: Apache-2.0
// A DMA copy engine with memory of its own: the traffic source of congestion studies, and the pattern to follow for new
// endpoints. Its channels are independent streams; the link takes a TLP of each busy one in turn. Registers and
// descriptors: abi/copy_engine.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "abi/copy_engine.h"
#include "base/registers.h"
#include "base/sparse_memory.h"
#include "pcie/copy_queue.h"
#include "pcie/endpoint.h"

namespace fabricvp::pcie {

struct copy_engine_params {
    endpoint_params endpoint;
    byte_size memory{std::uint64_t{64} << 20};
    std::uint64_t channels = 8;
    byte_size chunk{4096};                 ///< bytes fetched from own memory at a time
    std::uint64_t reads_ahead = 8;         ///< chunks that a channel reads ahead of writing them
    void describe(parameter_visitor& v);
};

class copy_engine final : public endpoint {
public:
    const copy_engine_params params;

    sparse_memory memory;
    register_bank registers{COPY_ENGINE_REGISTERS_SIZE};
    device_register channels{registers, "channels", COPY_ENGINE_CHANNELS, 4, 0,
                             {{"count", 0, 32, field_access::read_only, "DMA channels"}}};
    device_register pending{registers, "pending", COPY_ENGINE_PENDING, 4, 0,
                            {{"channels", 0, 32, field_access::read_only, "bit c: channel c has an interrupt cause"}}};
    device_register memory_size{registers, "memory_size", COPY_ENGINE_MEMORY_SIZE, 8, 0,
                                {{"bytes", 0, 64, field_access::read_only, "bytes behind BAR 2"}}};
    // One a channel:
    device_register control, status, ring_base, ring_size, doorbell, completed, interrupt;

    counter descriptors{*this, "descriptors", "1", "descriptors executed"};
    counter bytes_copied{*this, "bytes_copied", "B", "bytes copied"};
    counter bytes_received{*this, "bytes_received", "B", "bytes written into this engine's memory by others"};

    copy_engine(const sc_core::sc_module_name& name, const copy_engine_params& params);

    /// Copies without a descriptor, as if the firmware of the device did it: `bytes` of own memory to a bus address, in
    /// order with what else the channel has to do. Studies use it. \param handed_over called when the last byte has been
    /// given to the link
    void push(std::uint64_t offset, std::uint64_t bus_address, std::uint64_t bytes, std::function<void()> handed_over,
              unsigned channel = 0);
    /// Calls `arrived` once, when so many more bytes have been written into [offset, offset + bytes) of own memory by others.
    void watch(std::uint64_t offset, std::uint64_t bytes, std::function<void()> arrived);

private:
    struct channel {
        std::unique_ptr<copy_queue> queue;
        bool fetching = false;
        std::uint32_t epoch = 0;  // descriptors asked for before a reset are forgotten
    };
    struct watched {
        std::uint64_t begin, end, left;
        std::function<void()> arrived;
    };

    void bar_read(const bar_hit& at, std::uint8_t* to, std::uint32_t bytes) override;
    void bar_write(const bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) override;
    void function_reset() override;
    void outbox_empty() override { advance(); }

    void kick(std::size_t c);
    void fetch_descriptor(std::size_t c);
    void execute(std::size_t c, const copy_engine_descriptor& d);
    void complete_descriptor(std::size_t c, const copy_engine_descriptor& d, bool ok);
    void advance();
    bool own_memory(std::uint64_t address, std::uint64_t bytes, std::uint64_t& offset) const;
    void fail(std::size_t c);
    void notify(std::size_t c, unsigned vector);
    void update_interrupt();
    void reset_channel(std::size_t c);
    void add_job(std::size_t c, copy_job job);
    void note_arrival(std::uint64_t offset, std::uint64_t bytes);

    std::vector<channel> m_channels;
    std::uint32_t m_working = 0;  // bit c: channel c has jobs
    unsigned m_turn = 0;          // the channel that comes next
    unsigned m_last = 0;          // the channel that came last
    bool m_advancing = false;
    std::vector<watched> m_watched;
};

}  // namespace fabricvp::pcie
