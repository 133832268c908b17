// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>

#include "network/packet.h"

namespace fabricvp::test {

/// A packet of an operation with arbitrary contents.
inline network::packet_ptr make_sample(std::uint8_t opcode, std::mt19937_64& random, bool global) {
    const auto p = network::make_packet();
    const auto word = [&] { return static_cast<std::uint32_t>(random()); };
    p->lrh.vl = random() & 15;
    p->lrh.sl = random() & 15;
    p->lrh.dlid = static_cast<std::uint16_t>(random());
    p->lrh.slid = static_cast<std::uint16_t>(random());
    p->lrh.global = global;
    p->grh.traffic_class = static_cast<std::uint8_t>(random());
    p->grh.flow_label = random() & 0xfffff;
    p->grh.hop_limit = static_cast<std::uint8_t>(random());
    for (auto* g : {&p->grh.source, &p->grh.destination})
        for (auto& b : *g) b = static_cast<std::uint8_t>(random());
    p->bth.opcode = opcode;
    p->bth.solicited = random() & 1;
    p->bth.migrated = random() & 1;
    p->bth.pkey = static_cast<std::uint16_t>(random());
    p->bth.fecn = random() & 1;
    p->bth.becn = random() & 1;
    p->bth.destination_qp = 2 + random() % 0xfffff0;  // no management
    p->bth.ack_request = random() & 1;
    p->bth.psn = random() & network::psn_mask;
    p->deth = {word(), 2 + static_cast<std::uint32_t>(random() % 0xfffff0)};
    p->reth = {random(), word(), word()};
    p->aeth = {static_cast<std::uint8_t>(random()), static_cast<std::uint32_t>(random() & 0xffffff)};
    p->atomic = {random(), word(), random(), random()};
    p->atomic_original = random();
    p->immediate = word();
    p->invalidated_rkey = word();
    if (p->extensions() & network::has_payload) {
        p->payload = allocate_slice(random() % 4097);
        for (std::size_t i = 0; i < p->payload.length; ++i) p->payload.data()[i] = static_cast<std::uint8_t>(random());
    }
    p->measure();
    return p;
}

}  // namespace fabricvp::test
