// SPDX-License-Identifier: Apache-2.0
// Management datagrams as a subnet manager at an adapter without a node sends them.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "network/management.h"
#include "unit/network/network_bench.h"

namespace fabricvp::test {

/// Of a request along ports, the first of which is the manager's own.
inline mad directed(unsigned method, unsigned attribute, std::uint32_t modifier, const std::vector<unsigned>& path) {
    mad d{};
    d[0] = d[2] = 1;
    d[1] = HCA_MAD_SUBNET_DIRECTED;
    d[3] = static_cast<std::uint8_t>(method);
    d[6] = 1;
    d[7] = static_cast<std::uint8_t>(path.size());
    hca_set(d.data(), HCA_MAD_ATTRIBUTE, attribute);
    hca_set(d.data(), HCA_MAD_MODIFIER, modifier);
    d[32] = d[33] = d[34] = d[35] = 0xff;
    for (std::size_t i = 0; i < path.size(); ++i) d[128 + i + 1] = static_cast<std::uint8_t>(path[i]);
    return d;
}

inline packet_ptr packet_of(const mad& d, std::uint16_t dlid = permissive_lid, std::uint16_t slid = permissive_lid) {
    const auto p = make_packet();
    p->lrh.dlid = dlid;
    p->lrh.slid = slid;
    p->bth.opcode = opcode_of(transport::ud, operation::send_only);
    p->bth.destination_qp = 0;
    p->payload = allocate_slice(d.size());
    std::copy(d.begin(), d.end(), p->payload.data());
    return p;
}

/// The payload of the only packet that came back within `most`; none if nothing did.
inline std::optional<mad> ask(adapter& manager, const packet_ptr& request, ticks max_time = 100'000'000) {
    manager.received.clear();
    manager.send(request);
    auto& c = calendar::current();
    for (const auto limit = c.now() + max_time; manager.received.empty() && c.next_event_time() < limit;)
        c.run_until(c.next_event_time());
    if (manager.received.empty()) return std::nullopt;
    REQUIRE(manager.received.size() == 1);
    CHECK(manager.received[0].packet->payload.length == HCA_MAD_SIZE);
    mad d;
    std::copy_n(manager.received[0].packet->payload.data(), d.size(), d.begin());
    return d;
}

/// Get and Set of PortInfo with some fields changed. \returns status of the Set, and in `info` what it answered
template <class Change>
unsigned change_port(adapter& manager, const std::vector<unsigned>& path, unsigned port, Change change,
                     std::uint8_t* info = nullptr) {
    const auto before = ask(manager, packet_of(directed(HCA_MAD_GET, HCA_MAD_PORT_INFO, port, path)));
    REQUIRE(before);
    auto set = directed(HCA_MAD_SET, HCA_MAD_PORT_INFO, port, path);
    std::copy_n(&(*before)[HCA_MAD_DATA], HCA_MAD_DATA_SIZE, &set[HCA_MAD_DATA]);
    hca_set(&set[HCA_MAD_DATA], HCA_PORT_STATE, 0);
    change(&set[HCA_MAD_DATA]);
    const auto after = ask(manager, packet_of(set));
    REQUIRE(after);
    if (info) std::copy_n(&(*after)[HCA_MAD_DATA], HCA_MAD_DATA_SIZE, info);
    return hca_get(after->data(), HCA_MAD_STATUS) & ~unsigned{HCA_MAD_DIRECTION};
}

}  // namespace fabricvp::test
