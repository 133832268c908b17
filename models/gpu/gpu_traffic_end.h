// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "base/slot_table.h"
#include "base/sparse_memory.h"
#include "gpu/gpu_device.h"
#include "pcie/traffic_end.h"

namespace fabricvp::gpu {

/// A GPU behind PCIe as an end of messages: its copy engine's port reads device memory through L2, page by page, and
/// posts what it has read over the GPU's link. It needs no driver. Lives as long as the GPU is in use.
class gpu_traffic_end final : public pcie::traffic_end, private transfer_client, private memory_observer {
public:
    explicit gpu_traffic_end(gpu_device& device);
    ~gpu_traffic_end() override;

    sparse_memory& memory() override { return m_device.core.memory.memory.bytes; }
    std::uint64_t bus_address() const override;
    std::uint64_t channels() const override { return m_jobs.size(); }
    void push(std::uint64_t offset, std::uint64_t bus_address, std::uint64_t bytes, std::function<void()> handed_over,
              unsigned channel) override;
    void watch(std::uint64_t offset, std::uint64_t bytes, std::function<void()> arrived) override;

private:
    struct job {
        std::uint64_t from, to, bytes;
        std::uint64_t begun = 0, done = 0;  // bytes
        std::function<void()> handed_over;
    };
    struct chunk {
        unsigned channel;
        std::uint64_t to;
        buffer_slice data;
        bool reading = true;
    };
    struct watched {
        std::uint64_t begin, end, left;
        std::function<void()> arrived;
    };

    void transfer_done(std::uint64_t cookie, memory_fault fault) override;
    void page_marked(sparse_memory&, std::uint64_t, unsigned) override {}
    void marked_page_written(sparse_memory& memory, std::uint64_t offset, std::uint64_t size,
                             const memory_observer* writer) override;
    void advance(unsigned channel);

    gpu_device& m_device;
    std::vector<std::deque<job>> m_jobs;     // by channel; the first one is under way
    std::vector<std::uint64_t> m_in_flight;  // chunks, by channel
    slot_table<chunk> m_chunks;
    std::vector<watched> m_watched;
};

}  // namespace fabricvp::gpu
