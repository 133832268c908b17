// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_traffic_end.h"

#include <algorithm>
#include <utility>

namespace fabricvp::gpu {

gpu_traffic_end::gpu_traffic_end(gpu_device& device)
    : m_device(device),
      m_jobs(device.host_interface.sdma.params.channels),
      m_in_flight(device.host_interface.sdma.params.channels) {
    memory().attach(*this);
}

gpu_traffic_end::~gpu_traffic_end() { memory().detach(*this); }

std::uint64_t gpu_traffic_end::bus_address() const {
    const auto& config = m_device.config;
    return config.memory_enabled() && config.bus_master() ? config.bar_base(GPU_BAR_MEMORY) : 0;
}

void gpu_traffic_end::push(std::uint64_t offset, std::uint64_t bus_address, std::uint64_t bytes,
                           std::function<void()> handed_over, unsigned channel) {
    m_jobs[channel].push_back({offset, bus_address, bytes, 0, 0, std::move(handed_over)});
    advance(channel);
}

void gpu_traffic_end::advance(unsigned channel) {
    if (m_jobs[channel].empty()) return;
    constexpr auto page = sparse_memory::page_size;
    auto& sdma = m_device.host_interface.sdma;
    auto& j = m_jobs[channel].front();
    const auto local = std::uint64_t{m_device.core.router().where()} << GPU_PA_APERTURE_SHIFT;
    for (; j.begun < j.bytes && m_in_flight[channel] < sdma.params.chunks; ++m_in_flight[channel]) {
        const auto from = j.from + j.begun;
        const auto bytes = std::min(j.bytes - j.begun, page - from % page);
        const auto data = allocate_slice(bytes);
        const auto place = m_chunks.insert({channel, j.to + j.begun, data});
        j.begun += bytes;
        sdma.memory.read(local | from, data, *this, place);
    }
}

void gpu_traffic_end::transfer_done(std::uint64_t cookie, memory_fault) {
    const auto place = static_cast<std::uint32_t>(cookie);
    auto& c = m_chunks[place];
    if (std::exchange(c.reading, false)) {
        const auto to = std::uint64_t{GPU_PA_SYSTEM} << GPU_PA_APERTURE_SHIFT | c.to;
        const auto data = c.data;
        return m_device.system.write(to, data, *this, cookie);
    }
    const auto ended = m_chunks.remove(place);
    --m_in_flight[ended.channel];
    auto& jobs = m_jobs[ended.channel];
    auto& j = jobs.front();
    j.done += ended.data.length;
    if (j.done == j.bytes) {
        const auto handed_over = std::move(j.handed_over);
        jobs.pop_front();
        if (handed_over) handed_over();
    }
    advance(ended.channel);
}

/// Pages of the range tell of writes to them.
void gpu_traffic_end::watch(std::uint64_t offset, std::uint64_t bytes, std::function<void()> arrived) {
    constexpr auto bits = sparse_memory::page_bits;
    for (auto page = offset >> bits; page <= (offset + bytes - 1) >> bits; ++page)
        memory().set_mark(page, sparse_memory::reserved);
    m_watched.push_back({offset, offset + bytes, bytes, std::move(arrived)});
}

void gpu_traffic_end::marked_page_written(sparse_memory&, std::uint64_t offset, std::uint64_t size,
                                          const memory_observer*) {
    for (std::size_t i = 0; i < m_watched.size(); ++i) {
        auto& w = m_watched[i];
        const auto begin = std::max(offset, w.begin), end = std::min(offset + size, w.end);
        if (begin >= end) continue;
        w.left -= std::min(w.left, end - begin);
        if (w.left) continue;
        const auto arrived = std::move(w.arrived);
        m_watched.erase(m_watched.begin() + static_cast<std::ptrdiff_t>(i--));
        arrived();
    }
}

}  // namespace fabricvp::gpu
