// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/spans.h"
#include "fabric/netcrafter/stitcher.h"
#include "fabric/stage.h"

namespace fabricvp::fabric::netcrafter {

/// NetCrafter's controller at one link to another cluster: trims what comes, keeps it in the cluster queue, and hands
/// the link units of packets that were stitched together.
class controller final : public egress_stage, private stage_controls {
public:
    const parameters params;

    counter packets{*this, "packets", "1", "packets that came in"};
    counter left{*this, "left", "1", "packets that went on, each with its last part"};
    counter units{*this, "units", "1", "packets and stitched packets that went over the link as one"};
    counter wire_flits{*this, "wire_flits", "1", "flits on the link"};
    counter buffer_flits{*this, "buffer_flits", "1",
                         "flits that the packets take in buffers behind the link, one by one"};
    counter padding_bytes{*this, "padding_bytes", "B", "padding on the link"};
    counter sub_header_bytes{*this, "sub_header_bytes", "B", "sub-headers before ends of packets"};
    counter stitched{*this, "stitched", "1", "whole packets that rode in padding"};
    counter stitched_ends{*this, "stitched_ends", "1", "ends of packets that rode in padding"};
    counter trimmed{*this, "trimmed", "1", "read responses cut to one sector"};
    counter pooled{*this, "pooled", "1", "packets that waited for others to ride"};
    counter pooled_found{*this, "pooled_found", "1", "of them: that left with others, or whose ends did"};
    counter pooled_time{*this, "pooled_time", "ps", "from when they first waited until they, or their ends, left"};
    counter prioritized{*this, "prioritized", "1", "packets that went before all others"};
    /// Flits that the link did not have to carry; without any of this there were `wire_flits` and the sum of these.
    counter saved_by_stitching{*this, "saved_flits.stitching", "1", "flits saved by whole packets that rode"};
    counter saved_by_ends{*this, "saved_flits.ends", "1", "flits saved by ends that rode"};
    counter saved_by_trimming{*this, "saved_flits.trimming", "1", "flits saved by cutting read responses"};
    histogram waiting{*this, "waiting", "flits", "flits that a packet found before it"};

    /// Waiting in the cluster queue, and there for others to ride.
    span_stage queue_span{*this, "cluster_queue"}, pooling_span{*this, "pooling"};

    /// What it takes in hardware.
    derived memory{*this, "overhead.bytes", "B", "cluster queue and stitching buffer",
                   [this] { return overhead_bytes(); }};

    /// \param cycle of the switch
    controller(const sc_core::sc_module_name& name, const parameters& params, const packet_format& format, ticks cycle);

    bool has_room(virtual_channel c, unsigned flits, unsigned destination) const override {
        return m_stitcher.queue.has_room(m_cluster_of[destination], c, flits);
    }
    void push(const packet_ptr& p) override;
    bool empty() const override { return m_stitcher.queue.packets() == 0; }
    packet_ptr next(port& out) override;
    packet_ptr drain() override;
    void serve(unsigned terminal, unsigned cluster) override;
    ticks latency() const override { return m_latency; }
    std::string shortage() const override;
    stage_controls* controls() override { return this; }

    /// Which parts are on: those that were set last.
    const parameters& parts() const { return m_wanted ? *m_wanted : m_parts; }
    /// Other parts from when the cluster queue is empty; entries, latency and the like stay.
    void set_parts(bool stitching, bool trimming, pooling_mode pooling, sequencing_mode sequencing);
    /// Those that were set last are not on yet.
    bool pending() const override { return m_wanted.has_value(); }

    const cluster_queue& queue() const { return m_stitcher.queue; }
    /// Packets whose end has ridden ahead.
    std::size_t detached_tails() const { return m_stitcher.identifiers.held(); }

    void reset() override;

private:
    double overhead_bytes() const { return static_cast<double>((params.entries + 1) * m_format.flit.bytes); }
    std::uint32_t settings() const override;
    void set(std::uint32_t bits) override;
    bool trim(packet& p);
    void change();
    void count(const wire_unit& u);
    void trace_waiting(wire_unit& u);

    const packet_format m_format;
    const ticks m_latency;
    parameters m_parts;
    std::optional<parameters> m_wanted;
    stitcher m_stitcher;
    std::vector<std::uint16_t> m_cluster_of;  // by terminal: number in the cluster queue
    std::vector<unsigned> m_clusters;         // by that number
    wire_unit_ptr m_spare;
};

}  // namespace fabricvp::fabric::netcrafter
