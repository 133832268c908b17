// SPDX-License-Identifier: Apache-2.0
// Base of virtio devices on PCI Express (VIRTIO 1.2, 4.1; no legacy interface): capabilities, common configuration,
// notifications, interrupts. A device offers features and configuration, and serves the chains that come.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "abi/virtio.h"
#include "base/registers.h"
#include "pcie/endpoint.h"
#include "virtio/virtio_queue.h"

namespace fabricvp::virtio {

struct virtio_settings {
    std::uint16_t type = 0;  ///< device type (5 of the specification)
    std::uint32_t class_code = 0;
    std::uint64_t features = 0;  ///< beside VIRTIO_F_VERSION_1 and VIRTIO_F_INDIRECT_DESC
    unsigned queues = 1;
    std::uint16_t queue_size = 128;  ///< a power of two
    bool window = false;             ///< a window on the BARs in configuration space (VIRTIO_PCI_CAP_PCI_CFG)
};

class virtio_device : public pcie::endpoint, private virtio_queue_owner {
public:
    register_bank registers{VIRTIO_COMMON_SIZE};
    device_register device_feature_select{registers, "device_feature_select", VIRTIO_DEVICE_FEATURE_SELECT, 4, 0};
    device_register device_feature{registers,
                                   "device_feature",
                                   VIRTIO_DEVICE_FEATURE,
                                   4,
                                   0,
                                   {{"bits", 0, 32, field_access::read_only, "offered"}}};
    device_register driver_feature_select{registers, "driver_feature_select", VIRTIO_DRIVER_FEATURE_SELECT, 4, 0};
    device_register driver_feature{registers, "driver_feature", VIRTIO_DRIVER_FEATURE, 4, 0};
    device_register config_vector{registers, "config_vector", VIRTIO_CONFIG_VECTOR, 2, VIRTIO_NO_VECTOR};
    device_register num_queues{registers,
                               "num_queues",
                               VIRTIO_NUM_QUEUES,
                               2,
                               0,
                               {{"count", 0, 16, field_access::read_only, "queues of the device"}}};
    device_register device_status{registers, "device_status", VIRTIO_DEVICE_STATUS, 1, 0};
    device_register queue_select{registers, "queue_select", VIRTIO_QUEUE_SELECT, 2, 0};
    device_register queue_size{registers, "queue_size", VIRTIO_QUEUE_SIZE, 2, 0};
    device_register queue_vector{registers, "queue_vector", VIRTIO_QUEUE_VECTOR, 2, 0};
    device_register queue_enable{registers, "queue_enable", VIRTIO_QUEUE_ENABLE, 2, 0};
    device_register queue_notify_off{
        registers,
        "queue_notify_off",
        VIRTIO_QUEUE_NOTIFY_OFF,
        2,
        0,
        {{"offset", 0, 16, field_access::read_only, "number of its notification register"}}};
    device_register queue_descriptors{registers, "queue_descriptors", VIRTIO_QUEUE_DESCRIPTORS, 8, 0};
    device_register queue_driver{registers, "queue_driver", VIRTIO_QUEUE_DRIVER, 8, 0};
    device_register queue_device{registers, "queue_device", VIRTIO_QUEUE_DEVICE, 8, 0};

    counter notifications{*this, "notifications", "1", "times the driver notified a queue"};
    counter interrupts{*this, "interrupts", "1", "interrupts for used buffers"};
    counter broken{*this, "broken", "1", "times a driver's mistake stopped the device until its reset"};

    virtio_device(const sc_core::sc_module_name& name, const pcie::endpoint_params& params,
                  const virtio_settings& settings);

protected:
    /// A request has come. Its chain goes back with finish().
    virtual void serve(virtio_chain&& chain) = 0;
    /// Device configuration space, as the guest reads it.
    virtual void read_device_configuration(std::uint64_t offset, std::uint8_t* to, std::uint32_t bytes) = 0;
    /// Forget all requests.
    virtual void device_reset() = 0;

    void finish(const virtio_chain& chain, std::uint32_t written) {
        m_queues[chain.queue].complete(chain.head, written);
    }
    /// Reads bytes [from, from + into.length) of what the driver gave. `then` follows, unless the device is reset
    /// before or the bytes cannot be read, in which case it needs a reset.
    void gather(const virtio_chain& chain, std::uint64_t from, const buffer_slice& into, std::function<void()> then);
    /// Writes bytes from `to` on of what the driver gave room for.
    void scatter(const virtio_chain& chain, std::uint64_t to, const buffer_slice& data);
    /// The driver broke the rules: nothing goes on until it resets the device.
    void needs_reset(const char* why);
    /// The driver is there, and has not broken the rules.
    bool driver_ok() const { return m_status & VIRTIO_STATUS_DRIVER_OK && !(m_status & VIRTIO_STATUS_NEEDS_RESET); }

private:
    void bar_read(const pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) final;
    void bar_write(const pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) final;
    void function_reset() final;
    void chain_ready(virtio_chain&& chain) final { serve(std::move(chain)); }
    void chain_returned(unsigned queue) final;
    void queue_broken(unsigned queue, const char* why) final;

    void add_capabilities();
    void add_capability(unsigned type, std::uint32_t offset, std::uint32_t length, unsigned bytes);
    void connect_registers();
    virtio_queue* selected();
    void show_selected();
    void clear_requests();
    void write_status(std::uint8_t status);
    std::uint8_t take_isr();
    std::uint16_t valid_vector(std::uint64_t wanted) const;
    void window(bool write);

    const virtio_settings m_settings;
    std::uint64_t m_offered, m_accepted = 0;
    std::vector<virtio_queue> m_queues;
    std::uint8_t m_status = 0, m_isr = 0;
    std::uint32_t m_epoch = 0;  // what comes from before a reset is forgotten
    std::size_t m_window = 0;   // the capability that is a window on the BARs
};

}  // namespace fabricvp::virtio
