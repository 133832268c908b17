// SPDX-License-Identifier: Apache-2.0
#include "virtio/virtio_blk.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace fabricvp::virtio {

namespace {

constexpr std::uint64_t segment_bytes = 64 << 10;  // bytes moved at a time

virtio_settings settings(const virtio_blk_params& p) {
    virtio_settings s;
    s.type = VIRTIO_BLK_TYPE;
    s.class_code = VIRTIO_BLK_CLASS;
    s.features = VIRTIO_BLK_F_SEG_MAX | VIRTIO_BLK_F_BLK_SIZE | VIRTIO_BLK_F_FLUSH;
    if (p.mode == disk_mode::read_only) s.features |= VIRTIO_BLK_F_RO;
    if (p.queues > 1) s.features |= VIRTIO_BLK_F_MQ;
    s.window = p.configuration_window;
    s.queues = static_cast<unsigned>(p.queues);
    s.queue_size = static_cast<std::uint16_t>(p.queue_size);
    if (p.queue_size & (p.queue_size - 1))
        throw std::invalid_argument(fmt::format("queue_size is {}: give a power of two", p.queue_size));
    if (p.capacity % VIRTIO_BLK_SECTOR)
        throw std::invalid_argument(fmt::format("capacity is {} bytes: give a multiple of 512", p.capacity.bytes));
    return s;
}

}  // namespace

void virtio_blk_params::describe(parameter_visitor& v) {
    pcie::endpoint_params::describe(v);
    v.field("image", image,
            "file with the disk's contents, relative to this file, or firmware:NAME; without one the disk is blank");
    v.choice("mode", mode, "what becomes of writes: refused, kept for the run (copy_on_write), or put into the file");
    v.field("capacity", capacity, between{4096, 1024.0 * (1ull << 30)}, "size of a blank disk");
    v.field("queues", queues, between{1, 16}, "request queues");
    v.field("queue_size", queue_size, between{4, 1024}, "descriptors of a queue at most; a power of two");
    v.field("max_requests_in_flight", max_requests_in_flight, between{1, 1024},
            "requests that the disk works on at a time");
    v.field(
        "configuration_window", configuration_window,
        "a window on the BARs in configuration space, for software that cannot reach them; lspci knows no name for it");
    v.field("latency", latency, between{0, 1e12}, "from a request to its first byte on the medium");
    v.field("rate", rate, between{1e6, 1e12}, "of the medium");
}

virtio_blk::virtio_blk(const sc_core::sc_module_name& name, const virtio_blk_params& p)
    : virtio_device(name, p, settings(p)), params(p), disk(p.image, p.mode, p.capacity) {
    m_configuration.capacity = disk.size() / VIRTIO_BLK_SECTOR;
    m_configuration.seg_max = static_cast<std::uint32_t>(p.queue_size - 2);  // beside header and status
    m_configuration.blk_size = VIRTIO_BLK_SECTOR;
    m_configuration.num_queues = static_cast<std::uint16_t>(p.queues);
}

void virtio_blk::read_device_configuration(std::uint64_t offset, std::uint8_t* to, std::uint32_t bytes) {
    if (offset >= sizeof m_configuration) return;
    std::memcpy(to, reinterpret_cast<const std::uint8_t*>(&m_configuration) + offset,
                std::min<std::size_t>(bytes, sizeof m_configuration - offset));
}

void virtio_blk::serve(virtio_chain&& chain) {
    if (chain.readable_bytes < sizeof(virtio_blk_request) || chain.writable_bytes < 1) {
        needs_reset("a request has no room for its header or its status");
        return;
    }
    auto r = std::make_shared<request>();
    r->chain = std::move(chain);
    m_waiting.push_back(std::move(r));
    start_waiting();
}

void virtio_blk::start_waiting() {
    while (m_active < params.max_requests_in_flight && !m_waiting.empty()) {
        const auto r = m_waiting.front();
        m_waiting.pop_front();
        ++m_active;
        const auto header = allocate_slice(sizeof r->header);
        gather(r->chain, 0, header, [this, r, header] {
            std::memcpy(&r->header, header.data(), sizeof r->header);
            later(now() + params.latency, [this, r] { begin(r); });
        });
    }
}

