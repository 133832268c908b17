// SPDX-License-Identifier: Apache-2.0
// A switch between GPUs. A packet that comes in takes the time of the pipeline, from its head on (cut-through; a packet
// that leaves faster than it came waits until its end cannot be late), and moves to the queue of the port by which it
// leaves, if there is room: otherwise it holds up those behind it on its virtual channel. Inputs that wait for room
// take turns, packet by packet, in each virtual channel by itself. A hop costs two calendar events: the arrival, and
// the lanes becoming free if something waits for them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock_domain.h"
#include "base/fault.h"
#include "base/growing_ring.h"
#include "base/large_pages.h"
#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "fabric/egress.h"
#include "fabric/port.h"
#include "fabric/stage_kind.h"

namespace fabricvp::fabric {

struct switch_params {
    frequency clock{1'000'000'000};
    cycles latency{30};
    buffer_params input;
    std::uint64_t output_entries = 1024;
    bool cut_through = true;
    chosen_stage stage;
    void describe(parameter_visitor& v);
};

class fabric_switch final : public model, public on_large_pages, private port_owner {
public:
    const switch_params params;
    const unsigned cluster;

    counter packets{*this, "packets", "1", "packets passed on"};
    counter blocked{*this, "blocked", "1", "packets that waited in an input buffer for room at their output"};
    counter malformed{*this, "malformed", "1",
                      "what an ingress stage could not take apart; the packets in it go on poisoned"};

    fabric_switch(const sc_core::sc_module_name& name, const switch_params& params, unsigned cluster,
                  const packet_format& format, const std::vector<port_node>& ports);

    fault_kind<> dead{
        *this, "dead",
        "the switch is dead for good: packets take other ways, what it holds and what has no other way fails",
        [this](const auto&) {
            if (on_failure) on_failure();
        }};

    /// By which port packets for a terminal leave. \param cluster of the terminal
    void set_route(unsigned terminal, unsigned port, unsigned cluster = 0);
    /// There is no way to any terminal; routes are set anew.
    void clear_routes();
    /// Routes have changed: what waits goes the new ways; what has none is lost, now or when it arrives. \param dead
    /// links, by port
    void follow_routes(const std::vector<bool>& dead);

    std::function<void()> on_failure;
    /// Takes over packets that cannot get on from here.
    std::function<void(const packet_ptr&)> on_lost;

    /// \throws std::invalid_argument if a stage cannot serve all that goes through it
    void check_stages() const;

    unsigned ports() const { return static_cast<unsigned>(m_ports.size()); }
    port& at(unsigned index) { return *m_ports[index]; }
    egress_stage& egress_of(unsigned index) { return *m_egress[index]; }

    void reset() override;

private:
    static constexpr unsigned no_route = ~0u;
    static constexpr std::uint8_t no_port = 0xff;
    static_assert(max_switch_ports <= no_port);
    struct entry {
        packet_ptr packet;
        unsigned route;
        std::uint16_t flits, destination;
    };
    struct ingress {
        std::array<growing_ring<entry>, virtual_channels> waiting;
    };
    /// What a packet that leaves by a port needs to know, close together: ports lie far from the host's processor.
    struct way {
        port* out;
        const port* beyond = nullptr;  // at the other end of the link, where the host is to fetch it
        egress_stage* egress;
        fifo_egress* fifo;       // the same, if it is one: it is called without asking it what it is
        std::uint64_t rate = 0;  // bytes a second of the lanes, as they are
        ticks ahead;             // from a packet's arrival until it may leave

        bool has_room(virtual_channel c, unsigned flits, unsigned destination) const {
            return fifo ? fifo->has_room(c, flits, destination) : egress->has_room(c, flits, destination);
        }
        void push(const packet_ptr& p) const { fifo ? fifo->push(p) : egress->push(p); }
        bool empty() const { return fifo ? fifo->empty() : egress->empty(); }
        packet_ptr next() const { return fifo ? fifo->next(*out) : egress->next(*out); }
        /// As port::serialisation() of `out`.
        ticks serialisation(const packet& p) const { return rate ? p.wire_bytes * ticks_per_second / rate : 0; }
        void prefetch(virtual_channel c) const {
            if (fifo) fifo->prefetch_push();
            out->prefetch_send(c, beyond);
        }
    };

    ticks packet_announced(port& at, packet& p) override;
    void accept(port& at, const packet_ptr& p);
    ticks packet_announced(port& at, packet& p, const arrival_plan& plan) override;
    void packet_arrived(port& at, const packet_ptr& p) override { accept(at, p); }
    void packet_unpacked(port& at, const packet_ptr& p) override;
    void packet_malformed(port& at, const char* why) override;
    void transmitter_ready(port& at) override { transmit(at.index); }
    void move(unsigned ingress, const packet_ptr& p);
    bool fits(const entry& e, unsigned channel) const {
        return m_ways[e.route].has_room(static_cast<virtual_channel>(channel), e.flits, e.destination);
    }
    unsigned route_to(unsigned terminal) const {
        return terminal < m_routes.size() && m_routes[terminal] != no_port ? m_routes[terminal] : no_route;
    }
    void drop(unsigned ingress, const packet_ptr& p);
    void unblock(unsigned ingress, unsigned channel) {
        m_blocked_channels[ingress] = static_cast<std::uint8_t>(m_blocked_channels[ingress] & ~(1u << channel));
    }
    void transmit(unsigned egress);
    void refill(unsigned egress);
    bool advance(unsigned ingress, unsigned channel, unsigned egress);

    const ticks m_latency;
    span_stage m_tail_span{*this, "tail"}, m_pipeline_span{*this, "pipeline"}, m_blocked_span{*this, "blocked"};
    std::vector<std::unique_ptr<port>> m_ports;
    std::vector<std::unique_ptr<egress_stage>> m_egress;
    std::vector<way> m_ways;                                  // by port
    std::vector<std::string> m_stage_origins, m_stage_paths;  // by port
    std::vector<ingress> m_ingress;
    std::vector<std::uint8_t> m_blocked_channels;  // by input: bit c, packets of channel c wait
    std::vector<std::uint8_t> m_routes;            // by terminal
    std::vector<std::array<unsigned, virtual_channels>>
        m_next_grant;                                       // by egress and channel: the input that may go next
    unsigned m_waiting = 0;                                 // packets in input buffers that wait for room
    std::array<unsigned, virtual_channels> m_waiting_on{};  // the same, by channel
    bool m_changed = false;                                 // routes have, since packets were let in
};

}  // namespace fabricvp::fabric
