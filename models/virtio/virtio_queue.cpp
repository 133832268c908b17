// SPDX-License-Identifier: Apache-2.0
#include "virtio/virtio_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabricvp::virtio {

namespace {

constexpr std::size_t max_heads_per_fetch = 16;

std::uint16_t half(const buffer_slice& data, std::size_t at) {
    std::uint16_t value;
    std::memcpy(&value, data.data() + at, 2);
    return value;
}

}  // namespace

std::vector<virtio_segment> segments_of_range(const std::vector<virtio_segment>& segments, std::uint64_t from,
                                              std::uint64_t bytes) {
    std::vector<virtio_segment> parts;
    for (const auto& s : segments) {
        if (bytes == 0) break;
        if (from >= s.length) {
            from -= s.length;
            continue;
        }
        const auto here = std::min(bytes, s.length - from);
        parts.push_back({s.address + from, here});
        bytes -= here;
        from = 0;
    }
    return parts;
}

virtio_queue::virtio_queue(virtio_queue_owner& owner, pcie::requester& dma, unsigned index, std::uint16_t max_size)
    : size(max_size), m_owner(owner), m_dma(dma), m_index(index), m_max_size(max_size) {}

void virtio_queue::enable() {
    if (m_enabled) return;
    m_enabled = true;
    if (descriptors % 16 || driver % 2 || device % 4) fail("its rings are not aligned");
}

void virtio_queue::reset() {
    ++m_epoch;
    size = m_max_size;
    vector = VIRTIO_NO_VECTOR;
    descriptors = driver = device = 0;
    m_enabled = m_broken = m_busy = m_again = false;
    m_next = m_used = 0;
    m_outstanding = 0;
    m_heads.clear();
    m_chain = {};
}

void virtio_queue::fail(const char* why) {
    stop();
    m_owner.queue_broken(m_index, why);
}

void virtio_queue::fetch(std::uint64_t address, std::size_t bytes, fetch_handler then) {
    const auto data = allocate_slice(bytes);
    m_dma.read(address, data, [this, data, then, epoch = m_epoch](pcie::request_status s) {
        if (epoch != m_epoch) return;
        if (s != pcie::request_status::ok)
            fail("its rings cannot be read");
        else
            (this->*then)(data);
    });
}

void virtio_queue::notify(bool indirect_allowed) {
    if (!m_enabled || m_broken) return;
    m_indirect = indirect_allowed;
    m_again = true;
    if (m_busy) return;
    m_busy = true;
    fetch_index();
}

void virtio_queue::fetch_index() {
    m_again = false;
    fetch(driver, 4, &virtio_queue::index_fetched);
}

void virtio_queue::index_fetched(const buffer_slice& data) {
    const auto waiting = static_cast<std::uint16_t>(half(data, 2) - m_next);
    if (waiting == 0) {
        if (m_again)
            fetch_index();
        else
            m_busy = false;
        return;
    }
    if (waiting + m_outstanding > size) return fail("it has more chains than descriptors");
    const auto at = m_next % size;
    const auto heads = std::min<std::size_t>({waiting, std::size_t{size} - at, max_heads_per_fetch});
    fetch(driver + 4 + 2 * at, 2 * heads, &virtio_queue::heads_fetched);
}

void virtio_queue::heads_fetched(const buffer_slice& data) {
    for (std::size_t i = 0; i < data.length; i += 2) m_heads.push_back(half(data, i));
    next_chain();
}

void virtio_queue::next_chain() {
    if (m_heads.empty()) {
        fetch_index();
        return;
    }
    m_chain = {};
    m_chain.queue = m_index;
    m_chain.head = m_heads.front();
    m_heads.pop_front();
    ++m_next;
    ++m_outstanding;
    m_length = 0;
    fetch_descriptor(m_chain.head);
}

void virtio_queue::fetch_descriptor(std::uint16_t index) {
    if (index >= size) return fail("a descriptor's number is too large");
    fetch(descriptors + 16 * std::uint64_t{index}, sizeof(virtio_descriptor), &virtio_queue::descriptor_fetched);
}

bool virtio_queue::add(const virtio_descriptor& d) {
    if (++m_length > size) {
        fail("a chain is longer than the queue");
        return false;
    }
    const bool write = d.flags & VIRTIO_DESC_WRITE;
    if (!write && m_chain.writable_bytes > 0) {
        fail("bytes to read lie behind bytes to write");
        return false;
    }
    if (d.length == 0) return true;
    (write ? m_chain.writable : m_chain.readable).push_back({d.address, d.length});
    (write ? m_chain.writable_bytes : m_chain.readable_bytes) += d.length;
    return true;
}

void virtio_queue::descriptor_fetched(const buffer_slice& data) {
    virtio_descriptor d;
    std::memcpy(&d, data.data(), sizeof d);
    if (d.flags & VIRTIO_DESC_INDIRECT) {
        if (!m_indirect || d.flags & VIRTIO_DESC_NEXT || d.length == 0 || d.length % sizeof d ||
            d.length / sizeof d > size)
            return fail("an indirect table is out of order");
        fetch(d.address, d.length, &virtio_queue::table_fetched);
        return;
    }
    if (!add(d)) return;
    if (d.flags & VIRTIO_DESC_NEXT) return fetch_descriptor(d.next);
    m_owner.chain_ready(std::move(m_chain));
    if (!m_broken && m_enabled) next_chain();
}

void virtio_queue::table_fetched(const buffer_slice& data) {
    const auto count = data.length / sizeof(virtio_descriptor);
    for (std::size_t i = 0;;) {
        virtio_descriptor d;
        std::memcpy(&d, data.data() + i * sizeof d, sizeof d);
        if (d.flags & VIRTIO_DESC_INDIRECT) return fail("an indirect table holds another one");
        if (!add(d)) return;
        if (!(d.flags & VIRTIO_DESC_NEXT)) break;
        i = d.next;
        if (i >= count) return fail("a descriptor's number is too large");
    }
    m_owner.chain_ready(std::move(m_chain));
    if (!m_broken && m_enabled) next_chain();
}

void virtio_queue::complete(std::uint16_t head, std::uint32_t written) {
    if (!m_enabled || m_broken) return;
    const virtio_used_element element{head, written};
    const auto entry = allocate_slice(sizeof element), index = allocate_slice(2);
    std::memcpy(entry.data(), &element, sizeof element);
    m_dma.write(device + 4 + sizeof element * (m_used % size), entry);
    ++m_used;
    std::memcpy(index.data(), &m_used, 2);
    m_dma.write(device + 2, index);
    --m_outstanding;
    // The driver's wish must be newer than the index it sees. The read pushes the writes before it.
    const auto flags = allocate_slice(2);
    m_dma.read(driver, flags, [this, flags, epoch = m_epoch](pcie::request_status s) {
        if (epoch != m_epoch) return;
        if (s != pcie::request_status::ok)
            fail("its rings cannot be read");
        else if (!(half(flags, 0) & VIRTIO_AVAIL_NO_INTERRUPT))
            m_owner.chain_returned(m_index);
    });
}

}  // namespace fabricvp::virtio
