// SPDX-License-Identifier: Apache-2.0
#include "hca/hca_device.h"

#include <algorithm>
#include <cstring>

#include "base/counted_warning.h"
#include "base/log.h"
#include "base/trace_flow.h"
#include "hca/queues/debug_text.h"
#include "network/administration.h"

namespace fabricvp::hca {

namespace {

constexpr std::uint8_t vendor_specific = 0x09;
constexpr std::size_t before_capabilities = 0x20;
/// Packets of groups that may wait for a queue pair; further ones are lost, since no sender waits for any receiver.
constexpr std::size_t max_multicast_waiting = 1024;

/// Whether partition keys let a packet in: the same partition, and one of both a full member.
bool pkeys_match(std::uint16_t a, std::uint16_t b) { return ((a ^ b) & 0x7fff) == 0 && (a | b) & 0x8000; }
bool pkey_matches(const port_attributes& port, unsigned index, const network::packet& p) {
    return index < port.pkeys.size() && pkeys_match(port.pkeys[index], p.bth.pkey);
}

}  // namespace

hca_device::hca_device(const sc_core::sc_module_name& name, const hca_params& p)
    : endpoint(name, p, {HCA_VENDOR, HCA_DEVICE, HCA_CLASS, HCA_REVISION, HCA_VENDOR, HCA_DEVICE}),
      params(p),
      m_wiring{*this,
               m_bus,
               icm,
               translation,
               doorbell_records,
               event_queues,
               completion_queues,
               shared_receive_queues,
               queue_pairs,
               management,
               data_mover,
               send_queues,
               receive_queues,
               network,
               requester,
               responder},
      translation("translation", p.translation, m_bus, icm),
      management("management", m_wiring),
      send_queues("send_queues", p.send_queues, m_wiring),
      receive_queues("receive_queues", p.receive_queues, m_wiring),
      network("network", p.network, m_wiring),
      requester("requester", p.requester, m_wiring),
      responder("responder", p.responder, m_wiring),
      m_command_set(m_wiring, params.limits, params.command, params.firmware_pages),
      commands("commands", p.command, registers, m_command_set, m_wiring) {
    config.add_bar(HCA_BAR_REGISTERS, HCA_REGISTERS_SIZE, true, false);
    config.add_bar(HCA_BAR_UAR, std::uint64_t{HCA_PAGE} << p.limits.log_uars, true, true);
    config.set_interrupt_pin(1);
    // Drivers neither save nor restore 0x58 to 0x5f over a reset, where the real device has the way to its flash
    // memory. A vendor-specific capability keeps all others out of there.
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
        for (unsigned n = 0; word == 1 && n < HCA_MAX_EQS; ++n)
            if (bits >> n & 1) event_queues.arm(n);
    });
    event_consumer.on_write([this](std::size_t word, std::uint64_t counter) {
        if (word % 2 == 0)
            event_queues.set_consumer(static_cast<unsigned>(word / 2), static_cast<std::uint32_t>(counter));
    });
    initial_port();
}

void hca_device::initial_port() {
    auto& port = management.port;
    port = {};
    const auto guid = params.guid ? params.guid : network::adapter_guid(this->name());
    management.node = {HCA_NODE_CHANNEL_ADAPTER, 1, HCA_DEVICE, HCA_REVISION, guid, guid, guid + 1, this->name()};
    port.guids.assign(std::size_t{1} << params.limits.log_gids, 0);
    port.guids[0] = guid + 1;
    port.pkeys.assign(std::size_t{1} << params.limits.log_pkeys, 0);
    port.pkeys[0] = 0xffff;
    network::set_capability_fields(port, params.network.link);
    port.lanes_operational = port.lanes_supported;
    port.mtu_active = port.mtu_supported;
    network.performance.clear();
}

void hca_device::interrupt(unsigned number) {
    if (number & HCA_INTERRUPT_MESSAGE && msi_x_enabled()) return raise(number & 0x1f);
    set_intx(true);
}

void hca_device::queue_pair_changed(queue_pair& q, unsigned before) {
    requester.changed(q, before);
    responder.changed(q, before);
}

/// What management datagrams say of the port follows from the link; software hears when that comes or goes.
void hca_device::update_port_info() {
    auto& port = management.port;
    const auto before = port.state;
    network::show_link(port, network.link);
    port.lid = network.link.lid();
    port.lmc = network.link.lmc();
    if (const auto lid = network.link.manager_lid()) port.sm_lid = lid;
    if (network.link.configured()) network::show_shared(port, network.link);
    if (!network.enabled()) {
        port.state = static_cast<unsigned>(network::port_state::down);
        port.physical_state = HCA_PORT_POLLING;
    }
    const bool active = port.state == 4, was = before == 4;
    if (active != was)
        event_queues.post(event_queue_entry(HCA_EVENT_PORT)
                              .set(HCA_EQE_SUBTYPE, active ? HCA_PORT_ACTIVE : HCA_PORT_DOWN)
                              .set(HCA_EQE_PORT, 1));
}

