// SPDX-License-Identifier: Apache-2.0
// One end of a fabric link (link/port.h). Credits count flits, apart for each virtual channel.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/large_pages.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "fabric/packet.h"
#include "fabric/packet_counts.h"
#include "fabric/port_faults.h"
#include "link/lane_controller.h"
#include "link/port.h"

namespace fabricvp::fabric {

struct link_params {
    std::uint64_t lanes = 8;  ///< each way
    bandwidth lane_rate{16'000'000'000};
    duration propagation{1'000};
    double bit_error_rate = 0.0;
    duration replay_latency{100'000};
    duration retrain_time{10'000'000};
    std::uint64_t seed = 0;
    link::lane_controller_params reversible;
    void describe(parameter_visitor& v);
    std::uint64_t bytes_per_second() const { return lanes * lane_rate.bytes_per_second; }
};

/// A receiver's buffers.
struct buffer_params {
    std::uint64_t entries = 1024;           ///< flits; half of them for requests, half for responses
    std::uint64_t page_table_entries = 16;  ///< where page-table packets have channels of their own; half for each
    duration credit_latency{1'000};         ///< from freeing entries to the transmitter's knowing of it
    void describe(parameter_visitor& v);
    std::uint64_t capacity(virtual_channel c = virtual_channel::request) const {
        return (is_data(c) ? entries : page_table_entries) / 2;
    }
};

class port;
class ingress_stage;
struct arrival_plan;

/// The block behind a port.
class port_owner {
public:
    /// A packet is on its way: `head` and `tail` say when it arrives. \returns when packet_arrived() shall be called
    virtual ticks packet_announced(port& at, packet& p) = 0;
    /// The owner keeps it in the port's buffer until it calls port::release().
    virtual void packet_arrived(port& at, const packet_ptr& p) = 0;
    /// A transmitter that could not send before may be able to now.
    virtual void transmitter_ready(port& at) = 0;

    // Where a port has an ingress stage, or the packet is one that a stage made:
    virtual ticks packet_announced(port& at, packet& p, const arrival_plan& plan) = 0;
    /// The packets that have come out of one.
    virtual void packet_unpacked(port& at, const packet_ptr& p) = 0;
    /// The stage can make nothing of what has arrived.
    virtual void packet_malformed(port& at, const char* why) = 0;

protected:
    ~port_owner() = default;
};

/// Where a port is.
struct port_place {
    port_owner& owner;
    const packet_format& format;
    unsigned index = 0;             ///< among the owner's ports
    bool crosses_clusters = false;  ///< its link goes between clusters
};

struct port_traits {
    using protocol = link_protocol;
    using port = fabric::port;
    static constexpr unsigned classes = virtual_channels, kinds = 1;
    using amounts = std::array<std::uint64_t, kinds>;
    static unsigned class_of(const packet& p) { return static_cast<unsigned>(p.channel()); }
    static amounts credits_of(const packet& p) { return {p.flits}; }
    static std::string describe(unsigned c, const std::string& partner, const amounts& left, const amounts& initial);
};

using far_end = link::far_end<port_traits>;

class port final : public link::port<port_traits>, public on_large_pages {
    // Each packet touches these. What receiving touches lies behind what link::port has of that kind.
    port_owner& m_owner;
    std::array<std::uint32_t, virtual_channels> m_occupied{};  // flits
    const std::uint32_t m_credit_latency;

public:
    const unsigned index;
    std::unique_ptr<ingress_stage> ingress;  ///< of what it receives; null: none

    packet_counts sent{*this, "sent", "packets, bytes and flits sent this way, by class"};

private:
    const std::uint32_t m_flit;
    bool m_fault_ordered = false;  // for the next packets

public:
    const bool crosses_clusters;
    const link_params params;
    const buffer_params buffer;
    const packet_format format;

    counter corrupted{*this, "corrupted", "1", "packets that replays did not get across whole; they arrive poisoned"};
    counter link_downs{*this, "link_downs", "1", "times that this direction of the link went down"};
    counter failed_lanes{*this, "failed_lanes", "1", "lanes of this direction that failed"};
    derived utilisation{*this,
                        "utilisation",
                        "1",
                        "share of the time that this direction of the link was busy",
                        [this] {
                            const auto passed = now() - sent.since();
                            return passed ? static_cast<double>(transmitter.busy.value()) / static_cast<double>(passed)
                                          : 0.0;
                        },
                        1};

    port_faults faults{*this};

    /// Where time goes: behind others at the transmitter; waiting for lanes or the packet's own tail; serialisation of
    /// the first flit; wire; the rest of the packet, where it ends.
    span_stage queue_span{*this, "queue"}, lanes_span{*this, "lanes"}, serialisation_span{*this, "serialisation"},
        wire_span{*this, "wire"}, tail_span{*this, "tail"};

    port(const sc_core::sc_module_name& name, const link_params& params, const buffer_params& buffer,
         const port_place& place);
    ~port() override;

    /// True if the partner has room. Otherwise transmitter_ready() follows when it may be so.
    bool has_credit(virtual_channel c, unsigned flits) { return has_credits(static_cast<unsigned>(c), {flits}); }
    /// The same, without being told later.
    bool covers(virtual_channel c, unsigned flits) { return covered(static_cast<unsigned>(c), {flits}); }
    /// Takes credits for a packet whose bytes travel in another's flits.
    void take_credit(virtual_channel c, unsigned flits) { consume_credits(static_cast<unsigned>(c), {flits}); }
    /// Makes transmitter_ready() follow at `when` or before: something waits for a given time.
    void call_at(ticks when) { wake_by(when); }
    /// Sends; the lanes must be free and credits there. \param tail_ready when the packet's last byte is at hand
    void send(const packet_ptr& p, ticks tail_ready);
    /// Time that the lanes take for a packet; 0 while there are none.
    ticks serialisation(const packet& p) const {
        const auto rate = transmitter.bytes_per_second();
        return rate ? p.wire_bytes * ticks_per_second / rate : 0;  // wire_bytes has 16 bits
    }

    /// Frees the buffer of a received packet at `when`.
    void release(packet& p, ticks when) {
        m_occupied[port_traits::class_of(p)] -= p.flits;
        return_credits(p, when, m_credit_latency);
    }
    /// A packet of that channel will be sent soon: the host fetches what that touches, here and, unless null, beyond.
    void prefetch_send(virtual_channel c, const port* beyond) const {
        prefetch_sending(static_cast<unsigned>(c));
        prefetch(&sent, prefetched_of_sent);
        if (beyond) beyond->prefetch_receiving(prefetched_of_receiving);
    }
    /// A received packet's buffer will be freed soon.
    void prefetch_release(virtual_channel c) const {
        if (const auto* p = partner()) p->prefetch_credits(static_cast<unsigned>(c));
    }
    /// The flits of received packets that are in the buffer or on their way to it.
    std::uint64_t occupied(virtual_channel c) const { return m_occupied[static_cast<unsigned>(c)]; }

    void reset() override;

private:
    friend class link::port<port_traits>;
    friend class port_faults;
    friend void connect(port& a, port& b);
    static constexpr std::size_t prefetched_of_receiving = 192, prefetched_of_sent = 64;

    ticks arrival_time(packet& p, ticks) {
        if (ingress || p.carried) return staged_arrival_time(p);
        m_occupied[port_traits::class_of(p)] += p.flits;
        return p.due = m_owner.packet_announced(*this, p);
    }
    ticks staged_arrival_time(packet& p);
    void arrived(const packet_ptr& p) {
        if (ingress || p->carried) return take_out(p);
        m_owner.packet_arrived(*this, p);
    }
    void take_out(const packet_ptr& p);
    void ready() { m_owner.transmitter_ready(*this); }
    unsigned debug_access(packet&) { return 0; }
    void apply_faults(packet& p);
};

/// Joins two ports to a link. Each one's buffers become the other's credits.
void connect(port& a, port& b);
/// Joins a port to one in another simulation. Their lanes do not reverse.
void connect(port& here, far_end& there, const buffer_params& of_there);

}  // namespace fabricvp::fabric
