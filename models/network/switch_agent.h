// SPDX-License-Identifier: Apache-2.0
// The management agents of a switch (InfiniBand Architecture Specification, volume 1, chapters 14 and 16): passes
// directed-route management packets on, and answers those that end here: node, switch and port information, forwarding
// tables, SL to VL and arbitration tables, P_Keys; and by queue pair 1, what its ports count.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/model.h"
#include "base/statistics.h"
#include "network/management.h"
#include "network/performance.h"
#include "network/switch.h"

namespace fabricvp::network {

class switch_agent final : public model {
public:
    counter requests{*this, "requests", "1", "management requests answered"};
    counter forwarded{*this, "forwarded", "1", "directed-route packets passed on"};
    counter discarded{*this, "discarded", "1", "management packets that made no sense here"};

    /// \param guid of the node \param latency from a request to its response, or to its being passed on
    switch_agent(const sc_core::sc_module_name& name, network_switch& owner, std::uint64_t guid, duration latency);

    std::uint64_t guid() const { return m_node.node_guid; }
    std::uint16_t lid() const { return m_own.lid; }
    void set_lid(std::uint16_t lid) { m_own.lid = lid; }

    /// Null unless this switch answers for subnet administration.
    subnet_administration* administration = nullptr;

    /// What the switch takes for itself. \param input port that it came in by
    void receive(unsigned input, const packet_ptr& p);

    /// A port of the switch has changed its state.
    void port_changed() { m_changed = true; }

    void reset() override;

private:
    struct task {
        ticks when;
        unsigned input;
        packet_ptr packet;
        mad data;
    };

    void work();
    void handle(task& t);
    void handle_general(task& t);
    void send_response(task& t, unsigned status);
    void send_back(const packet_ptr& p, unsigned output);
    unsigned subnet(bool set, unsigned attribute, std::uint32_t modifier, unsigned input, std::uint8_t* data);
    unsigned switch_info(bool set, std::uint8_t* data);
    unsigned port_info(bool set, unsigned number, unsigned input, std::uint8_t* data);
    unsigned forwarding(bool set, std::uint32_t block, std::uint8_t* data);
    unsigned multicast(bool set, std::uint32_t modifier, std::uint8_t* data);
    unsigned lanes(bool set, unsigned input, unsigned output, std::uint8_t* data);
    port_attributes& of_port(unsigned number);
    void clear();

    network_switch& m_switch;
    const duration m_latency;
    node_attributes m_node;
    performance_agent m_performance;
    port_attributes m_own;                 // port 0
    std::vector<port_attributes> m_ports;  // the others, once a request has asked
    std::uint16_t m_top = 0;
    unsigned m_life_time = 0;
    bool m_changed = false;  // a port has changed its state, and the manager has not acknowledged it
    std::deque<task> m_tasks;
    calendar_event m_work{method<&switch_agent::work>, this};
};

}  // namespace fabricvp::network
