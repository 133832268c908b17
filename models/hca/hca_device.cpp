// SPDX-License-Identifier: Apache-2.0
#include "hca/hca_device.h"

#include <cstring>

#include "abi/hca_mad.h"
#include "base/log.h"
#include "base/random_streams.h"

namespace fabricvp::hca {

namespace {

constexpr std::uint8_t vendor_specific = 0x09;
constexpr std::size_t before_capabilities = 0x20;

}  // namespace

hca_device::hca_device(const sc_core::sc_module_name& name, const hca_params& p)
    : endpoint(name, p, {HCA_VENDOR, HCA_DEVICE, HCA_CLASS, HCA_REVISION, HCA_VENDOR, HCA_DEVICE}),
      params(p),
      translation("translation", p.translation, m_bus, contexts),
      m_command_set({params, contexts, translation, events, completions, shared_receives, pairs, records, management,
                     [this] { return config.bar_base(HCA_BAR_REGISTERS); }, [this](bool up) { set_port(up); }, [this] { forget_contexts(); }}),
      commands("commands", p.command, registers, m_bus, events, m_command_set) {
    config.add_bar(HCA_BAR_REGISTERS, HCA_REGISTERS_SIZE, true, false);
    config.add_bar(HCA_BAR_UAR, std::uint64_t{HCA_PAGE} << p.limits.log_uars, true, true);
    config.set_interrupt_pin(1);
    // Drivers neither save nor restore 0x58 to 0x5f over a reset, where the real device has the way to its flash memory. A
    // vendor-specific capability keeps all others out of there.
    config.space.declare(config.space.add_capability(vendor_specific, before_capabilities) + 2, 1, before_capabilities);
    add_common_capabilities();
    add_msi_x(HCA_MSIX_VECTORS, HCA_BAR_REGISTERS, HCA_MSIX_TABLE);

    reset_register.on_write([this](std::size_t, std::uint64_t value) {
        if (!(value & HCA_RESET_NOW)) return;
        log(log_level::info, *this, "reset by software");
        function_reset();
    });
    clear_interrupt.on_write([this](std::size_t, std::uint64_t) { set_intx(false); });
    arm_events.on_write([this](std::size_t word, std::uint64_t bits) {
        for (unsigned n = 0; word == 1 && n < HCA_MOST_EQS; ++n)
            if (bits >> n & 1) events.arm(n);
    });
    event_consumer.on_write([this](std::size_t word, std::uint64_t counter) {
        if (word % 2 == 0) events.set_consumer(static_cast<unsigned>(word / 2), static_cast<std::uint32_t>(counter));
    });
    events.on_interrupt = [this](unsigned number) { interrupt(number); };
    initial_port();
}

void hca_device::initial_port() {
    auto& port = management.port;
    port = {};
    // An EUI-64 of Mellanox' from the name, so that it stays the same from run to run.
    auto guid = params.guid;
    if (guid == 0) guid = std::uint64_t{HCA_OUI} << 40 | (stream_seed(0, this->name()) & 0xff'ffff'fff0);
    port.system_guid = port.node_guid = guid;
    port.guids.assign(std::size_t{1} << params.limits.log_gids, 0);
    port.guids[0] = guid + 1;
    port.pkeys.assign(std::size_t{1} << params.limits.log_pkeys, 0);
    port.pkeys[0] = 0xffff;
    port.lid = 1;
    port.description = this->name();
}

void hca_device::interrupt(unsigned number) {
    if (number & HCA_INTERRUPT_MESSAGE && msi_x_enabled()) return raise(number & 0x1f);
    set_intx(true);
}

void hca_device::set_port(bool up) {
    auto& port = management.port;
    const unsigned state = up ? 4 : 1;
    if (port.state == state) return;
    port.state = state;
    port.physical_state = up ? 5 : 2;
    events.post(event_entry(HCA_EVENT_PORT).set(HCA_EQE_SUBTYPE, up ? HCA_PORT_ACTIVE : HCA_PORT_DOWN).set(HCA_EQE_PORT, 1));
}

void hca_device::bar_read(const pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) {
    std::memset(to, 0, bytes);
    if (at.bar != HCA_BAR_REGISTERS) return;  // doorbells are written only
    const auto first = at.offset & ~std::uint64_t{3};
    for (auto word = first; word < at.offset + bytes; word += 4) {
        std::uint32_t value = 0;
        std::uint8_t big[4];
        registers.read(word, &value, 4);
        hca_put32(big, value);
        for (unsigned i = 0; i < 4; ++i)
            if (word + i >= at.offset && word + i < at.offset + bytes) to[word + i - at.offset] = big[i];
    }
}

void hca_device::bar_write(const pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) {
    if (at.bar == HCA_BAR_UAR) return write_doorbell(at.offset, from, bytes);
    if (at.offset % 4 || bytes % 4) return;  // registers take whole words
    for (std::uint32_t i = 0; i < bytes; i += 4) write_register(at.offset + i, from + i);
}

void hca_device::write_register(std::uint64_t offset, const std::uint8_t* from) {
    const auto value = hca_get32(from);
    registers.write(offset, &value, 4);
}

void hca_device::write_doorbell(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes) {
    if (offset % 4 || bytes % 4) return;
    for (std::uint32_t i = 0; i < bytes; i += 4) {
        const auto at = offset + i, page = at % HCA_PAGE;
        const auto word = hca_get32(from + i);
        if (page % 8 == 0) {
            m_half = {at, word};
        } else if (m_half.offset + 4 == at) {
            m_half.offset = ~std::uint64_t{0};
            ring(static_cast<std::uint32_t>(at / HCA_PAGE), static_cast<unsigned>(page - 4), m_half.high, word);
        }
    }
}

void hca_device::ring(std::uint32_t uar, unsigned which, std::uint32_t high, std::uint32_t low) {
    ++doorbells;
    bool good = false;
    if (which == HCA_UAR_CQ) good = completions.ring(uar, high, low);
    if (good) return;
    if (bad_doorbells.total() == 0)
        log(log_level::warning, *this, "doorbell {:#x} {:#x} at {:#x} of page {} is dropped: it is none of that page's; further ones are only counted", high, low,
            which, uar);
    ++bad_doorbells;
}

void hca_device::forget_contexts() {
    m_command_set.reset();
    pairs.reset();
    shared_receives.reset();
    completions.reset();
    events.reset();
    translation.reset();
    contexts.reset();
    initial_port();
}

void hca_device::function_reset() {
    m_bus.abandon();
    forget_contexts();
    commands.reset();
    registers.reset();
    set_intx(false);
    m_half.offset = ~std::uint64_t{0};
}

}  // namespace fabricvp::hca
