// SPDX-License-Identifier: Apache-2.0
// A virtio network adapter (VIRTIO 1.2, 5.1) with one pair of queues and no offloads: frames go between the driver's
// buffers and a port of the Ethernet between nodes.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "abi/virtio_net.h"
#include "ethernet/adapter.h"
#include "virtio/virtio_device.h"

namespace fabricvp::virtio {

struct virtio_net_params : pcie::endpoint_params {
    ethernet::port_params port;
    std::string address;  ///< empty: it follows from the block's name
    std::uint64_t mtu = 1'500;
    std::uint64_t queue_size = 256;
    std::uint64_t max_frames_in_flight = 8;
    std::uint64_t receive_buffer = 64;
    duration latency{1'000'000};
    virtio_net_params() { link.width = 4; }
    void describe(parameter_visitor& v);
};

class virtio_net final : public virtio_device, public ethernet::adapter, private ethernet::port_owner {
public:
    const virtio_net_params params;

    ethernet::port port;

    counter frames_sent{*this, "frames_sent", "1", "frames of the driver handed to the port"};
    counter frames_received{*this, "frames_received", "1", "frames put into the driver's buffers"};
    counter malformed{*this, "malformed", "1",
                      "frames of the driver that were too short or too long, or asked for offloads"};
    counter no_buffer{*this, "no_buffer", "1",
                      "frames lost because the driver had no buffer for them, or one that was too small"};

    /// \throws std::invalid_argument if the address is none, or sizes do not fit
    virtio_net(const sc_core::sc_module_name& name, const virtio_net_params& params);

    ethernet::address station() const override { return m_station; }
    ethernet::port& ethernet_port() override { return port; }

private:
    void serve(virtio_chain&& chain) override;
    void read_device_configuration(std::uint64_t offset, std::uint8_t* to, std::uint32_t bytes) override;
    void device_reset() override;
    void frame_arrived(ethernet::port&, const ethernet::frame_ptr& f) override;
    void space_available(ethernet::port&) override { send_ready(); }

    void fetch_frames();
    void send_ready();
    void fill_buffers();
    bool is_good(const buffer_slice& bytes);

    /// A frame of the driver's, from its place in the queue to the port.
    struct sending {
        std::uint64_t number;
        virtio_chain chain;
        buffer_slice bytes;  // header and frame; none: it is malformed
        ticks ready;         // never: it is being fetched
    };
    const ethernet::address m_station;
    std::deque<virtio_chain> m_posted;  // to be fetched
    std::deque<sending> m_sending;      // in order
    std::uint64_t m_fetched = 0;
    std::deque<virtio_chain> m_buffers;         // of the driver, for frames
    std::deque<ethernet::frame_ptr> m_arrived;  // frames without one
    calendar_event m_send{method<&virtio_net::send_ready>, this};
};

}  // namespace fabricvp::virtio
