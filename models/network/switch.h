// SPDX-License-Identifier: Apache-2.0
// A crossbar switch. A packet that comes in takes the time of the pipeline, from its head on (cut-through), and moves
// to the queue of the port that its destination LID leads to, on the virtual lane that its service level has there, if
// that queue has room; otherwise it holds up those behind it on its input and lane. Of the inputs that wait for a
// queue, the ingress that waits longest goes first, one packet each. Of a multicast packet, one after the other goes to
// each of its outputs. A hop costs two calendar events: the arrival, and the lanes becoming free if something waits for
// them.
//
// Ports are numbered from 1 as in InfiniBand; port 0 is the switch's own, for management. ports[n] of the C++ class is
// n + 1.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fault.h"
#include "base/growing_ring.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "network/port.h"

namespace fabricvp::network {

struct switch_params {
    port_params port;
    duration latency{90'000};  ///< from a packet's head at the input to its head at the output
    bool cut_through = true;
    duration management_latency{1'000'000};  ///< of its management agent, for each packet
    void describe(parameter_visitor& v);
};

class switch_agent;

class network_switch final : public model, private port_owner {
public:
    static constexpr unsigned max_ports = 254;
    static constexpr std::uint8_t no_port = 255, own_port = 0;

    const switch_params params;

    counter packets{*this, "packets", "1", "packets passed on"};
    counter blocked{*this, "blocked", "1", "packets that waited in an input buffer for room at their output"};

    counter copied{*this, "copied", "1", "copies made of multicast packets, beyond one for each"};
    counter local_packets{*this, "local_packets", "1", "packets for the switch itself"};

    std::vector<std::unique_ptr<port>> ports;

    std::unique_ptr<switch_agent> agent;

    /// \param port_names one for each port \param number among the switches of the network, of which its GUID is made
    network_switch(const sc_core::sc_module_name& name, const switch_params& params,
                   const std::vector<std::string>& port_names, unsigned number = 0);
    ~network_switch() override;

    fault_kind<> dead{*this, "dead", "the switch is dead for good: its links go down, what it holds is lost",
                      [this](const auto&) { fail(); }};

    /// Linear forwarding table: the port by which packets for a LID leave; `no_port`: they are dropped.
    void set_route(std::uint16_t lid, std::uint8_t port);
    std::uint8_t route_of(std::uint16_t lid) const { return lid < m_forwarding.size() ? m_forwarding[lid] : no_port; }
    void clear_routes() {
        m_forwarding.clear();
        m_multicast.clear();
    }
    /// Multicast forwarding table: the ports (by number) that packets for a LID leave by, but for the one that they
    /// came in by.
    using port_set = std::bitset<max_ports + 1>;
    void set_multicast(std::uint16_t lid, const port_set& ports);
    port_set multicast_of(std::uint16_t lid) const;
    /// Virtual lane by which packets of a service level leave; 15: they are dropped. Ports by number; input 0: the
    /// switch's own.
    void set_lane(unsigned input, unsigned output, unsigned sl, std::uint8_t lane) {
        lane_entry(input, output, sl) = lane;
    }
    std::uint8_t lane(unsigned input, unsigned output, unsigned sl) const {
        return m_lanes[index_of(input, output, sl)];
    }

    bool alive() const { return !m_dead; }
    /// Packets in input buffers.
    std::size_t waiting() const { return m_waiting; }

    /// Takes what is for the switch itself: management packets on lane 15 and packets that lead to port 0. The port
    /// that it came in by releases the packet's buffer.
    std::function<void(unsigned input, const packet_ptr&)> on_management;
    /// Sends a management packet by a port. \returns false if it was lost: no room
    bool send_management(unsigned output, const packet_ptr& p);
    /// A port has changed its state.
    std::function<void(unsigned port, port_state)> on_state;

    /// After the ports have been connected: each input and output has the lanes of the output's service levels.
    void update_lane_tables();

    void reset() override;

private:
    struct entry {
        packet_ptr packet;
        std::uint8_t output, lane;
    };
    using queue = growing_ring<entry>;
    /// Inputs whose first packet waits for a place, in the order in which they have come to wait.
    using waiters = growing_ring<std::uint16_t>;

    ticks packet_announced(port& at, packet& p) override;
    void packet_arrived(port& at, const packet_ptr& p) override;
    void space_available(port& at, unsigned lane) override;
    void state_changed(port& at, port_state s) override;

    std::size_t index_of(unsigned input, unsigned output, unsigned sl) const {
        return (input * (ports.size() + 1) + output) * 16 + sl;
    }
    std::uint8_t& lane_entry(unsigned input, unsigned output, unsigned sl) {
        return m_lanes[index_of(input, output, sl)];
    }
    void forward(unsigned input, const packet_ptr& p);
    void forward_multicast(unsigned input, const packet_ptr& p);
    void forward_to(unsigned input, const packet_ptr& p, std::uint8_t output);
    void move(unsigned input, const entry& e);
    void enqueue_waiter(unsigned input, unsigned lane);
    void drop(port& at, const packet_ptr& p, drop_reason why);
    void advance(unsigned input, unsigned lane);
    void fail();
    void empty_inputs(drop_reason why);

    span_stage m_pipeline_span{*this, "pipeline"}, m_blocked_span{*this, "blocked"};
    std::vector<std::uint8_t> m_forwarding;                     // by LID
    std::map<std::uint16_t, port_set> m_multicast;              // the same of multicast LIDs
    std::vector<std::uint8_t> m_lanes;                          // by input, output and service level
    std::vector<std::array<queue, virtual_lanes>> m_inputs;     // by port
    std::vector<std::array<waiters, virtual_lanes>> m_waiters;  // by output and its lane: input × 16 + lane
    std::size_t m_waiting = 0;
    std::uint64_t m_fastest = 0;  // bytes a second of the fastest port
    bool m_dead = false;
};

}  // namespace fabricvp::network
