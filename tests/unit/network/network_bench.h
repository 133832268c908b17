// SPDX-License-Identifier: Apache-2.0
// Channel adapters without a node: each sends what it is given as soon as its port has room, and keeps what it hears.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "network/port.h"

namespace fabricvp::test {

using namespace fabricvp::network;

/// A datagram with `bytes` of payload, counting up from its PSN.
inline packet_ptr make_datagram(std::uint16_t to, std::size_t bytes, std::uint32_t psn = 0, std::uint8_t sl = 0) {
    const auto p = make_packet();
    p->lrh.dlid = to;
    p->lrh.sl = sl;
    p->bth.opcode = opcode_of(transport::ud, operation::send_only);
    p->bth.destination_qp = 2;
    p->bth.psn = psn;
    p->deth = {0x11111111, 3};
    p->payload = allocate_slice(bytes);
    for (std::size_t i = 0; i < bytes; ++i) p->payload.data()[i] = static_cast<std::uint8_t>(psn + i);
    return p;
}

class adapter final : public model, public port_owner {
public:
    struct arrival {
        ticks when;
        std::uint32_t psn;
        unsigned lane;
        packet_ptr packet;
    };
    port link;
    std::vector<arrival> received;
    std::vector<port_state> states;
    std::deque<packet_ptr> unsent;
    bool keeps = false;  ///< received packets stay in the port's buffer

    explicit adapter(const sc_core::sc_module_name& name, const port_params& p = {})
        : model(name), link("link", p, *this) {}

    void send(const packet_ptr& p) {
        unsent.push_back(p);
        push();
    }
    void release_all() {
        for (auto& h : received) link.release(*h.packet, now());
        received.clear();
    }

    void packet_arrived(port& at, const packet_ptr& p) override {
        received.push_back({now(), p->bth.psn, p->lrh.vl, p});
        if (!keeps) at.release(*p, now());
    }
    void space_available(port&, unsigned) override { push(); }
    void state_changed(port&, port_state s) override { states.push_back(s); }

private:
    void push() {
        while (!unsent.empty() && link.has_room(link.lane_of(*unsent.front()))) {
            const auto p = unsent.front();
            unsent.pop_front();
            link.send(p);
        }
    }
};

inline void run_all(ticks max_time = 100'000'000'000) {
    auto& c = calendar::current();
    const ticks limit = c.now() + max_time;
    while (c.next_event_time() != never) {
        REQUIRE(c.now() < limit);
        c.run_until(std::min(limit, c.next_event_time()));
    }
}

}  // namespace fabricvp::test
