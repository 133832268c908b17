// SPDX-License-Identifier: Apache-2.0
// A virtio block device (VIRTIO 1.2, 5.2): reads, writes, flushes and identifies a disk image.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "abi/virtio_blk.h"
#include "virtio/disk_image.h"
#include "virtio/virtio_device.h"

namespace fabricvp::virtio {

struct virtio_blk_params : pcie::endpoint_params {
    std::string image;
    disk_mode mode = disk_mode::copy_on_write;
    byte_size capacity{std::uint64_t{64} << 20};
    std::uint64_t queues = 1;
    std::uint64_t queue_size = 128;
    std::uint64_t max_requests_in_flight = 16;
    bool configuration_window = false;
    duration latency{20'000'000};
    bandwidth rate{2'000'000'000};
    virtio_blk_params() { link.width = 4; }
    void describe(parameter_visitor& v);
    std::vector<std::string*> files() { return {&image}; }
};

class virtio_blk final : public virtio_device {
public:
    const virtio_blk_params params;

    disk_image disk;

    counter requests{*this, "requests", "1", "requests served, well or badly"};
    counter errors{*this, "errors", "1", "requests that ended with an error"};
    counter bytes_read{*this, "bytes_read", "B", "bytes read from the disk"};
    counter bytes_written{*this, "bytes_written", "B", "bytes written to the disk"};
    counter flushes{*this, "flushes", "1", "flushes"};

    /// \throws std::invalid_argument if the image cannot be opened, or sizes do not fit
    virtio_blk(const sc_core::sc_module_name& name, const virtio_blk_params& params);

private:
    struct request {
        virtio_chain chain;
        virtio_blk_request header{};
        std::uint64_t done = 0, bytes = 0;  // of data
        buffer_slice data;                  // the piece under way
    };
    using request_ptr = std::shared_ptr<request>;

    void serve(virtio_chain&& chain) override;
    void read_device_configuration(std::uint64_t offset, std::uint8_t* to, std::uint32_t bytes) override;
    void device_reset() override;
    void outbox_empty() override;

    void start_waiting();
    void begin(const request_ptr& r);
    void advance(const request_ptr& r);
    void identify(const request_ptr& r);
    void end(const request_ptr& r, std::uint8_t status);
    void later(ticks when, std::function<void()> what);
    void call_due();
    /// When the medium has moved so many bytes more.
    ticks move(std::uint64_t bytes);

    virtio_blk_config m_configuration{};
    std::deque<request_ptr> m_waiting;
    std::vector<request_ptr> m_waiting_for_link;
    std::uint64_t m_active = 0;
    ticks m_medium_free = 0;
    std::multimap<ticks, std::function<void()>> m_due;
    calendar_event m_wake{method<&virtio_blk::call_due>, this};
};

}  // namespace fabricvp::virtio
