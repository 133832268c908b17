// SPDX-License-Identifier: Apache-2.0
// What one channel of a copy engine has to move, in order, a TLP's worth at a time so that channels can take turns.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "base/sparse_memory.h"
#include "pcie/requester.h"

namespace fabricvp::pcie {

/// One copy. Where an end is local it is an offset into the device's own memory, else a bus address.
struct copy_job {
    std::uint64_t source = 0, destination = 0, length = 0;
    bool local_source = false, local_destination = false;
    std::function<void(bool ok)> finished;  ///< the last byte has been handed to the link, or reading has failed
};

class copy_queue {
public:
    /// \param chunk bytes that are fetched from own memory at once \param window bytes that are read ahead of being
    /// written \param wake called when data have arrived that step() waits for
    copy_queue(requester& dma, sparse_memory& memory, std::uint64_t chunk, std::uint64_t window,
               std::function<void()> wake);

    void add(copy_job job) { m_jobs.push_back(std::move(job)); }
    bool empty() const { return m_jobs.empty(); }
    /// Moves the next piece: one TLP, or a chunk inside own memory. \returns false if nothing can be done now
    bool step();
    /// Ends the first job if all of it has been handed over. To be called when that has left.
    void retire_finished();
    /// Forgets everything; answers to reads that are under way are ignored.
    void clear();

    std::uint64_t bytes_moved = 0;

private:
    struct segment {
        buffer_slice data;
        bool arrived;
    };
    void read_segment(copy_job& j);
    void fetch_chunk(copy_job& j);
    void write_segment(copy_job& j);
    void arrived(std::uint32_t epoch, std::uint32_t sequence, request_status s);

    requester& m_dma;
    sparse_memory& m_memory;
    const std::uint64_t m_chunk, m_window;
    std::function<void()> m_wake;

    std::deque<copy_job> m_jobs;
    // Of the first job:
    std::uint64_t m_requested = 0, m_written = 0;  // bytes
    bool m_failed = false;
    std::uint32_t m_reading = 0;     // reads under way
    std::deque<segment> m_segments;  // asked for and not yet written, in order
    std::uint32_t m_first = 0;       // sequence number of the first of them
    std::uint32_t m_epoch = 0;
};

}  // namespace fabricvp::pcie
