// SPDX-License-Identifier: Apache-2.0
// The egress stage to derive a mechanism from. It keeps packets in a queue for each virtual channel, within the room
// that the port has, and gives channels turns. A mechanism says for how long a packet is held for others, which packets
// leave with it, and what goes over the link for them:
//
//     class combiner final : public queued_egress {
//         ticks hold_time(const packet& p) const override { return is_write(p) ? m_window : 0; }
//         bool choose(const queue& waiting, selection& leaving) const override { …; leaving.add(3); … }
//         packet_ptr join(port& out, const packet_list& packets) override { …; return make_bundle(out, packets, …); }
//     };
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "base/spans.h"
#include "fabric/stage_kind.h"

namespace fabricvp::fabric {

class queued_egress : public egress_stage {
public:
    span_stage hold_span{*this, "hold"};  ///< waiting for others on purpose

    queued_egress(const sc_core::sc_module_name& name, const stage_place& place);

    bool has_room(virtual_channel c, unsigned flits, unsigned destination) const override;
    void push(const packet_ptr& p) override;
    bool empty() const override { return m_packets == 0; }
    packet_ptr next(port& out) override;
    packet_ptr drain() override;
    void reset() override;

protected:
    struct entry {
        packet_ptr held;
        ticks until;  // then it is held no longer
        const packet& operator*() const { return *held; }
        const packet* operator->() const { return held.get(); }
    };
    using queue = std::deque<entry>;

    /// The packets of a queue that leave as one: its first one, and those that were added.
    class selection {
    public:
        selection(const queue& waiting, port& out) : m_waiting(waiting), m_out(out), m_flits(waiting[0]->flits) {}
        /// Adds a packet by its place in the queue, places ascending. \returns false if the far end has no room for it
        bool add(std::size_t place);
        std::size_t size() const { return m_places.size(); }

    private:
        friend class queued_egress;
        const queue& m_waiting;
        port& m_out;
        unsigned m_flits;
        boost::container::small_vector<std::size_t, 16> m_places = {0};
    };

    const stage_place place;

    /// For how long a packet is held for others, from its arrival on, although it could leave.
    virtual ticks hold_time(const packet&) const { return 0; }
    /// Selects what leaves with the first packet. \returns true if more would not help: it is held no longer
    virtual bool choose(const queue& /*waiting*/, selection& /*leaving*/) const { return false; }
    /// What goes over the link for two packets or more, often of make_bundle().
    virtual packet_ptr join(port& /*out*/, const packet_list& packets);

private:
    packet_ptr take(queue& q, std::size_t number);

    std::array<queue, virtual_channels> m_queues;
    std::array<std::uint64_t, virtual_channels> m_flits{};
    std::uint64_t m_packets = 0;
    unsigned m_next_grant = 0;
};

}  // namespace fabricvp::fabric
