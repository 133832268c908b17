// SPDX-License-Identifier: Apache-2.0
#include "pcie/copy_queue.h"

#include <algorithm>
#include <utility>

namespace fabricvp::pcie {

copy_queue::copy_queue(requester& dma, sparse_memory& memory, std::uint64_t chunk, std::uint64_t window,
                       std::function<void()> wake)
    : m_dma(dma), m_memory(memory), m_chunk(chunk), m_window(window), m_wake(std::move(wake)) {}

bool copy_queue::step() {
    if (m_jobs.empty()) return false;
    auto& j = m_jobs.front();
    if (m_failed || m_written == j.length) {
        if (m_failed && m_reading) return false;  // their responses must not meet the next job
        retire_finished();
        return true;
    }
    if (!j.local_source && m_requested < j.length && m_requested - m_written < m_window) {
        read_segment(j);
        return true;
    }
    if (j.local_source && m_segments.empty()) fetch_chunk(j);
    if (!m_segments.front().arrived) return false;
    write_segment(j);
    return true;
}

void copy_queue::fetch_chunk(copy_job& j) {
    const auto bytes = std::min(m_chunk, j.length - m_written);
    m_segments.push_back({allocate_slice(bytes), true});
    m_memory.read(j.source + m_written, m_segments.back().data.data(), bytes);
}

void copy_queue::read_segment(copy_job& j) {
    const auto from = j.source + m_requested;
    const auto limit = m_dma.max_read_request;
    const auto bytes = std::min<std::uint64_t>(j.length - m_requested, limit - from % limit);
    m_segments.push_back({allocate_slice(bytes), false});
    const auto sequence = m_first + static_cast<std::uint32_t>(m_segments.size()) - 1;
    m_requested += bytes;
    ++m_reading;
    m_dma.read(from, m_segments.back().data,
               [this, epoch = m_epoch, sequence](request_status s) { arrived(epoch, sequence, s); });
}

void copy_queue::arrived(std::uint32_t epoch, std::uint32_t sequence, request_status s) {
    if (epoch != m_epoch) return;
    --m_reading;
    if (s != request_status::ok) m_failed = true;
    m_segments[sequence - m_first].arrived = true;
    m_wake();
}

void copy_queue::write_segment(copy_job& j) {
    auto& data = m_segments.front().data;
    const auto to = j.destination + m_written;
    std::uint64_t bytes = data.length;
    if (j.local_destination) {
        m_memory.write(to, data.data(), bytes);
    } else {
        // No request crosses 4 KiB.
        bytes = std::min<std::uint64_t>({bytes, payload_room(to, m_dma.max_payload), 4096 - to % 4096});
        m_dma.write(to, data.part(0, bytes));
    }
    m_written += bytes;
    bytes_moved += bytes;
    data.offset += bytes;
    data.length -= bytes;
    if (data.length) return;
    m_segments.pop_front();
    ++m_first;
}

void copy_queue::retire_finished() {
    if (m_jobs.empty()) return;
    auto& j = m_jobs.front();
    if (m_failed ? m_reading > 0 : m_written < j.length) return;
    const auto finished = std::move(j.finished);
    const bool ok = !m_failed;
    m_jobs.pop_front();
    m_first += static_cast<std::uint32_t>(m_segments.size());
    m_segments.clear();
    m_requested = m_written = 0;
    m_failed = false;
    if (finished) finished(ok);
}

void copy_queue::clear() {
    ++m_epoch;
    m_jobs.clear();
    m_segments.clear();
    m_requested = m_written = 0;
    m_failed = false;
    m_reading = 0;
}

}  // namespace fabricvp::pcie
