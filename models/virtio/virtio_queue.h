// SPDX-License-Identifier: Apache-2.0
// A split virtqueue as the device sees it (VIRTIO 1.2, 2.7): follows the available ring, fetches descriptor chains,
// hands them to the device in order, and returns them on the used ring. Everything it knows comes by DMA, and none of
// it is trusted: what breaks the rules stops the queue.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "abi/virtio.h"
#include "pcie/requester.h"

namespace fabricvp::virtio {

struct virtio_segment {
    std::uint64_t address;
    std::uint64_t length;
};

/// One request of the driver: bytes for the device to read, then bytes for it to write.
struct virtio_chain {
    unsigned queue = 0;
    std::uint16_t head = 0;
    std::vector<virtio_segment> readable, writable;
    std::uint64_t readable_bytes = 0, writable_bytes = 0;
};

/// The segments that hold bytes [from, from + bytes) of a list of segments.
std::vector<virtio_segment> segments_of_range(const std::vector<virtio_segment>& segments, std::uint64_t from,
                                              std::uint64_t bytes);

/// The device that a queue belongs to.
class virtio_queue_owner {
public:
    virtual void chain_ready(virtio_chain&& chain) = 0;
    virtual void chain_returned(unsigned queue) = 0;  ///< the driver wants an interrupt for it
    virtual void queue_broken(unsigned queue, const char* why) = 0;

protected:
    ~virtio_queue_owner() = default;
};

class virtio_queue {
public:
    /// \param most descriptors at most, a power of two
    virtio_queue(virtio_queue_owner& owner, pcie::requester& dma, unsigned index, std::uint16_t max_size);

    /// Registers.
    std::uint16_t size, vector = VIRTIO_NO_VECTOR;
    std::uint64_t descriptors = 0, driver = 0, device = 0;
    bool enabled() const { return m_enabled; }
    void enable();

    /// The driver says that there is something on the available ring.
    void notify(bool indirect_allowed);
    /// Gives a chain back. \param written bytes written into it
    void complete(std::uint16_t head, std::uint32_t written);
    void stop() { ++m_epoch, m_broken = true; }
    void reset();

private:
    using fetch_handler = void (virtio_queue::*)(const buffer_slice&);
    void fetch(std::uint64_t address, std::size_t bytes, fetch_handler then);
    void fetch_index();
    void index_fetched(const buffer_slice& data);
    void heads_fetched(const buffer_slice& data);
    void next_chain();
    void fetch_descriptor(std::uint16_t index);
    void descriptor_fetched(const buffer_slice& data);
    void table_fetched(const buffer_slice& data);
    bool add(const virtio_descriptor& d);
    void fail(const char* why);

    virtio_queue_owner& m_owner;
    pcie::requester& m_dma;
    const unsigned m_index;
    const std::uint16_t m_max_size;
    bool m_enabled = false, m_broken = false, m_indirect = false;
    bool m_busy = false, m_again = false;
    std::uint16_t m_next = 0, m_used = 0;  // counts of chains ever taken and returned
    unsigned m_outstanding = 0, m_length = 0;
    std::deque<std::uint16_t> m_heads;
    virtio_chain m_chain;
    std::uint32_t m_epoch = 0;
};

}  // namespace fabricvp::virtio
