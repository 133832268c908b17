// SPDX-License-Identifier: Apache-2.0
// One end of an InfiniBand link (link/port.h), of a channel adapter or a switch: a short queue for each virtual lane,
// the arbiter that picks from them, credits of 64 bytes for each data lane, and lane 15 for subnet management, which
// has a buffer but no credits: what does not fit is dropped. There is no replay: a packet whose bits arrive wrong is
// gone.
//
// The two ends exchange nothing but messages that take the cable's time of flight: packets, credits, and that the other
// end has gone down or trains. So they could stand in different simulations.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/growing_ring.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "link/arrivals.h"
#include "link/port.h"
#include "network/lane_arbiter.h"
#include "network/link_speed.h"
#include "network/packet.h"
#include "network/port_faults.h"

namespace fabricvp::network {

/// What a port can do; a link has the rate and width that both its ends and its cable can.
struct port_params {
    link_rate rate = link_rate::edr;
    link_width width = link_width::x4;
    std::uint64_t mtu = 4096;               ///< longest payload of a packet, in bytes
    std::uint64_t data_lanes = 8;           ///< virtual lanes 0, 1, … for data
    byte_size buffer{32'768};               ///< for each data lane
    std::uint64_t management_packets = 16;  ///< that lane 15 has room for
    std::uint64_t queue = 4;                ///< packets of a lane that wait to be sent
    duration credit_latency{50'000};        ///< from freeing a buffer to the credit's leaving
    duration retrain_time{10'000'000};      ///< from the end of a fault until the link is up
    void describe(parameter_visitor& v);
};

/// A cable.
struct link_params {
    link_rate rate = link_rate::ndr;     ///< at most
    link_width width = link_width::x12;  ///< at most
    duration propagation{10'000};        ///< time of flight; 5 ns/m of fibre, 4.3 ns/m of copper
    double bit_error_rate = 0.0;         ///< chance that a bit arrives wrong
    std::uint64_t seed = 0;              ///< of the error process; 0: from simulation and path
    void describe(parameter_visitor& v);
};

/// As PortInfo numbers them. Only `active` ports send data, only `armed` and `active` ones take it.
enum class port_state : std::uint8_t { down = 1, initialize = 2, armed = 3, active = 4 };
const char* name_of(port_state s);

/// Why a packet did not get on.
enum class drop_reason : std::uint8_t {
    link_down,
    inactive,
    corrupted,
    management_full,
    too_long,
    injected,
    no_route,
    switch_dead
};
inline constexpr unsigned drop_reasons = 8;
const char* name_of(drop_reason r);

/// What performance management says of a port beside its statistics, as hardware counts it.
struct port_errors {
    std::uint64_t symbol_errors = 0;           ///< packets that arrived with wrong bits
    std::uint64_t receive_errors = 0;          ///< packets that were corrupted on this link, or cut off
    std::uint64_t remote_physical_errors = 0;  ///< packets that had been marked bad before this link
    std::uint64_t relay_errors = 0;            ///< packets for which a switch has no way on
    std::uint64_t transmit_discards = 0;       ///< packets that were to be sent and were not
    std::uint64_t management_drops = 0;        ///< on virtual lane 15, for lack of buffers
    std::uint64_t octets_received = 0;         ///< from LRH to ICRC
};

class port;
class subnet_administration;

/// A packet to QP 0, which goes by lane 15 and before subnet management has activated ports; no other one does.
inline bool is_subnet_management(const packet& p) {
    return transport_of(p.bth.opcode) == transport::ud && p.bth.destination_qp == 0;
}

/// The block behind a port.
class port_owner {
public:
    /// A packet is on its way: `head` and `tail` say when it arrives. \returns when packet_arrived() shall be called
    virtual ticks packet_announced(port&, packet& p) { return p.tail; }
    /// The owner keeps it in the port's buffer until it calls port::release().
    virtual void packet_arrived(port& at, const packet_ptr& p) = 0;
    /// port::has_room() was false for this lane and is true now.
    virtual void space_available(port& at, unsigned lane) = 0;
    /// The port has entered this state.
    virtual void state_changed(port&, port_state) {}

protected:
    ~port_owner() = default;
};

/// Sees all packets that leave by a port (captures, logs).
class packet_tap {
public:
    /// \param begin when its first bit leaves
    virtual void packet_sent(const port& by, const packet& p, ticks begin) = 0;

protected:
    ~packet_tap() = default;
};

struct port_traits {
    using protocol = link_protocol;
    using port = network::port;
    static constexpr unsigned classes = virtual_lanes, kinds = 1;  // blocks of 64 bytes
    using amounts = std::array<std::uint64_t, kinds>;
    static unsigned class_of(const packet& p) { return p.lrh.vl; }
    static amounts credits_of(const packet& p) { return {p.blocks}; }
    static std::string describe(unsigned c, const std::string& partner, const amounts& left, const amounts& initial);
};

using far_end = link::far_end<port_traits>;
using arrival_order = link::arrival_order<port, packet_ptr>;

class port final : public link::port<port_traits>, public link::arrival_end<port, packet_ptr> {
public:
    const port_params params;
    const unsigned index;  ///< among its owner's ports

    counter packets_offered{
        *this, "packets_offered", "1",
        "packets that the block behind this port handed over, not counting those that it passes on"};
    counter packets_sent{*this, "packets_sent", "1", "packets sent"};
    counter bytes_sent{*this, "bytes_sent", "B", "bytes sent, from LRH to VCRC"};
    counter payload_sent{*this, "payload_sent", "B", "payload bytes sent"};
    counter packets_received{*this, "packets_received", "1", "packets handed to the block behind this port"};
    counter duplicated{*this, "duplicated", "1", "packets that a fault let this port send twice"};
    counter link_downs{*this, "link_downs", "1", "times the link went down"};

    port_faults faults{*this};

    port_errors errors;

    /// Where time goes: behind others in a queue or without credits; serialisation of the local route header, wire, and
    /// the rest of the packet where it ends.
    span_stage queue_span{*this, "queue"}, serialisation_span{*this, "serialisation"}, wire_span{*this, "wire"},
        tail_span{*this, "tail"};

    /// By service level: the virtual lane that packets leave by; 15: they are dropped, as on a lane that the link has
    /// not.
    std::array<std::uint8_t, 16> sl_to_vl{};
    lane_arbiter arbiter;

    /// \param index among its owner's ports
    port(const sc_core::sc_module_name& name, const port_params& params, port_owner& owner, unsigned index = 0);

    /// The lane that a packet leaves by: 15 for subnet management packets (to QP 0), else by its service level.
    unsigned lane_of(const packet& p) const {
        return is_subnet_management(p) ? management_lane : sl_to_vl[p.lrh.sl & 15];
    }
    /// True if the queue of a lane takes one packet more. Otherwise port_owner::space_available() follows.
    bool has_room(unsigned lane) {
        if (m_queues[lane].size() < params.queue) return true;
        m_wanted |= 1u << lane;
        return false;
    }
    /// Sends by lane_of(p), which has room. The packet is the network's from here on, its payload shared. \param
    /// tail_ready when its last byte is at hand
    void send(const packet_ptr& p, ticks tail_ready = 0) { send_by(lane_of(*p), p, tail_ready); }
    /// The same by a lane that a switch has worked out.
    void send_by(unsigned lane, const packet_ptr& p, ticks tail_ready);

    /// Frees the buffer of a received packet at `when`.
    void release(packet& p, ticks when);

    port_state state() const { return m_state; }
    /// Subnet management arms and activates a port whose link is up.
    void set_state(port_state s);
    /// True while bits get across.
    bool up() const { return m_up; }

    std::uint16_t lid() const { return m_lid; }
    std::uint8_t lmc() const { return m_lmc; }
    void set_lid(std::uint16_t lid, std::uint8_t lmc = 0) {
        m_lid = lid;
        m_lmc = lmc;
    }
    /// A configuration stands in for a subnet manager: the port has this LID, and is active whenever its link is up.
    /// \param manager_lid where subnet administration answers; 0: nowhere
    void configure(std::uint16_t lid, std::uint8_t lmc = 0, std::uint16_t manager_lid = 0);
    bool configured() const { return m_configured; }
    std::uint16_t manager_lid() const { return m_manager_lid; }
    /// Null unless this port, in the place of a switch, answers for subnet administration.
    subnet_administration* administration = nullptr;

    /// What the link has, both ends and the cable considered.
    link_rate rate() const { return m_rate; }
    link_width width() const { return m_width; }
    /// Longest payload, and data lanes, that both ends can.
    std::uint64_t mtu() const { return m_mtu; }
    std::uint64_t data_lanes() const { return m_data_lanes; }
    const link_params& cable() const { return m_cable; }

    /// Takes the link down from this end, or lets it train: it is up after the retrain time and a time of flight.
    void hold_down();
    void start_training();
    /// As at power-on: the link is up at once.
    void power_on();

    /// Counts a packet that does not get on; the caller releases it.
    void drop(const packet& p, drop_reason why);
    /// The same of one that was to be sent by this port.
    void discard(const packet& p, drop_reason why);
    const counter& dropped(drop_reason why) const { return m_dropped[static_cast<unsigned>(why)]; }
    /// Of packets in its queues.
    std::size_t waiting() const;

    packet_tap* tap = nullptr;

    /// Hands over what has arrived; without a packet, it is this port's turn to look at credits and signals.
    void deliver(const packet_ptr& p);

    /// The link goes down and trains.
    void reset() override;

private:
    friend class link::port<port_traits>;
    friend void connect(port& a, port& b, const link_params& cable);
    friend void connect(port& here, far_end& there, const port_params& of_there, const link_params& cable);

    struct queued {
        packet_ptr packet;
        ticks tail_ready;
        bool duplicate = false;  // by a fault
    };
    /// Known here at `when`: an end holds the link down, or does no longer.
    struct signal {
        ticks when;
        bool own, held;
    };

    ticks arrival_time(packet& p, ticks head);
    void arrived(const packet_ptr& p) { hand_over(p); }
    /// Credits of another end may be known here at any time before they count, so what they let go on has its turn by
    /// path.
    void ready() { m_credit_starved ? enqueue_delivery() : transmit(); }
    unsigned debug_access(packet&) { return 0; }

    void transmit();
    unsigned next_lane();
    void send_from(unsigned lane);
    void count_corrupted(packet& p);
    static buffers room_of(const port_params& p);
    bool joined() const { return m_other.has_value(); }
    void update_link();
    void enter(port_state s);
    void update_link_state();
    void go_down();
    void come_up();
    void signal_partner(bool held);
    void signalled(std::uint32_t held, ticks when) { add_signal(false, held != 0, when); }
    void lost(packet& p) { drop(p, drop_reason::link_down); }
    void add_signal(bool own, bool held, ticks when);
    void enqueue_delivery() { hand_over(nullptr); }
    void process_signals();
    void trained();

    port_owner& m_owner;
    std::array<growing_ring<queued>, virtual_lanes> m_queues;
    std::array<counter, drop_reasons> m_dropped;
    std::uint32_t m_filled = 0;      // lanes whose queue is not empty
    std::uint32_t m_wanted = 0;      // lanes whose queue was full when the owner asked
    std::uint32_t m_management = 0;  // packets in the buffer of lane 15
    std::uint32_t m_epoch = 0;       // times the link was down
    bool m_up = false, m_configured = false;
    bool m_credit_starved = false;  // a lane that was to send lacked credits
    bool m_held = false, m_released = false, m_other_held = false;
    port_state m_state = port_state::down;
    std::uint16_t m_lid = 0;
    std::uint8_t m_lmc = 0;
    std::uint16_t m_manager_lid = 0;
    link_rate m_rate;
    link_width m_width;
    std::uint64_t m_mtu, m_data_lanes;
    link_params m_cable;
    std::optional<port_params> m_other;  // what the other end can; none: there is no link
    std::deque<signal> m_signals;        // by time
    calendar_event m_signal_due{method<&port::enqueue_delivery>, this};
    calendar_event m_trained{method<&port::trained>, this};
};

/// Joins two ports by a cable: the link is up, both ports are in `initialize`.
void connect(port& a, port& b, const link_params& cable = {});
/// Joins a port by a cable to one in another simulation.
void connect(port& here, far_end& there, const port_params& of_there, const link_params& cable = {});

}  // namespace fabricvp::network
