// SPDX-License-Identifier: Apache-2.0
// The way to and from the network. Packets of a queue pair leave in order, a packet of each waiting one in turn; what
// goes to the port's own LID turns round inside the port, as a copy of what goes to a multicast LID does. Packets that
// arrive pass the receive pipeline and are handed on in order.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "hca/queues/queue_pairs.h"
#include "hca/wiring.h"
#include "network/performance.h"
#include "network/port.h"

namespace fabricvp::hca {

struct network_port_params {
    network::port_params link;
    duration receive_latency{60'000};
    duration loopback_latency{100'000};
    bool plugged = true;  ///< false: there is no cable; filled in by the network's planner, so not described
    network_port_params();
    void describe(parameter_visitor& v);
};

class network_port final : public model, private network::port_owner {
public:
    const network_port_params params;

    network::port link;
    network::performance_agent performance{{&link}, false};

    counter packets_sent{*this, "packets_sent", "1", "packets handed to the link, and those that turned round"};
    counter packets_received{*this, "packets_received", "1", "packets that arrived"};
    counter bytes_received{*this, "bytes_received", "B", "bytes that arrived, from LRH to VCRC"};
    counter loopback_packets{*this, "loopback_packets", "1", "packets that turned round inside the port"};
    counter undeliverable{*this, "undeliverable", "1", "packets dropped because the port was not active"};

    span_stage transmit_queue_span{*this, "transmit_queue"};  ///< until the port's queue has room, in turns with others
    span_stage loopback_span{*this, "loopback"};              ///< turning round inside the port
    span_stage receive_span{*this, "receive"};                ///< from a packet's arrival to what it causes

    network_port(const sc_core::sc_module_name& name, const network_port_params& params, const wiring& w);

    enum class direction : std::uint8_t { request, response };
    /// Sends what is ready of a train, as far as there is room.
    void send(queue_pair& q, direction d);
    /// Sends a packet that belongs to no train (answers of agents).
    void send(const network::packet_ptr& p);
    void release(network::packet& p);
    /// A packet that is in no buffer of the link, so that its release frees none.
    static void detach_from_link(network::packet& p) { p.link_epoch = network::no_epoch; }
    /// Whether a LID is this port's.
    bool is_own_lid(std::uint16_t lid) const;
    /// Software has begun or ended to use the port.
    void enable(bool on);
    bool enabled() const { return m_enabled; }

    void reset() override;

private:
    void packet_arrived(network::port&, const network::packet_ptr& p) override;
    void space_available(network::port&, unsigned lane) override;
    void state_changed(network::port&, network::port_state) override;
    /// \returns false if it has to wait for room
    bool try_send(const network::packet_ptr& p);
    void loop_back(const network::packet_ptr& p);
    void deliver();
    void loopback_has_room();
    void sent(queue_pair& q, direction d, const network::packet& p);

    /// Marks packets that have turned round: they are in no buffer of the link.
    static constexpr std::uint32_t loopback_epoch = network::no_epoch - 1;
    /// Packets that have turned round and are not released; further ones wait, as they do for a link's credits.
    static constexpr std::size_t max_looped = 1024;

    adapter& m_adapter;
    queue_pairs& m_qps;
    requester& m_requester;
    responder& m_responder;
    std::unique_ptr<network::port> m_absent_peer;  // stands in for another end
    struct waiting {
        weak_queue_pair qp;
        direction d;
    };
    std::deque<waiting> m_waiting[network::virtual_lanes];
    std::deque<network::packet_ptr> m_agent_packets[network::virtual_lanes];
    struct arrival {
        ticks when;
        network::packet_ptr packet;
    };
    std::deque<arrival> m_arrivals;
    std::deque<arrival> m_loopback;
    std::size_t m_looped = 0;              // packets that have turned round and are not released
    std::uint32_t m_wanting_loopback = 0;  // lanes that wait for room among them
    bool m_enabled = false;
    calendar_event m_deliver{method<&network_port::deliver>, this};
    calendar_event m_loopback_room{method<&network_port::loopback_has_room>, this};
};

}  // namespace fabricvp::hca
