// SPDX-License-Identifier: Apache-2.0
#include "virtio/virtio_device.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/counted_warning.h"

namespace fabricvp::virtio {

namespace {

// BAR 0: one page for each structure. BAR 1: the MSI-X table.
constexpr std::uint32_t page = 0x1000;
constexpr std::uint32_t common_page = 0, isr_page = 1, device_page = 2, notify_page = 3, bar_size = 4 * page;
constexpr std::uint32_t notify_multiplier = 4;
constexpr std::uint8_t vendor_specific = 0x09;

pcie::function_identity identity(const virtio_settings& s) {
    return {VIRTIO_VENDOR, static_cast<std::uint16_t>(VIRTIO_DEVICE_BASE + s.type), s.class_code, 1,
            VIRTIO_VENDOR, static_cast<std::uint16_t>(VIRTIO_DEVICE_BASE + s.type)};
}

/// Naturally aligned pieces of an access, for a register bank.
template <class Access>
void in_pieces(std::uint64_t offset, std::uint32_t bytes, Access access) {
    for (std::uint32_t i = 0; i < bytes;) {
        unsigned size = 8;
        while ((offset + i) % size || size > bytes - i) size /= 2;
        access(offset + i, i, size);
        i += size;
    }
}

}  // namespace

virtio_device::virtio_device(const sc_core::sc_module_name& name, const pcie::endpoint_params& params,
                             const virtio_settings& s)
    : endpoint(name, params, identity(s)),
      m_settings(s),
      m_offered(s.features | VIRTIO_F_VERSION_1 | VIRTIO_F_INDIRECT_DESC) {
    for (unsigned i = 0; i < s.queues; ++i)
        m_queues.emplace_back(static_cast<virtio_queue_owner&>(*this), dma, i, s.queue_size);
    config.add_bar(0, bar_size, false, false);
    config.add_bar(1, page, false, false);
    config.set_interrupt_pin(1);
    add_common_capabilities();
    add_msi_x(s.queues + 1, 1, 0);
    add_capabilities();
    connect_registers();
    num_queues.set(s.queues);
    show_selected();
}

void virtio_device::add_capabilities() {
    add_capability(VIRTIO_CAP_COMMON, common_page * page, VIRTIO_COMMON_SIZE, 16);
    add_capability(VIRTIO_CAP_ISR, isr_page * page, 1, 16);
    add_capability(VIRTIO_CAP_DEVICE, device_page * page, page, 16);
    add_capability(VIRTIO_CAP_NOTIFY, notify_page * page, notify_multiplier * m_settings.queues, 20);
    if (m_settings.window) add_capability(VIRTIO_CAP_PCI, 0, 0, 20);
}

void virtio_device::add_capability(unsigned type, std::uint32_t offset, std::uint32_t length, unsigned bytes) {
    auto& c = config.space;
    const auto at = c.add_capability(vendor_specific, bytes);
    const bool is_window = type == VIRTIO_CAP_PCI;
    c.declare(at + 2, 2, bytes | type << 8);
    c.declare(at + 4, 4, 0, is_window ? 0xff : 0);  // BAR, identifier, padding
    c.declare(at + 8, 4, offset, is_window ? ~std::uint32_t{0} : 0);
    c.declare(at + 12, 4, length, is_window ? ~std::uint32_t{0} : 0);
    if (type == VIRTIO_CAP_NOTIFY) c.declare(at + 16, 4, notify_multiplier);
    if (!is_window) return;
    m_window = at;
    c.declare(at + 16, 4, 0, ~std::uint32_t{0});
    c.on_read(at + 16, 4, [this] { window(false); });
    c.on_write(at + 16, 4, [this] { window(true); });
}

void virtio_device::window(bool write) {
    const auto& c = config.space;
    const auto offset = c.get(m_window + 8, 4), length = c.get(m_window + 12, 4);
    if (c.get(m_window + 4, 1) != 0 || (length != 1 && length != 2 && length != 4) || offset % length ||
        offset + length > bar_size)
        return;
    auto word = static_cast<std::uint32_t>(c.get(m_window + 16, 4));
    auto* bytes = reinterpret_cast<std::uint8_t*>(&word);
    if (write) {
        bar_write({0, offset}, bytes, static_cast<std::uint32_t>(length));
    } else {
        bar_read({0, offset}, bytes, static_cast<std::uint32_t>(length));
        config.space.set(m_window + 16, 4, word);
    }
}

void virtio_device::connect_registers() {
    device_feature.on_read([this](std::size_t) {
        const auto word = device_feature_select();
        return word < 2 ? m_offered >> 32 * word & 0xffffffff : 0;
    });
    driver_feature.on_read([this](std::size_t) {
        const auto word = driver_feature_select();
        return word < 2 ? m_accepted >> 32 * word & 0xffffffff : 0;
    });
    driver_feature.on_write([this](std::size_t, std::uint64_t) {
        const auto word = driver_feature_select();
        if (word > 1 || m_status & VIRTIO_STATUS_FEATURES_OK) return;
        m_accepted = (m_accepted & ~(std::uint64_t{0xffffffff} << 32 * word)) | driver_feature() << 32 * word;
    });
    config_vector.on_write([this](std::size_t, std::uint64_t) { config_vector.set(valid_vector(config_vector())); });
    device_status.on_write(
        [this](std::size_t, std::uint64_t) { write_status(static_cast<std::uint8_t>(device_status())); });
    queue_select.on_write([this](std::size_t, std::uint64_t) { show_selected(); });
    queue_size.on_write([this](std::size_t, std::uint64_t) {
        const auto size = queue_size();
        if (auto* q = selected(); q && !q->enabled() && size && !(size & (size - 1)) && size <= m_settings.queue_size)
            q->size = static_cast<std::uint16_t>(size);
        show_selected();
    });
    queue_vector.on_write([this](std::size_t, std::uint64_t) {
        if (auto* q = selected()) q->vector = valid_vector(queue_vector());
        show_selected();
    });
    queue_enable.on_write([this](std::size_t, std::uint64_t) {
        if (auto* q = selected(); q && queue_enable() == 1) q->enable();
        show_selected();
    });
    const auto address = [this](device_register& r, std::uint64_t virtio_queue::*field) {
        r.on_write([this, &r, field](std::size_t, std::uint64_t) {
            if (auto* q = selected(); q && !q->enabled()) q->*field = r();
            show_selected();
        });
    };
    address(queue_descriptors, &virtio_queue::descriptors);
    address(queue_driver, &virtio_queue::driver);
    address(queue_device, &virtio_queue::device);
}

virtio_queue* virtio_device::selected() {
    return queue_select() < m_queues.size() ? &m_queues[queue_select()] : nullptr;
}

void virtio_device::show_selected() {
    const auto* q = selected();
    queue_size.set(q ? q->size : 0);
    queue_vector.set(q ? q->vector : std::uint16_t{VIRTIO_NO_VECTOR});
    queue_enable.set(q && q->enabled());
    queue_notify_off.set(q ? queue_select() : 0);
    queue_descriptors.set(q ? q->descriptors : 0);
    queue_driver.set(q ? q->driver : 0);
    queue_device.set(q ? q->device : 0);
}

std::uint16_t virtio_device::valid_vector(std::uint64_t wanted) const {
    return static_cast<std::uint16_t>(wanted <= m_queues.size() ? wanted : std::uint64_t{VIRTIO_NO_VECTOR});
}

void virtio_device::write_status(std::uint8_t wanted) {
    if (wanted == 0) {
        function_reset();
        return;
    }
    const bool agreed = (m_accepted & ~m_offered) == 0 && m_accepted & VIRTIO_F_VERSION_1;
    if (wanted & VIRTIO_STATUS_FEATURES_OK && !(m_status & VIRTIO_STATUS_FEATURES_OK) && !agreed)
        wanted = static_cast<std::uint8_t>(wanted & ~VIRTIO_STATUS_FEATURES_OK);
    m_status = static_cast<std::uint8_t>(wanted | (m_status & VIRTIO_STATUS_NEEDS_RESET));
    device_status.set(m_status);
}

void virtio_device::needs_reset(const char* why) {
    if (m_status & VIRTIO_STATUS_NEEDS_RESET) return;
    count_warning(broken, *this, "needs a reset: {}", why);
    for (auto& q : m_queues) q.stop();
    m_status |= VIRTIO_STATUS_NEEDS_RESET;
    device_status.set(m_status);
    clear_requests();
    if (!(m_status & VIRTIO_STATUS_DRIVER_OK)) return;
    if (msi_x_enabled()) {
        if (config_vector() != VIRTIO_NO_VECTOR) raise(static_cast<unsigned>(config_vector()));
    } else {
        m_isr |= VIRTIO_ISR_CONFIG;
        set_intx(true);
    }
}

void virtio_device::queue_broken(unsigned, const char* why) { needs_reset(why); }

void virtio_device::chain_returned(unsigned queue) {
    ++interrupts;
    if (msi_x_enabled()) {
        if (m_queues[queue].vector != VIRTIO_NO_VECTOR) raise(m_queues[queue].vector);
    } else {
        m_isr |= VIRTIO_ISR_QUEUE;
        set_intx(true);
    }
}

void virtio_device::gather(const virtio_chain& chain, std::uint64_t from, const buffer_slice& into,
                           std::function<void()> then) {
    const auto parts = segments_of_range(chain.readable, from, into.length);
    const auto left = std::make_shared<std::size_t>(parts.size());
    std::size_t at = 0;
    for (const auto& p : parts) {
        dma.read(p.address, into.part(at, p.length), [this, left, then, epoch = m_epoch](pcie::request_status s) {
            if (epoch != m_epoch) return;
            if (s != pcie::request_status::ok)
                needs_reset("a request's data cannot be read");
            else if (--*left == 0)
                then();
        });
        at += p.length;
    }
}

void virtio_device::scatter(const virtio_chain& chain, std::uint64_t to, const buffer_slice& data) {
    std::size_t at = 0;
    for (const auto& p : segments_of_range(chain.writable, to, data.length)) {
        dma.write(p.address, data.part(at, p.length));
        at += p.length;
    }
}

std::uint8_t virtio_device::take_isr() {
    const auto value = m_isr;
    m_isr = 0;
    set_intx(false);
    return value;
}

void virtio_device::bar_read(const pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) {
    std::memset(to, 0, bytes);
    if (at.bar != 0) return;
    const auto offset = at.offset % page;
    const auto here = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, page - offset));
    switch (at.offset / page) {
        case common_page:
            in_pieces(offset, here,
                      [&](std::uint64_t o, std::uint32_t i, unsigned size) { registers.read(o, to + i, size); });
            break;
        case isr_page:
            if (offset == 0) *to = take_isr();
            break;
        case device_page: read_device_configuration(offset, to, here); break;
        default: break;  // notifications are write-only
    }
    if (here < bytes) bar_read({0, at.offset + here}, to + here, bytes - here);
}

void virtio_device::bar_write(const pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) {
    if (at.bar != 0) return;
    const auto offset = at.offset % page;
    const auto here = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, page - offset));
    if (at.offset / page == common_page) {
        in_pieces(offset, here,
                  [&](std::uint64_t o, std::uint32_t i, unsigned size) { registers.write(o, from + i, size); });
    } else if (at.offset / page == notify_page && offset / notify_multiplier < m_queues.size()) {
        ++notifications;
        if (driver_ok() && config.bus_master())
            m_queues[offset / notify_multiplier].notify(m_accepted & VIRTIO_F_INDIRECT_DESC);
    }
    if (here < bytes) bar_write({0, at.offset + here}, from + here, bytes - here);
}

void virtio_device::function_reset() {
    for (auto& q : m_queues) q.reset();
    registers.reset();
    num_queues.set(m_queues.size());
    m_accepted = 0;
    m_status = m_isr = 0;
    set_intx(false);
    show_selected();
    clear_requests();
}

void virtio_device::clear_requests() {
    ++m_epoch;
    device_reset();
}

}  // namespace fabricvp::virtio