queue_pair* hca_device::destination_of(const network::packet& p) {
    const auto number = p.bth.destination_qp;
    auto* q = queue_pairs.find(number < 2 ? queue_pairs.special(number == 1) : number);
    if (!q || (q->attributes.type == HCA_QP_MLX) != (number < 2)) return nullptr;
    const auto& a = q->attributes;
    const auto& keys = management.port.pkeys;
    if (number == 1 ? std::none_of(keys.begin(), keys.end(), [&p](auto key) { return pkeys_match(key, p.bth.pkey); })
                    : number > 1 && !pkey_matches(management.port, a.pkey_index, p)) {
        ++management.port.pkey_violations;
        return nullptr;
    }
    const auto transport = network::transport_of(p.bth.opcode);
    switch (a.type) {
        case HCA_QP_RC: return transport == network::transport::rc && p.lrh.slid == a.remote_lid ? q : nullptr;
        case HCA_QP_UC: return transport == network::transport::uc && p.lrh.slid == a.remote_lid ? q : nullptr;
        default: return transport == network::transport::ud ? q : nullptr;
    }
}

void hca_device::packet_received(const network::packet_ptr& p) {
    if (p->bth.destination_qp == network::multicast_qp && network::is_multicast(p->lrh.dlid))
        return receive_multicast(p);
    if (auto* administration = network.link.administration;
        administration && network::subnet_administration::concerns(*p)) {
        const auto responses = administration->process(*p, network.link.lid());
        network.release(*p);
        for (const auto& r : responses) network.send(r);
        return;
    }
    auto* q = p->corrupted == network::corruption::none && p->extensions() ? destination_of(*p) : nullptr;
    if (!q) return receive_unclaimed(p);
    const auto op = network::operation_of(p->bth.opcode);
    if (q->attributes.type == HCA_QP_RC && op >= network::operation::read_response_first &&
        op <= network::operation::atomic_acknowledge)
        return requester.receive(*q, p);
    responder.receive(*q, p);
}

/// Each queue pair that is attached gets the packet as if it had been sent to it alone.
void hca_device::receive_multicast(const network::packet_ptr& p) {
    const bool good = p->corrupted == network::corruption::none && p->lrh.global &&
                      network::transport_of(p->bth.opcode) == network::transport::ud;
    const auto members = good ? m_command_set.members(p->grh.destination) : std::vector<std::uint32_t>{};
    if (good && members.empty()) ++multicast_unattached;
    if (!good) ++dropped;
    for (const auto number : members) {
        auto* q = queue_pairs.find(number);
        if (!q || q->attributes.type != HCA_QP_UD || !pkey_matches(management.port, q->attributes.pkey_index, *p) ||
            q->responder.received_packets.size() >= max_multicast_waiting) {
            ++dropped;
            continue;
        }
        const auto copy = network::copy_packet(*p);
        copy->spans.follow(p->spans);
        network.detach_from_link(*copy);
        responder.receive(*q, copy);
    }
    network.release(*p);
}

/// Requests of subnet and performance management that no software has opened a queue pair for are answered here.
void hca_device::receive_unclaimed(const network::packet_ptr& p) {
    const auto number = p->bth.destination_qp;
    const bool for_agent = p->corrupted == network::corruption::none && number < 2 && network.enabled() &&
                           !queue_pairs.find(queue_pairs.special(number == 1));
    const auto response = for_agent ? management.process_mad(*p) : nullptr;
    network.release(*p);
    if (response)
        network.send(response);
    else
        ++dropped;
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
    if (trace::on()) {
        std::uint8_t bytes[8];
        hca_put32(bytes, high);
        hca_put32(bytes + 4, low);
        std::uint64_t value;
        std::memcpy(&value, bytes, sizeof value);
        trace::note_arrival(send_queues, config.bar_base(HCA_BAR_UAR) + uar * std::uint64_t{HCA_PAGE} + which, value,
                            now());
    }
    bool good = false;
    if (which == HCA_UAR_CQ) good = completion_queues.ring(uar, high, low);
    if (which == HCA_UAR_SEND) good = send_queues.ring(uar, high, low, take_spans());
    if (good) return;
    if (bus_log_channel.open()) {
        bus_log::subject about{{}, true};
        if (which == HCA_UAR_SEND) about.queue = low >> 8;
        bus_log_channel.line(*this, about, "doorbell {:#x} {:#x} at {:#x} of page {}: dropped", high, low, which, uar);
    }
    count_warning(bad_doorbells, *this,
                  "doorbell {:#x} {:#x} at {:#x} of page {} is dropped: it is none of that page's", high, low, which,
                  uar);
}

/// What is under way on the bus belongs to contexts that are gone then, so its end must not be heard of. UNMAP_FA comes
/// here, too, and has no mailbox that could be among it.
void hca_device::clear_contexts() {
    m_bus.abandon();
    m_command_set.reset();
    requester.reset();
    responder.reset();
    send_queues.reset();
    receive_queues.reset();
    queue_pairs.reset();
    network.reset();
    shared_receive_queues.reset();
    completion_queues.reset();
    event_queues.reset();
    translation.reset();
    icm.reset();
    initial_port();
}

void hca_device::function_reset() {
    clear_contexts();
    commands.reset();
    registers.reset();
    set_intx(false);
    m_half.offset = ~std::uint64_t{0};
}

}  // namespace fabricvp::hca
