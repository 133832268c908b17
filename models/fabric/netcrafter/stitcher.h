// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "fabric/netcrafter/cluster_queue.h"
#include "fabric/netcrafter/id_sequence.h"
#include "fabric/netcrafter/parameters.h"
#include "fabric/netcrafter/wire_unit.h"

namespace fabricvp::fabric::netcrafter {

/// The far end's buffers, as the sender knows them.
class link_credits {
public:
    virtual bool covers(virtual_channel c, unsigned flits) const = 0;
    /// The same; if not, the sender is told when it may be so.
    virtual bool request_credits(virtual_channel c, unsigned flits) = 0;
    virtual void take(virtual_channel c, unsigned flits) = 0;

protected:
    ~link_credits() = default;
};

/// Which packet leaves the cluster queue next, who rides with it, and who waits for riders: Algorithm 1 of NetCrafter's
/// slides. It knows nothing of links; time is what it is told. docs/reference/netcrafter.md lists where it departs from
/// the slides.
///
/// Channels take turns, and the queues of a channel; those that go first come first. A packet whose turn has come but
/// that lacks credits keeps the turn of its channel, and no other takes credits of that channel before it has left, so
/// small packets cannot starve a large one.
class stitcher {
public:
    cluster_queue queue;
    id_sequence identifiers;

    /// \param window that packets wait for others to ride
    stitcher(const parameters& p, const packet_format& format, ticks window);

    /// Does as other parameters say; the queue must be empty.
    void set(const parameters& p);
    /// The queue at which packets arrive. \returns which
    unsigned push(unsigned cluster, const packet_ptr& p, ticks now);
    /// Puts together what goes next. \returns false if nothing may go now; then wake() says when waiting ends
    bool next(ticks now, link_credits& credits, wire_unit& to);
    ticks wake() const { return m_wake; }
    /// Takes out one packet after the other, whole, because the link is dead; null when nothing is left.
    packet_ptr drain();
    /// What pooling did, since construction.
    struct pooling_tally {
        std::uint64_t waited = 0;  ///< packets that waited for riders
        std::uint64_t found = 0;   ///< of them: that left with others, or whose ends did
        ticks time = 0;            ///< from when they first waited until then
    };
    const pooling_tally& pooled() const { return m_pooled; }

    void reset();

private:
    enum class attempt { sent, lacks_credits, waits };
    struct candidate {
        unsigned queue;
        bool end;  // of its packet only
    };

    void reset_arbitration();
    attempt serve(unsigned cluster, unsigned queue, ticks now, link_credits& credits, wire_unit& to);
    bool must_wait(const cluster_queue::entry& e, unsigned queue, unsigned free, bool found, ticks now) const;
    ticks window_begin(const cluster_queue::entry& e, ticks now) const;
    /// \param ends of packets may ride, too \param taken flits of a channel that the head is going to take
    bool find(unsigned cluster, unsigned free, bool ends, const link_credits& credits, virtual_channel c,
              unsigned taken, candidate& found) const;
    bool pick(unsigned cluster, std::uint32_t among, bool end, const link_credits& credits, virtual_channel c,
              unsigned taken, candidate& found) const;
    void stitch(unsigned cluster, unsigned free, virtual_channel c, ticks now, link_credits& credits);
    ticks end_wait(cluster_queue::entry& e, bool in_company, ticks now);
    void write(wire_unit& to, cluster_queue::entry& head, ticks waited);
    bool has_priority(unsigned cluster, const packet& p);

    parameters m_params;
    const packet_format m_format;
    const ticks m_window;
    const unsigned m_payload, m_sub_header;
    std::array<std::array<unsigned, virtual_channels>, 2> m_next_grant{};  // by level and channel: cluster * 32 + queue
    unsigned m_next_channel = 0;                                           // whose turn it is
    unsigned m_credit_waiters = 0;  // bit n: a packet waits for credits of channel n
    std::vector<std::array<unsigned, virtual_channels>>
        m_priority_quota;  // by cluster: data packets that may go first (the control)
    struct stitched_item {
        cluster_queue::entry entry;
        bool end;
        ticks waited = 0;  // for others to ride
    };
    boost::container::static_vector<stitched_item, wire_unit::max_parts> m_stitched;
    ticks m_wake = never;
    pooling_tally m_pooled;
};

}  // namespace fabricvp::fabric::netcrafter
