// SPDX-License-Identifier: Apache-2.0
// One end of a fabric link: a transmitter that honours its partner's credits, and a receiver whose buffers they stand for.
// Credits count flits, apart for each virtual channel. A packet costs one calendar event here: its arrival.
#pragma once

#include <array>
#include <cstdint>

#include <boost/circular_buffer.hpp>

#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "fabric/packet.h"
#include "fabric/packet_counts.h"
#include "fabric/port_faults.h"
#include "link/channel.h"
#include "link/credits.h"

namespace fabricvp::fabric {

struct link_params {
    std::uint64_t lanes = 8;               ///< each way
    bandwidth lane_rate{16'000'000'000};
    duration propagation{1'000};
    double bit_error_rate = 0.0;
    duration replay_latency{100'000};
    duration retrain_time{10'000'000};
    std::uint64_t seed = 1;
    void describe(parameter_visitor& v);
    std::uint64_t bytes_per_second() const { return lanes * lane_rate.bytes_per_second; }
};

/// A receiver's buffers.
struct buffer_params {
    std::uint64_t entries = 1024;          ///< flits; half of them for requests, half for responses
    duration credit_latency{1'000};        ///< from freeing entries to the transmitter's knowing of it
    void describe(parameter_visitor& v);
    std::uint64_t share() const { return entries / virtual_channels; }
};

class port;

/// The block behind a port.
class port_owner {
public:
    /// A packet is on its way: `head` and `tail` say when it arrives. \returns when packet_arrived() shall be called
    virtual ticks packet_announced(port& at, packet& p) = 0;
    /// The owner keeps it in the port's buffer until it calls port::release().
    virtual void packet_arrived(port& at, const packet_ptr& p) = 0;
    /// A transmitter that could not send before may be able to now.
    virtual void transmitter_ready(port& at) = 0;

protected:
    ~port_owner() = default;
};

class port final : public model, private tlm::tlm_fw_transport_if<link_protocol>, private tlm::tlm_bw_transport_if<link_protocol> {
public:
    const link_params params;
    const buffer_params buffer;
    const unsigned index;          ///< among its owner's ports
    const bool crosses_clusters;   ///< its link goes between clusters

    transmit_socket tx{"tx"};
    receive_socket rx{"rx"};
    link::channel transmitter;

    packet_counts sent{*this, "sent", "packets, bytes and flits sent this way, by class"};
    counter credit_stalls{*this, "credit_stalls", "1", "times a packet waited for its partner's buffer"};
    counter spoilt{*this, "spoilt", "1", "packets that replays did not get across whole; they arrive poisoned"};
    derived utilisation{*this, "utilisation", "1", "share of the time that this direction of the link was busy",
                        [this] {
                            const auto passed = now() - sent.since();
                            return passed ? static_cast<double>(transmitter.busy.value()) / static_cast<double>(passed) : 0.0;
                        }};

    port_faults faults{*this};

    /// Where time goes: behind others at the transmitter; waiting for lanes or the packet's own tail; serialisation of the
    /// first flit; wire; the rest of the packet, where it ends.
    span_stage queue_span{*this, "queue"}, lanes_span{*this, "lanes"}, serialisation_span{*this, "serialisation"},
        wire_span{*this, "wire"}, tail_span{*this, "tail"};

    port(const sc_core::sc_module_name& name, const link_params& params, const buffer_params& buffer, const packet_format& format,
         port_owner& owner, unsigned index, bool crosses_clusters);

    /// True if the lanes are free, and not down.
    bool idle() const { return transmitter.free_at() <= now() && !faults.is_down(); }
    /// Makes transmitter_ready() follow when the lanes are free.
    void call_when_idle();
    /// True if the partner has room. Otherwise transmitter_ready() follows when it may be so.
    bool has_credit(virtual_channel c, unsigned flits);
    /// Sends; the lanes must be free and credits there. \param tail_ready when the packet's last byte is at hand
    void send(const packet_ptr& p, ticks tail_ready);
    /// Time that the lanes take for a packet.
    ticks serialisation(const packet& p) const {
        return static_cast<ticks>(static_cast<unsigned __int128>(p.wire_bytes) * ticks_per_second / transmitter.bytes_per_second());
    }

    /// Frees the buffer of a received packet at `when`.
    void release(const packet& p, ticks when);
    /// The flits of received packets that are in the buffer or on their way to it.
    std::uint64_t occupied(virtual_channel c) const { return m_occupied[static_cast<unsigned>(c)]; }

    port* partner() const { return m_partner; }
    /// For the watchdog: the credits that a packet has been waiting for longest.
    std::optional<wait> waits() const override;

    void reset() override;

private:
    friend void connect(port& a, port& b);

    tlm::tlm_sync_enum nb_transport_fw(packet& p, link_phase& phase, sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_bw(packet& p, link_phase& phase, sc_core::sc_time& delay) override;
    void b_transport(packet& p, sc_core::sc_time& delay) override;
    bool get_direct_mem_ptr(packet&, tlm::tlm_dmi&) override { return false; }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
    unsigned transport_dbg(packet&) override { return 0; }

    void arrive();
    void wake();
    void set_credits(std::uint64_t each);

    const std::uint32_t m_flit;
    port_owner& m_owner;
    std::array<link::credit_account, virtual_channels> m_credits{link::credit_account(0), link::credit_account(0)};
    boost::circular_buffer<packet_ptr> m_arrivals;
    port* m_partner = nullptr;
    std::array<ticks, virtual_channels> m_waiting_since{never, never};
    std::array<std::uint64_t, virtual_channels> m_occupied{};
    bool m_waits_for_credit = false;
    ticks m_last_due = 0;
    ticks m_down_since = never;  // since when something waits for the link to come up
    calendar_event m_arrive{method<&port::arrive>, this};
    calendar_event m_wake{method<&port::wake>, this};
};

/// Joins two ports to a link. Each one's buffers become the other's credits.
void connect(port& a, port& b);

}  // namespace fabricvp::fabric
