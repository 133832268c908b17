// SPDX-License-Identifier: Apache-2.0
// An RDMA adapter (HCA) on PCIe with the programming interface of Mellanox' InfiniHost III Lx without memory of its own
// (abi/hca.h). Here its parts come together: registers and doorbells of the BARs, reset, interrupts.
#pragma once

#include <cstdint>

#include "abi/hca.h"
#include "base/registers.h"
#include "hca/commands/command_interface.h"
#include "hca/commands/command_set.h"
#include "hca/hca_params.h"
#include "hca/memory/bus_access.h"
#include "hca/memory/data_mover.h"
#include "hca/memory/icm.h"
#include "hca/memory/translation.h"
#include "hca/queues/completion_queues.h"
#include "hca/queues/doorbell_records.h"
#include "hca/queues/event_queues.h"
#include "hca/queues/queue_pairs.h"
#include "hca/queues/receive_queues.h"
#include "hca/queues/send_queues.h"
#include "hca/queues/shared_receive_queues.h"
#include "hca/transport/management.h"
#include "hca/transport/network_port.h"
#include "hca/transport/requester.h"
#include "hca/transport/responder.h"
#include "hca/wiring.h"
#include "pcie/endpoint.h"

namespace fabricvp::hca {

class hca_device final : public pcie::endpoint, private adapter {
public:
    const hca_params params;

    /// Words are swapped on their way: all registers are big-endian.
    register_bank registers{HCA_REGISTERS_SIZE};
    device_register reset_register{registers, "reset", HCA_RESET, 4, 0};
    device_register clear_interrupt{registers, "clear_interrupt", HCA_CLR_INT, 4, 0, {}, {2, 4}};
    device_register error_buffer{registers,
                                 "error_buffer",
                                 HCA_ERROR_BUFFER,
                                 4,
                                 0,
                                 {{"word", 0, 32, field_access::read_only, "not 0 after a fatal error"}},
                                 {HCA_ERROR_WORDS, 4}};
    device_register arm_events{registers, "arm_events", HCA_EQ_ARM, 4, 0, {}, {2, 4}};
    device_register event_consumer{registers, "event_consumer", HCA_EQ_SET_CI, 4, 0, {}, {2 * HCA_MAX_EQS, 4}};

private:
    bus_access m_bus{dma};
    const wiring m_wiring;

public:
    hca::icm icm{"icm"};
    hca::translation translation;
    hca::doorbell_records doorbell_records{"doorbell_records", m_bus, icm};
    hca::event_queues event_queues{"event_queues", m_wiring};
    hca::completion_queues completion_queues{"completion_queues", m_wiring};
    hca::shared_receive_queues shared_receive_queues{"shared_receive_queues"};
    hca::queue_pairs queue_pairs{"queue_pairs", m_wiring};
    hca::management management;
    hca::data_mover data_mover{"data_mover", m_bus, translation};
    hca::send_queues send_queues;
    hca::receive_queues receive_queues;
    network_port network;
    hca::requester requester;
    hca::responder responder;

private:
    command_set m_command_set;

public:
    command_interface commands;

    derived messages{*this, "messages", "1", "messages sent",
                     [this] { return static_cast<double>(requester.messages.value()); }};
    derived packets_sent{*this, "packets_sent", "1", "packets sent",
                         [this] { return static_cast<double>(network.packets_sent.value()); }};
    derived packets_received{*this, "packets_received", "1", "packets received",
                             [this] { return static_cast<double>(network.packets_received.value()); }};
    derived retries{*this, "retries", "1", "times that sending began anew",
                    [this] { return static_cast<double>(requester.retries.value()); }};
    derived cqes{*this, "cqes", "1", "completions written",
                 [this] { return static_cast<double>(completion_queues.cqes.value()); }};
    counter dropped{*this, "dropped", "1", "packets that no queue pair here is meant to get, or that are corrupted"};
    counter multicast_unattached{*this, "multicast_unattached", "1",
                                 "multicast packets of groups to which no queue pair here is attached"};
    counter doorbells{*this, "doorbells", "1", "doorbells rung"};
    counter bad_doorbells{*this, "bad_doorbells", "1", "doorbells that were dropped: a wrong page, queue or count"};

    hca_device(const sc_core::sc_module_name& name, const hca_params& params);

private:
    void bar_read(const pcie::bar_hit& at, std::uint8_t* to, std::uint32_t bytes) override;
    void bar_write(const pcie::bar_hit& at, const std::uint8_t* from, std::uint32_t bytes) override;
    void function_reset() override;
    bool can_accept() const override { return send_queues.has_room(); }

    void write_register(std::uint64_t offset, const std::uint8_t* from);
    void write_doorbell(std::uint64_t offset, const std::uint8_t* from, std::uint32_t bytes);
    void ring(std::uint32_t uar, unsigned which, std::uint32_t high, std::uint32_t low);
    // What parts tell it.
    void interrupt(unsigned number) override;
    void doorbell_room() override { resume_accepting(); }
    void wqes_ready(queue_pair& q) override { requester.kick(q); }
    void queue_pair_changed(queue_pair& q, unsigned before) override;
    void packet_received(const network::packet_ptr& p) override;
    void update_port_info() override;
    std::uint64_t register_base() const override { return config.bar_base(HCA_BAR_REGISTERS); }
    void clear_contexts() override;

    void receive_multicast(const network::packet_ptr& p);
    void receive_unclaimed(const network::packet_ptr& p);
    queue_pair* destination_of(const network::packet& p);
    void initial_port();

    struct {
        std::uint64_t offset = ~std::uint64_t{0};
        std::uint32_t high = 0;
    } m_half;  // of a doorbell that comes in two parts
};

}  // namespace fabricvp::hca
