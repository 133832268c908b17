// SPDX-License-Identifier: Apache-2.0
#include "pcie/bridge.h"

#include "pcie/link_speed.h"

namespace fabricvp::pcie {

bridge::bridge(std::uint16_t vendor, std::uint16_t device, const express_settings& express) {
    space.declare(0x00, 2, vendor);
    space.declare(0x02, 2, device);
    space.declare(0x04, 2, 0, 0x0546);
    space.declare(0x06, 2, 0, 0, 0xf900);
    space.declare(0x08, 4, 0x06040000 | 0x01);
    space.declare(0x0c, 1, 0, 0xff);
    space.declare(0x0e, 1, 0x01);
    space.declare(0x18, 3, 0, 0xffffff);             // bus numbers
    space.declare(0x1e, 2, 0, 0, 0xf900);            // secondary status
    space.declare(0x20, 4, 0x0000fff0, 0xfff0fff0);  // memory window: base above limit, so closed
    space.declare(0x24, 4, 0x0001fff1, 0xfff0fff0);  // prefetchable window, 64-bit
    space.declare(0x28, 8, 0, ~std::uint64_t{0});
    space.declare(0x3c, 1, 0, 0xff);
    space.declare(0x3e, 2, 0, 0x0043);  // parity response, SERR, secondary bus reset

    m_root = express.type == port_type::root_port;
    m_down = m_root || express.type == port_type::switch_downstream;
    add_power_management(space);
    m_express = add_express(space, express);
    if (m_down) {
        m_msi = add_msi(space);
        space.declare(0x3d, 1, 1);  // INTA
    }
    m_aer = add_aer(space, m_root);
    m_acs = m_down && !m_root ? add_acs(space) : 0;

    space.on_write(0x3e, 2, [this] { update_hold(); });
    space.on_write(0x04, 2, [this] { update_interrupt(); });
    if (!m_down) return;
    space.on_write(m_msi + 2, 2, [this] { update_interrupt(); });
    space.on_write(m_express + express::slot_control, 4, [this] { update_interrupt(); });
    space.on_write(m_express + express::link_control, 2, [this] {
        const auto at = m_express + express::link_control;
        if (space.get(at, 2) & 0x0020) {
            space.clear_bits(at, 2, 0x0020);
            if (on_retrain) on_retrain(static_cast<unsigned>(space.get(m_express + express::link_control_2, 2) & 0xf));
        }
        update_hold();
    });
    if (m_root) space.on_write(m_aer + aer::root_command, 8, [this] { update_interrupt(); });
}

bool bridge::has_address(std::uint64_t address) const {
    if (!(space.get(0x04, 2) & 0x0002)) return false;
    const auto window = [&](std::size_t at, std::uint64_t upper_base, std::uint64_t upper_limit) {
        const std::uint64_t base = upper_base << 32 | (space.get(at, 2) & 0xfff0) << 16;
        const std::uint64_t limit = upper_limit << 32 | (space.get(at + 2, 2) & 0xfff0) << 16 | 0xfffff;
        return address >= base && address <= limit;
    };
    return window(0x20, 0, 0) || window(0x24, space.get(0x28, 4), space.get(0x2c, 4));
}

bool bridge::redirects_requests() const { return m_acs && space.get(m_acs + 6, 2) & 0x0004; }

void bridge::update_hold() {
    const bool held =
        space.get(0x3e, 2) & 0x0040 || (m_down && space.get(m_express + express::link_control, 2) & 0x0010);
    if (held == m_held) return;
    m_held = held;
    if (on_hold) on_hold(held);
}

bool bridge::passes_error(message_code code) {
    const bool correctable = code == message_code::error_correctable;
    if (!correctable) space.set_bits(0x1e, 2, 0x4000);  // secondary status: received system error
    if (!(space.get(0x3e, 2) & 0x0002)) return false;
    if (correctable) return true;
    const auto enable = code == message_code::error_fatal ? 4u : 2u;
    return space.get(0x04, 2) & 0x0100 || space.get(m_express + express::device_control, 2) & enable;
}

void bridge::receive_error(message_code code, std::uint16_t source) {
    const auto status = space.get(m_aer + aer::root_status, 4);
    const bool correctable = code == message_code::error_correctable;
    const std::uint64_t received = correctable ? 0x1 : 0x4;
    auto next = status | received | (status & received ? received << 1 : 0);
    if (!correctable) {
        if (!(status & received) && code == message_code::error_fatal) next |= 0x10;  // the first one is fatal
        next |= code == message_code::error_fatal ? 0x40 : 0x20;
    }
    space.set(m_aer + aer::root_status, 4, next);
    if (!(status & received)) space.set(m_aer + aer::error_source + (correctable ? 0 : 2), 2, source);
    update_interrupt();
}

void bridge::link_changed(const port& p, link_event what, bool expected) {
    const auto link = m_express + express::link_status, slot = m_express + express::slot_status;
    const bool was_training = space.get(link, 2) & 0x0800;
    show_link(space, p);
    switch (what) {
        case link_event::down:
        case link_event::up: space.set_bits(slot, 2, 0x0100); break;  // data link layer state changed
        case link_event::speed:
            if (was_training) space.set_bits(link, 2, 0x4000);    // link bandwidth management status
            if (!p.present()) space.clear_bits(slot, 2, 0x0040);  // a device that was out when this was reset
            break;
        case link_event::removed:
            space.clear_bits(slot, 2, 0x0040);
            space.set_bits(slot, 2, 0x0008);
            break;
        case link_event::inserted: space.set_bits(slot, 2, 0x0048); break;  // presence, and that it changed
        case link_event::training: break;
    }
    // Where a slot says that devices may be pulled out, losing one is no error.
    const bool may_vanish = space.get(m_express + express::slot_capabilities, 4) & 0x20;
    if (what == link_event::down && !expected && !may_vanish) errors.uncorrectable(aer::surprise_down);
    update_interrupt();
}

void bridge::update_interrupt() {
    if (!m_down) return;
    bool error = false;
    if (m_root) {
        const auto command = space.get(m_aer + aer::root_command, 4), status = space.get(m_aer + aer::root_status, 4);
        error = (command & 1 && status & 0x1) || (command & 2 && status & 0x20) || (command & 4 && status & 0x40);
    }
    const auto control = space.get(m_express + express::slot_control, 2),
               status = space.get(m_express + express::slot_status, 2);
    const bool event =
        control & 0x20 && ((control & 0x0008 && status & 0x0008) || (control & 0x1000 && status & 0x0100));
    const bool rises = (error && !m_error_pending) || (event && !m_event_pending);
    m_error_pending = error;
    m_event_pending = event;
    const bool msi = space.get(m_msi + 2, 2) & 1;
    if (msi && rises && bus_master() && on_msi)
        on_msi(space.get(m_msi + 4, 8), static_cast<std::uint16_t>(space.get(m_msi + 12, 2)));
    const bool wanted = error || event;
    wanted ? space.set_bits(0x06, 2, 0x0008) : space.clear_bits(0x06, 2, 0x0008);
    const bool level = wanted && !msi && !(space.get(0x04, 2) & 0x0400);
    if (level == m_intx) return;
    m_intx = level;
    if (on_intx) on_intx(level);
}

void bridge::reset(bool power_on) {
    space.reset(power_on);
    m_held = false;
    update_interrupt();
}

void show_link(configuration_space& space, const port& p) {
    const auto at = space.find_capability(express_id);
    if (!at) return;
    const auto keep = space.get(at + express::link_status, 2) & 0xd000;
    const bool active_reporting = space.get(at + express::link_capabilities, 4) & 1u << 20;
    const auto state = !active_reporting ? 0u : (p.up() ? 0x2000u : 0u) | (p.training() ? 0x0800u : 0u);
    space.set(at + express::link_status, 2,
              keep | speed_code(p.generation()) | static_cast<std::uint64_t>(p.lanes()) << 4 | state);
}

}  // namespace fabricvp::pcie
