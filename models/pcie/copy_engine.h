// SPDX-License-Identifier: Apache-2.0
// A DMA copy engine with memory of its own: the traffic source of congestion studies, and the pattern to follow for new
// endpoints. Its channels are independent streams; the link takes a TLP of each busy one in turn. Registers and
// descriptors: abi/copy_engine.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/copy_channels.h"
#include "base/sparse_memory.h"
#include "pcie/copy_queue.h"
#include "pcie/endpoint.h"

namespace fabricvp::pcie {

struct copy_engine_params : endpoint_params {
    byte_size memory{std::uint64_t{64} << 20};
    std::uint64_t channels = 8;
    byte_size chunk{4096};          ///< bytes fetched from own memory at a time
    std::uint64_t reads_ahead = 8;  ///< chunks that a channel reads ahead of writing them
    void describe(parameter_visitor& v);
    std::uint64_t memory_bar() const { return memory; }
};

class copy_engine final : public endpoint, private copy_engine_core {
public:
    const copy_engine_params params;

    sparse_memory memory;
    register_bank registers{COPY_ENGINE_REGISTERS_SIZE};
    device_register memory_size;
    copy_channels channels;

    counter descriptors{*this, "descriptors", "1", "descriptors executed"};
    counter stops{*this, "stops", "1", "channels that stopped because of their ring"};
    counter bytes_copied{*this, "bytes_copied", "B", "bytes copied"};
    counter bytes_received{*this, "bytes_received", "B", "bytes written into this engine's memory by others"};

    copy_engine(const sc_core::sc_module_name& name, const copy_engine_params& params);

    /// Copies without a descriptor, as if the firmware of the device did it: `bytes` of own memory to a bus address, in
    /// order with what else the channel has to do. Studies use it. \param handed_over called when the last byte has
    /// been given to the link
    void push(std::uint64_t offset, std::uint64_t bus_address, std::uint64_t bytes, std::function<void()> handed_over,
              unsigned channel = 0);
    /// Calls `arrived` once, when so many more bytes have been written into [offset, offset + bytes) of own memory by
    /// others.
    void watch(std::uint64_t offset, std::uint64_t bytes, std::function<void()> arrived);

private:
    struct watched {
        std::uint64_t begin, end, left;
        std::function<void()> arrived;
    };

    void bar_read(const bar_hit& at, std::uint8_t* to, std::uint32_t bytes) override;
    void bar_write(const bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) override;
    void function_reset() override;
    void outbox_empty() override { advance(); }

    void fetch(std::size_t c, std::uint64_t address, const buffer_slice& into, std::uint32_t ticket) override;
    void perform(std::size_t c, const copy_engine_descriptor& d) override;
    void store(std::size_t c, std::uint64_t address, const buffer_slice& status, std::uint32_t ticket) override;
    void abandon(std::size_t c) override;
    void stopped(std::size_t c) override;
    void interrupt_line(bool level) override { set_intx(level); }
    void interrupt_message(std::size_t c, unsigned vector) override;

    void advance();
    bool own_memory(std::uint64_t address, std::uint64_t bytes, std::uint64_t& offset) const;
    void add_job(std::size_t c, copy_job job);
    void note_arrival(std::uint64_t offset, std::uint64_t bytes);

    std::vector<std::unique_ptr<copy_queue>> m_queues;  // by channel
    std::uint32_t m_working = 0;                        // bit c: channel c has jobs
    unsigned m_next_channel = 0;                        // the channel that comes next
    unsigned m_last = 0;                                // the channel that came last
    bool m_advancing = false;
    std::vector<watched> m_watched;
};

}  // namespace fabricvp::pcie
