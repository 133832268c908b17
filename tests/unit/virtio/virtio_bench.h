// SPDX-License-Identifier: Apache-2.0
// A virtio device below a root port with host memory, and a driver with hand-made queues.
#pragma once

#include <catch2/catch.hpp>

#include <cstring>

#include "abi/virtio.h"
#include "unit/pcie/cs_storm_bench.h"
#include "virtio/virtio_device.h"

namespace fabricvp::virtio::test {

using namespace fabricvp::pcie;
using namespace fabricvp::pcie::test;

constexpr std::uint64_t bar = 0x4000'0000, msix_bar = 0x4010'0000;
constexpr std::uint64_t common = bar, isr = bar + 0x1000, device_config = bar + 0x2000, doorbell = bar + 0x3000;
/// Of queue 0; those of the next ones follow.
constexpr std::uint64_t table = 0x1000, driver_ring = 0x2000, device_ring = 0x3000, next_queue = 0x400;
constexpr unsigned queue_size = 8;

template <class Device, class Params>
class virtio_bench final : public model {
public:
    host_memory memory{"memory"};
    root_complex root;
    Device device;

    virtio_bench(const sc_core::sc_module_name& name, const Params& p)
        : model(name), root("root", {}), device("device", p) {
        root.memory.bind(memory.bus);
        connect(root.root_port(0), device.link);
        root.bridges[0]->space.set(0x18, 3, 1 << 8 | 1 << 16);
        root.bridges[0]->space.set(0x20, 4, 0x40104000);
        root.bridges[0]->space.set(0x04, 2, 6);
        device.dma.id = 1 << 8;
        device.config.space.set(0x10, 4, bar);
        device.config.space.set(0x14, 4, msix_bar);
        device.config.space.set(0x04, 2, 6);
    }
};

/// What a driver does.
class virtio_driver {
public:
    virtio_driver(host_memory& memory, root_complex& root, unsigned queues)
        : bytes(memory.bytes), m_root(root), m_posted(queues) {}

    sparse_memory& bytes;

    void run(ticks time = 1'000'000'000) { calendar::current().run_until(calendar::current().now() + time); }
    void write(std::uint64_t address, std::uint64_t value, unsigned size) {
        auto data = allocate_slice(size);
        std::memcpy(data.data(), &value, size);
        m_root.host_write(address, data);
        run(10'000'000);
    }
    std::uint64_t read(std::uint64_t address, unsigned size) {
        auto data = allocate_slice(size);
        m_root.host_read(address, data, [](request_status) {});
        run(10'000'000);
        std::uint64_t value = 0;
        std::memcpy(&value, data.data(), size);
        return value;
    }
    std::uint32_t configure(std::uint64_t reg, bool store, std::uint32_t value, unsigned size = 4) {
        auto data = allocate_slice(size);
        std::memcpy(data.data(), &value, size);
        m_root.host_configuration(1 << 20 | reg, store, data, [](request_status) {});
        run(10'000'000);
        std::uint32_t got = 0;
        std::memcpy(&got, data.data(), size);
        return got;
    }

    /// Resets, agrees on features, sets the queues up. \returns the status that the device ends with
    std::uint64_t start(std::uint64_t features, bool aligned = true) {
        write(common + VIRTIO_DEVICE_STATUS, 0, 1);
        write(common + VIRTIO_DEVICE_STATUS, VIRTIO_STATUS_ACKNOWLEDGE | VIRTIO_STATUS_DRIVER, 1);
        for (unsigned half = 0; half < 2; ++half) {
            write(common + VIRTIO_DRIVER_FEATURE_SELECT, half, 4);
            write(common + VIRTIO_DRIVER_FEATURE, features >> 32 * half & 0xffffffff, 4);
        }
        const auto agreed = VIRTIO_STATUS_ACKNOWLEDGE | VIRTIO_STATUS_DRIVER | VIRTIO_STATUS_FEATURES_OK;
        write(common + VIRTIO_DEVICE_STATUS, agreed, 1);
        if (!(read(common + VIRTIO_DEVICE_STATUS, 1) & VIRTIO_STATUS_FEATURES_OK))
            return read(common + VIRTIO_DEVICE_STATUS, 1);
        for (unsigned q = 0; q < m_posted.size(); ++q) set_up(q, aligned);
        write(common + VIRTIO_DEVICE_STATUS, agreed | VIRTIO_STATUS_DRIVER_OK, 1);
        return read(common + VIRTIO_DEVICE_STATUS, 1);
    }

    void descriptor(unsigned index, std::uint64_t address, std::uint32_t length, unsigned flags, unsigned next,
                    std::uint64_t where = table) {
        const virtio_descriptor d{address, length, static_cast<std::uint16_t>(flags), static_cast<std::uint16_t>(next)};
        bytes.write(where + 16 * index, &d, sizeof d);
    }
    /// Makes chain `head` available.
    void offer(unsigned head, unsigned queue = 0) {
        const auto entry = static_cast<std::uint16_t>(head);
        bytes.write(driver_ring + queue * next_queue + 4 + 2 * (m_posted[queue] % queue_size), &entry, 2);
        ++m_posted[queue];
        bytes.write(driver_ring + queue * next_queue + 2, &m_posted[queue], 2);
    }
    /// The same, and rings.
    void post(unsigned head, unsigned queue = 0) {
        offer(head, queue);
        write(doorbell + 4 * queue, queue, 2);
        run();
    }
    unsigned used_index(unsigned queue = 0) const {
        std::uint16_t index = 0;
        bytes.read(device_ring + queue * next_queue + 2, &index, 2);
        return index;
    }
    virtio_used_element last_used(unsigned queue = 0) const {
        virtio_used_element e;
        bytes.read(device_ring + queue * next_queue + 4 + sizeof e * ((used_index(queue) - 1) % queue_size), &e,
                   sizeof e);
        return e;
    }
    unsigned interrupt_lines() const {
        unsigned up = 0;
        for (const auto& line : m_root.intx) up += line.level();
        return up;
    }

private:
    void set_up(unsigned q, bool aligned) {
        const auto shift = q * next_queue;
        write(common + VIRTIO_QUEUE_SELECT, q, 2);
        write(common + VIRTIO_QUEUE_SIZE, queue_size, 2);
        // 64-bit registers by halves, as drivers write them.
        for (const auto& [reg, value] : {std::pair{VIRTIO_QUEUE_DESCRIPTORS, table + shift + (aligned ? 0 : 8)},
                                         {VIRTIO_QUEUE_DRIVER, driver_ring + shift},
                                         {VIRTIO_QUEUE_DEVICE, device_ring + shift}}) {
            write(common + static_cast<unsigned>(reg), value & 0xffffffff, 4);
            write(common + static_cast<unsigned>(reg) + 4, value >> 32, 4);
        }
        bytes.fill(driver_ring + shift, 0, 0x100);
        bytes.fill(device_ring + shift, 0, 0x100);
        m_posted[q] = 0;
        write(common + VIRTIO_QUEUE_ENABLE, 1, 2);
    }

    root_complex& m_root;
    std::vector<std::uint16_t> m_posted;
};

}  // namespace fabricvp::virtio::test
