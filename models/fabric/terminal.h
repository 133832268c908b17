// SPDX-License-Identifier: Apache-2.0
// Where a device is attached to the fabric: a GPU, a traffic generator. The device hands over packets and is handed
// what arrives. Its own packets wait here, as many as it has; of what others want from it, it serves so many requests
// at a time, and the rest waits in the input buffer, whose credits then hold up the senders. Responses are always taken
// at once, so requests may wait for responses but nothing waits for requests in return.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <boost/dynamic_bitset.hpp>

#include "base/growing_ring.h"
#include "base/large_pages.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/prefetch.h"
#include "base/statistics.h"
#include "fabric/destination_egress.h"
#include "fabric/link_control.h"
#include "fabric/port.h"
#include "fabric/stage_kind.h"

namespace fabricvp::fabric {

struct terminal_params {
    buffer_params input;
    std::uint64_t serving = 256;
    bool queues_by_destination = false;
    std::uint64_t window =
        24;  ///< with these: requests to one device of another cluster that may be without their response
    duration latency{5'000};
    chosen_stage stage;
    void describe(parameter_visitor& v);
};

/// What terminals know of each other; one table for all of a fabric.
struct terminal_map {
    std::vector<std::uint16_t> cluster;            ///< by terminal
    std::vector<boost::dynamic_bitset<>> reaches;  ///< by terminal: those that there is a way to
};

class terminal_client {
public:
    /// A request, which must be answered by terminal::send() of the same packet after turn(); or the response to a
    /// request.
    virtual void packet_received(const packet_ptr& p) = 0;

protected:
    ~terminal_client() = default;
};

class terminal : public model, public on_large_pages, private port_owner {
public:
    const terminal_params params;
    const unsigned number;  ///< address on the fabric; GPU n of the node is n
    const packet_format format;

    counter requests_sent{*this, "requests_sent", "1", "requests of this device"};
    counter requests_served{*this, "requests_served", "1", "requests of others to this device"};
    counter held{*this, "held", "1", "requests of others that waited because too many were being served"};
    counter packets_sent{*this, "packets_sent", "1", "requests and responses handed over to the fabric"};
    counter packets_received{*this, "packets_received", "1", "requests and responses of others that arrived"};
    counter malformed{*this, "malformed", "1", "what came by the link and is no packets"};
    counter packets_failed{*this, "packets_failed", "1",
                           "packets of this device's accesses that were lost, of which it was told"};
    histogram round_trip{*this, "round_trip", "ps", "from handing over a request to its response"};
    histogram one_way{*this, "one_way", "ps", "of requests that arrived here, from handing over"};

    /// \param link its end of the link; null if it has none
    terminal(const sc_core::sc_module_name& name, const terminal_params& params, unsigned number,
             const packet_format& format, const port_node* link);

    std::unique_ptr<port> link;

    void attach(terminal_client& client) { m_client = &client; }
    bool attached() const { return m_client != nullptr; }
    /// Which cluster it belongs to, and which one another terminal does.
    unsigned cluster() const { return cluster_of(number); }
    unsigned cluster_of(unsigned terminal) const { return m_terminal_map->cluster[terminal]; }
    /// Whether there is a way to another terminal.
    bool reaches(unsigned terminal) const {
        return terminal < terminals() && m_terminal_map->reaches[number].test(terminal);
    }
    /// How many terminals there are.
    unsigned terminals() const { return static_cast<unsigned>(m_terminal_map->cluster.size()); }
    void set_terminal_map(std::shared_ptr<const terminal_map> shared_map);

    /// Sends a request or a response; `destination` must be one that it reaches, or has reached.
    void send(const packet_ptr& p);

    /// Links have died: what waits and has no way any more is lost.
    void follow_routes();
    /// Tells the device that one of its accesses has failed, by a response that says so.
    void fail(const packet_ptr& p);
    /// Takes over packets that cannot get on from here.
    std::function<void(const packet_ptr&)> on_lost;

    /// The device launches a kernel: lanes of links that its packets pass are as configured again.
    void kernel_launched() {
        for (auto* l : m_reversible) l->kernel_launched();
    }
    void clear_reversible() { m_reversible.clear(); }
    void add_reversible(fabricvp::link::lane_controller& l) { m_reversible.push_back(&l); }

    /// The links of the switch that the device is attached to, in the order of the configuration.
    std::vector<link_control> link_controls() const {
        return on_link_controls ? on_link_controls() : std::vector<link_control>{};
    }
    std::function<std::vector<link_control>()> on_link_controls;

    /// Packets that wait for the link.
    const egress_stage& queue() const { return *m_queue; }

    std::optional<wait> waits() const override;
    void reset() override;

private:
    ticks packet_announced(port&, packet& p) override { return p.tail + params.latency; }
    ticks packet_announced(port&, packet& p, const arrival_plan& plan) override {
        return p.tail + params.latency + plan.delay + plan.unpacking;
    }
    void packet_arrived(port& at, const packet_ptr& p) override;
    void packet_unpacked(port& at, const packet_ptr& p) override { packet_arrived(at, p); }
    void packet_malformed(port& at, const char* why) override;
    void transmitter_ready(port& at) override { transmit(); }
    void transmit();
    void serve(const packet_ptr& p);
    void service_done(const packet& response);
    void abort_send(const packet_ptr& p);
    void note_response(const packet& response);

    std::unique_ptr<egress_stage> m_queue;
    egress_stage* m_stage = nullptr;                     // the same, if a kind was chosen
    destination_egress* m_destination_queues = nullptr;  // the same, with queues by destination
    span_stage m_held_span{*this, "held"}, m_input_span{*this, "input"}, m_lost_span{*this, "lost"};
    terminal_client* m_client = nullptr;
    /// Requests of one channel that a device serves, and those that wait for it.
    struct service {
        growing_ring<packet_ptr> held;
        std::uint64_t serving = 0;
        ticks held_since = never;
    };
    service& service_of(const packet& p) { return m_service[!is_data(p.channel())]; }
    std::array<service, 2> m_service;  // of data, and of page tables with channels of their own
    bool m_cut_off = false;            // from some that it once reached, maybe
    std::shared_ptr<const terminal_map> m_terminal_map = std::make_shared<terminal_map>();
    std::vector<fabricvp::link::lane_controller*> m_reversible;
};

}  // namespace fabricvp::fabric
