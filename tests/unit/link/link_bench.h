// SPDX-License-Identifier: Apache-2.0
// A link of the simplest kind: traits, packets with a number and a size, and devices that keep what they hear.
#pragma once

#include <catch2/catch.hpp>

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "link/port.h"

namespace fabricvp::test {

inline constexpr ticks ns = 1000, us = 1000 * ns;

struct note_fields {
    unsigned number = 0, lane_class = 0;
    std::uint64_t bytes = 0;
};
struct note : pooled<note>, note_fields {
    void recycle() { static_cast<note_fields&>(*this) = {}; }
};
using note_ptr = pooled_ptr<note>;

inline note_ptr make_note(unsigned number, std::uint64_t bytes, unsigned lane_class = 0) {
    static pool<note> notes;
    auto n = notes.make();
    static_cast<note_fields&>(*n) = {number, lane_class, bytes};
    return n;
}

struct note_protocol {
    using tlm_payload_type = note;
    using tlm_phase_type = link::phase;
};

class desk;
/// Two classes of packets, which take credits for bytes and for a slot.
struct desk_traits {
    using protocol = note_protocol;
    using port = desk;
    static constexpr unsigned classes = 2, kinds = 2;
    using amounts = std::array<std::uint64_t, kinds>;
    static unsigned class_of(const note& n) { return n.lane_class; }
    static amounts credits_of(const note& n) { return {n.bytes, 1}; }
    static std::string describe(unsigned c, const std::string& partner, const amounts& left, const amounts& initial) {
        return fmt::format("class {} of {}: {} of {} bytes, {} of {} slots", c, partner, left[0], initial[0], left[1],
                           initial[1]);
    }
};

inline link::channel_params wire(std::uint64_t lanes = 8, std::uint64_t lane_rate = 1'000'000'000,
                                 ticks propagation = 20 * ns) {
    link::channel_params p;
    p.lanes = lanes;
    p.lane_rate = {lane_rate};
    p.propagation = {propagation};
    return p;
}

inline constexpr ticks desk_latency = 7 * ns, credit_latency = 3 * ns;

/// A device with one port: sends from a queue, or whatever `more` gives when that is empty; keeps what it hears, or
/// hands it to `on_note`; and frees its buffer at once unless told not to.
class desk final : public link::port<desk_traits> {
public:
    struct heard {
        ticks when;
        unsigned number;
        bool operator==(const heard& o) const { return when == o.when && number == o.number; }
    };
    std::deque<note_ptr> queue;
    std::vector<heard> received;
    std::vector<note_ptr> kept;
    std::function<note_ptr()> more;
    std::function<void(const note&)> on_note;
    bool frees = true;

    explicit desk(const sc_core::sc_module_name& name, const link::channel_params& p = wire()) : port(name, p) {}

    void send(const note_ptr& n) {
        queue.push_back(n);
        pump();
    }
    void free_all() {
        for (const auto& n : kept) return_credits(*n, now(), credit_latency);
        kept.clear();
    }
    void clear() {
        queue.clear();
        received.clear();
        kept.clear();
        more = {};
        on_note = {};
        frees = true;
    }
    void pump() {
        for (;;) {
            if (queue.empty()) {
                auto next = more ? more() : nullptr;
                if (!next) return;
                queue.push_back(next);
            }
            if (!idle()) return call_when_idle();
            auto n = queue.front();
            if (!has_credits(n->lane_class, desk_traits::credits_of(*n))) return;
            queue.pop_front();
            consume_credits(*n);
            transmit_packet(*n, transmitter.send(now(), now(), n->bytes, n->bytes).tail_arrival);
        }
    }
    using port::drop_credits;

private:
    friend class link::port<desk_traits>;
    ticks arrival_time(note&, ticks head) { return head + desk_latency; }
    void arrived(const note_ptr& n) {
        if (on_note)
            on_note(*n);
        else
            received.push_back({now(), n->number});
        if (frees)
            return_credits(*n, now(), credit_latency);
        else
            kept.push_back(n);
    }
    void ready() { pump(); }
    unsigned debug_access(note&) { return 0; }
};

/// Runs until nothing is left to do.
inline void run_all(ticks max_time = 1'000'000 * us) {
    auto& c = calendar::current();
    const ticks limit = c.now() + max_time;
    while (c.next_event_time() != never) {
        REQUIRE(c.now() < limit);
        c.run_until(std::min(limit, c.next_event_time()));
    }
}
inline void run_for(ticks time) { calendar::current().run_until(calendar::current().now() + time); }

}  // namespace fabricvp::test
