// SPDX-License-Identifier: Apache-2.0
// What packets pass at the ends of a direction of a link: the egress stage before the lanes, and the ingress stage
// behind them. A new mechanism is one of each, or one of them, and a kind (stage_kind.h) by which configurations choose
// it. Both are models: statistics and spans are members, as they are of any block.
//
//     switch or device → egress_stage::push() … next() → lanes → ingress_stage::announced() … take() → switch or device
#pragma once

#include <cstdint>

#include "base/large_pages.h"
#include "base/model.h"
#include "fabric/stage_data.h"

namespace fabricvp::fabric {

class port;

/// What software may set at a stage while the fabric runs (abi/gpu_links.h); what the bits mean, its kind says.
class stage_controls {
public:
    /// What was set last: bits 0 to 30.
    virtual std::uint32_t settings() const = 0;
    virtual void set(std::uint32_t bits) = 0;
    /// What was set last has not begun yet.
    virtual bool pending() const = 0;

protected:
    ~stage_controls() = default;
};

/// What waits to leave by one port, and the rule that says what leaves next. The owner of the port asks for it whenever
/// the lanes are free. A rule may look into its queue, put packets together, cut them, let some overtake others, or let
/// the lanes idle in the hope of better.
class egress_stage : public model, public on_large_pages {
public:
    explicit egress_stage(const sc_core::sc_module_name& name) : model(name) {}

    /// Whether a packet for a terminal fits in. Devices do not ask: their stage holds as many as come.
    virtual bool has_room(virtual_channel c, unsigned flits, unsigned destination) const = 0;
    virtual void push(const packet_ptr& p) = 0;
    virtual bool empty() const = 0;
    /// Takes what goes next by a port whose lanes are free; null if nothing may go. If something is there nevertheless,
    /// the port's transmitter_ready() must follow: port::has_credit() sees to that where a credit was missing,
    /// port::call_at() where time must pass.
    virtual packet_ptr next(port& out) = 0;
    /// Packets for a terminal, which belongs to a cluster, leave here.
    virtual void serve(unsigned /*terminal*/, unsigned /*cluster*/) {}
    /// Time from the switch's pipeline to here.
    virtual ticks latency() const { return 0; }
    /// Takes out one packet after the other because the link is dead; null when nothing is left.
    virtual packet_ptr drain() { return nullptr; }
    /// What software may set; null: nothing.
    virtual stage_controls* controls() { return nullptr; }
    /// Why it cannot serve all terminals that it was told of, in words that begin with a key of its parameters; empty
    /// if it can.
    virtual std::string shortage() const { return {}; }
};

/// What an ingress stage says of a packet before it is there.
struct arrival_plan {
    unsigned destination = 0;  ///< terminal of the packet, or of the first one in it
    bool whole = false;        ///< it goes on when all of it has come, even where a switch cuts through
    ticks delay = 0;           ///< from its arrival until take()
    ticks unpacking = 0;       ///< more, where it goes on when all of it has come because of `whole`, or has no route
};

/// What has come over a link, before the switch or device has it.
class ingress_stage : public model {
public:
    explicit ingress_stage(const sc_core::sc_module_name& name) : model(name) {}

    /// A packet is on its way: `p.head` and `p.tail` say when it arrives.
    virtual arrival_plan announced(const packet& p) { return {p.destination, false, 0, 0}; }
    /// Takes what has arrived and gives the packets that are complete now, in their order; those that it keeps it gives
    /// with a later one. Of what is corrupted (its status is not ok), all packets go on poisoned.
    /// \returns null, or what is wrong with it
    virtual const char* take(const packet_ptr& p, packet_list& complete) = 0;
    /// A terminal that packets may be for.
    virtual void add_terminal(unsigned /*terminal*/) {}
};

/// What a packet brings, where no ingress stage says otherwise: itself, or those of a bundle.
void unpack(const packet_ptr& p, packet_list& complete);

}  // namespace fabricvp::fabric