void virtio_blk::begin(const request_ptr& r) {
    const bool out = r->header.type == VIRTIO_BLK_OUT;
    switch (r->header.type) {
        case VIRTIO_BLK_IN:
        case VIRTIO_BLK_OUT: {
            r->bytes = out ? r->chain.readable_bytes - sizeof r->header : r->chain.writable_bytes - 1;
            const auto sectors = r->bytes / VIRTIO_BLK_SECTOR;
            const bool inside =
                r->header.sector <= m_configuration.capacity && sectors <= m_configuration.capacity - r->header.sector;
            if (r->bytes % VIRTIO_BLK_SECTOR || !inside || (out && params.mode == disk_mode::read_only)) {
                r->bytes = 0;
                end(r, VIRTIO_BLK_IO_ERROR);
            } else {
                advance(r);
            }
            break;
        }
        case VIRTIO_BLK_FLUSH:
            ++flushes;
            end(r, disk.flush() ? VIRTIO_BLK_OK : VIRTIO_BLK_IO_ERROR);
            break;
        case VIRTIO_BLK_GET_ID: identify(r); break;
        default: end(r, VIRTIO_BLK_UNSUPPORTED);
    }
}

void virtio_blk::advance(const request_ptr& r) {
    const auto bytes = std::min(segment_bytes, r->bytes - r->done);
    if (bytes == 0) {
        end(r, VIRTIO_BLK_OK);
        return;
    }
    const auto offset = r->header.sector * VIRTIO_BLK_SECTOR + r->done;
    r->data = allocate_slice(bytes);
    if (r->header.type == VIRTIO_BLK_IN) {
        later(move(bytes), [this, r, offset, bytes] {
            if (!disk.read(offset, r->data.data(), bytes)) {
                end(r, VIRTIO_BLK_IO_ERROR);
                return;
            }
            bytes_read += bytes;
            const auto at = r->done;
            r->done += bytes;
            m_waiting_for_link.push_back(r);  // goes on when the link has taken this piece
            scatter(r->chain, at, r->data);
        });
        return;
    }
    gather(r->chain, sizeof r->header + r->done, r->data, [this, r, offset, bytes] {
        later(move(bytes), [this, r, offset, bytes] {
            if (!disk.write(offset, r->data.data(), bytes)) {
                end(r, VIRTIO_BLK_IO_ERROR);
                return;
            }
            bytes_written += bytes;
            r->done += bytes;
            advance(r);
        });
    });
}

void virtio_blk::outbox_empty() {
    if (m_waiting_for_link.empty()) return;
    const auto ready = std::exchange(m_waiting_for_link, {});
    // From the calendar: this is called while a piece is still being handed over.
    for (const auto& r : ready) later(now(), [this, r] { advance(r); });
}

void virtio_blk::identify(const request_ptr& r) {
    const auto id = allocate_slice(std::min<std::uint64_t>(VIRTIO_BLK_ID_BYTES, r->chain.writable_bytes - 1));
    std::memset(id.data(), 0, id.length);
    std::memcpy(id.data(), basename(), std::min(id.length, std::strlen(basename())));
    if (id.length) scatter(r->chain, 0, id);
    r->done = id.length;
    end(r, VIRTIO_BLK_OK);
}

void virtio_blk::end(const request_ptr& r, std::uint8_t status) {
    ++requests;
    if (status != VIRTIO_BLK_OK) ++errors;
    const auto byte = allocate_slice(1);
    *byte.data() = status;
    scatter(r->chain, r->chain.writable_bytes - 1, byte);
    const bool wrote = r->header.type != VIRTIO_BLK_OUT;
    finish(r->chain, static_cast<std::uint32_t>((wrote ? r->done : 0) + 1));
    --m_active;
    start_waiting();
}

ticks virtio_blk::move(std::uint64_t bytes) {
    const auto takes = static_cast<ticks>(static_cast<double>(bytes) * static_cast<double>(ticks_per_second) /
                                          static_cast<double>(params.rate));
    m_medium_free = std::max(m_medium_free, now()) + takes;
    return m_medium_free;
}

void virtio_blk::later(ticks when, std::function<void()> what) {
    m_due.emplace(when, std::move(what));
    if (!m_wake.scheduled() || m_wake.when() > when) schedule(m_wake, when);
}

void virtio_blk::call_due() {
    while (!m_due.empty() && m_due.begin()->first <= now()) {
        const auto what = std::move(m_due.begin()->second);
        m_due.erase(m_due.begin());
        what();
    }
    if (!m_due.empty()) schedule(m_wake, m_due.begin()->first);
}

void virtio_blk::device_reset() {
    m_waiting.clear();
    m_waiting_for_link.clear();
    m_due.clear();
    m_active = 0;
    m_medium_free = 0;
    cancel(m_wake);
}

}  // namespace fabricvp::virtio
