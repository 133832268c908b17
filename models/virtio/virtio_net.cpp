// SPDX-License-Identifier: Apache-2.0
#include "virtio/virtio_net.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/counted_warning.h"
#include "base/random_streams.h"

namespace fabricvp::virtio {

namespace {

constexpr std::uint64_t header = sizeof(virtio_net_header), vlan_tag = 4;

virtio_settings settings(const virtio_net_params& p) {
    virtio_settings s;
    s.type = VIRTIO_NET_TYPE;
    s.class_code = VIRTIO_NET_CLASS;
    s.features = VIRTIO_NET_F_MAC | VIRTIO_NET_F_STATUS | VIRTIO_NET_F_MTU;
    s.queues = VIRTIO_NET_QUEUES;
    s.queue_size = static_cast<std::uint16_t>(p.queue_size);
    if (p.queue_size & (p.queue_size - 1))
        throw std::invalid_argument(fmt::format("queue_size is {}: give a power of two", p.queue_size));
    return s;
}

/// A locally administered address that stays the same from run to run.
ethernet::address address_of(const virtio_net_params& p, const std::string& name) {
    if (!p.address.empty()) return ethernet::parse_address(p.address);
    return std::uint64_t{0x02} << 40 | (stream_seed(0, name) & 0xff'ffff'ffff);
}

}  // namespace

void virtio_net_params::describe(parameter_visitor& v) {
    pcie::endpoint_params::describe(v);
    v.group("port", port, "the port to the Ethernet");
    v.field("address", address,
            "address of the station, such as 02:00:00:00:00:01; empty: it follows from the block's name");
    v.field("mtu", mtu, between{68, static_cast<double>(ethernet::max_mtu)}, "longest payload of a frame, in bytes");
    v.field("queue_size", queue_size, between{4, 1024}, "descriptors of a queue at most; a power of two");
    v.field("max_frames_in_flight", max_frames_in_flight, between{1, 1024},
            "frames that are fetched from memory at a time");
    v.field("receive_buffer", receive_buffer, between{1, 1e6},
            "frames that wait for a buffer of the driver; more are lost");
    v.field("latency", latency, between{0, 1e12}, "from a frame's being fetched to its being handed to the port");
}

virtio_net::virtio_net(const sc_core::sc_module_name& name, const virtio_net_params& p)
    : virtio_device(name, p, settings(p)),
      params(p),
      port("port", p.port, *this),
      m_station(address_of(p, this->name())) {}

void virtio_net::read_device_configuration(std::uint64_t offset, std::uint8_t* to, std::uint32_t bytes) {
    virtio_net_config c{};
    for (unsigned i = 0; i < VIRTIO_NET_ADDRESS_BYTES; ++i)
        c.address[i] = static_cast<std::uint8_t>(m_station >> 8 * (5 - i));
    c.status = port.connected() ? VIRTIO_NET_LINK_UP : 0;
    c.pairs = 1;
    c.mtu = static_cast<std::uint16_t>(params.mtu);
    if (offset >= sizeof c) return;
    std::memcpy(to, reinterpret_cast<const std::uint8_t*>(&c) + offset,
                std::min<std::size_t>(bytes, sizeof c - offset));
}

void virtio_net::serve(virtio_chain&& chain) {
    if (chain.queue == VIRTIO_NET_RECEIVE_QUEUE) {
        if (chain.writable_bytes < header) return needs_reset("a buffer for frames has no room for the header");
        m_buffers.push_back(std::move(chain));
        fill_buffers();
    } else {
        if (chain.readable_bytes < header) return needs_reset("a frame has no header");
        m_posted.push_back(std::move(chain));
        fetch_frames();
    }
}

// --- from the driver to the port ---

void virtio_net::fetch_frames() {
    while (m_sending.size() < params.max_frames_in_flight && !m_posted.empty()) {
        auto chain = std::move(m_posted.front());
        m_posted.pop_front();
        const auto bytes = chain.readable_bytes - header;
        if (bytes < ethernet::header_bytes || bytes > ethernet::header_bytes + vlan_tag + params.mtu) {
            m_sending.push_back({m_fetched++, std::move(chain), {}, now()});
            continue;
        }
        // Short ones are filled up with zeros.
        const auto whole = allocate_slice(header + std::max<std::size_t>(bytes, ethernet::min_frame_bytes));
        std::memset(whole.data() + header + bytes, 0, whole.length - header - bytes);
        m_sending.push_back({m_fetched++, std::move(chain), whole, never});
        gather(m_sending.back().chain, 0, whole.part(0, header + bytes), [this, number = m_sending.back().number] {
            auto& s = m_sending[number - m_sending.front().number];
            s.ready = now() + params.latency;
            if (!is_good(s.bytes)) s.bytes = {};
            send_ready();
        });
    }
    send_ready();
}

bool virtio_net::is_good(const buffer_slice& bytes) {
    virtio_net_header h;
    std::memcpy(&h, bytes.data(), sizeof h);
    return h.flags == 0 && h.segmentation == 0;  // no offloads are offered
}

void virtio_net::send_ready() {
    while (!m_sending.empty() && m_sending.front().ready <= now()) {
        auto& s = m_sending.front();
        if (!s.bytes) {
            count_warning(malformed, *this, "the driver's frame of {} bytes cannot be sent",
                          s.chain.readable_bytes - header);
        } else {
            if (port.connected() && !port.has_space()) return;
            ++frames_sent;
            port.send(ethernet::make_frame(s.bytes.part(header, s.bytes.length - header)));
        }
        const auto chain = std::move(s.chain);
        m_sending.pop_front();
        finish(chain, 0);
    }
    if (!m_sending.empty() && m_sending.front().ready != never) schedule(m_send, m_sending.front().ready);
    if (!m_posted.empty() && m_sending.size() < params.max_frames_in_flight) fetch_frames();
}

// --- from the port to the driver ---

void virtio_net::frame_arrived(ethernet::port&, const ethernet::frame_ptr& f) {
    if (!driver_ok() || m_arrived.size() >= params.receive_buffer) {
        ++no_buffer;
        return;
    }
    m_arrived.push_back(f);
    fill_buffers();
}

void virtio_net::fill_buffers() {
    while (!m_arrived.empty() && !m_buffers.empty()) {
        const auto f = std::move(m_arrived.front());
        m_arrived.pop_front();
        const auto bytes = header + f->bytes.length;
        if (bytes > m_buffers.front().writable_bytes) {
            ++no_buffer;
            continue;
        }
        const auto chain = std::move(m_buffers.front());
        m_buffers.pop_front();
        const auto whole = allocate_slice(bytes);
        virtio_net_header h{};
        h.buffers = 1;
        std::memcpy(whole.data(), &h, sizeof h);
        std::memcpy(whole.data() + header, f->bytes.data(), f->bytes.length);
        scatter(chain, 0, whole);
        ++frames_received;
        finish(chain, static_cast<std::uint32_t>(bytes));
    }
}

void virtio_net::device_reset() {
    m_posted.clear();
    m_sending.clear();
    m_buffers.clear();
    m_arrived.clear();
    cancel(m_send);
}

}  // namespace fabricvp::virtio
