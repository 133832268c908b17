// SPDX-License-Identifier: Apache-2.0
// Subnet management of switches, as a subnet manager at one of the adapters sees it.
#include "unit/network/mad_bench.h"

#include <cstring>
#include <random>

#include "network/subnet.h"
#include "network/switch_agent.h"

using namespace fabricvp;
using namespace fabricvp::test;
using namespace fabricvp::time_literals;

namespace {

/// manager — s0 — s1 — other
subnet_params chain() {
    subnet_params p;
    p.subnet_manager = manager_kind::guest;
    for (const auto* s : {"s0", "s1"}) {
        p.switches.emplace_back();
        p.switches.back().name = s;
    }
    for (const auto& [from, to] : {std::pair{"manager", "s0"}, {"s0", "s1"}, {"s1", "other"}}) {
        p.links.emplace_back();
        p.links.back().from = from;
        p.links.back().to = to;
    }
    return p;
}

struct machines {
    calendar timeline;
    adapter manager{"manager"}, other{"other"};
    subnet net{"net", chain(), {{"manager", &manager.link}, {"other", &other.link}}};
};

machines& all() {
    static machines m;
    return m;
}

mad answer(const packet_ptr& request) {
    auto& m = all().manager;
    m.received.clear();
    m.send(request);
    run_all();
    REQUIRE(m.received.size() == 1);
    CHECK(m.received[0].lane == management_lane);
    mad d;
    std::copy_n(m.received[0].packet->payload.data(), d.size(), d.begin());
    return d;
}

constexpr unsigned direction = HCA_MAD_DIRECTION;

}  // namespace

TEST_CASE("a sweep by directed routes finds switches and adapters, gives LIDs and tables, and brings ports up") {
    auto& manager = all().manager;
    CHECK(manager.link.state() == port_state::initialize);
    // The neighbour.
    auto d = answer(packet_of(directed(HCA_MAD_GET, HCA_MAD_NODE_INFO, 0, {1})));
    CHECK(d[3] == HCA_MAD_GET_RESPONSE);
    CHECK(hca_get(d.data(), HCA_MAD_STATUS) == direction);
    CHECK(d[6] == 1);
    CHECK(hca_get(&d[64], HCA_NODE_TYPE) == 2);
    CHECK(hca_get(&d[64], HCA_NODE_PORTS) == 2);
    CHECK(hca_get(&d[64], HCA_NODE_LOCAL_PORT) == 1);
    CHECK(hca_get_long(&d[64], HCA_NODE_GUID) == all().net.switches[0]->agent->guid());
    // The one behind it.
    d = answer(packet_of(directed(HCA_MAD_GET, HCA_MAD_NODE_INFO, 0, {1, 2})));
    CHECK(hca_get_long(&d[64], HCA_NODE_GUID) == all().net.switches[1]->agent->guid());
    CHECK(d[6] == 1);
    d = answer(packet_of(directed(HCA_MAD_GET, HCA_MAD_NODE_DESCRIPTION, 0, {1, 2})));
    CHECK(std::string(reinterpret_cast<const char*>(&d[64])) == "net.s1");
    // The adapter at the end answers for itself; here the test does.
    auto& other = all().other;
    manager.received.clear();
    manager.send(packet_of(directed(HCA_MAD_GET, HCA_MAD_NODE_INFO, 7, {1, 2, 2})));
    run_all();
    REQUIRE(other.received.size() == 1);
    mad seen;
    std::copy_n(other.received[0].packet->payload.data(), seen.size(), seen.begin());
    CHECK(seen[6] == 3);
    CHECK(seen[192 + 1] == 1);
    CHECK(seen[192 + 2] == 1);
    seen[3] = HCA_MAD_GET_RESPONSE;
    seen[4] |= 0x80;
    other.send(packet_of(seen));
    run_all();
    REQUIRE(manager.received.size() == 1);
    CHECK(manager.received[0].packet->payload.data()[6] == 1);
    // LIDs and tables: the manager is 1, the other 2, the switches 3 and 4.
    for (unsigned s = 0; s < 2; ++s) {
        const auto path = s ? std::vector<unsigned>{1, 2} : std::vector<unsigned>{1};
        d = answer(packet_of(directed(HCA_MAD_GET, 0x12, 0, path)));
        CHECK((d[64] << 8 | d[65]) == 0xc000);
        d = answer(packet_of(directed(HCA_MAD_GET, HCA_MAD_PORT_INFO, 0, path)));
        hca_set(&d[64], HCA_PORT_LID, 3 + s);
        auto set = directed(HCA_MAD_SET, HCA_MAD_PORT_INFO, 0, path);
        std::copy_n(&d[64], 64, &set[64]);
        d = answer(packet_of(set));
        CHECK(hca_get(d.data(), HCA_MAD_STATUS) == direction);
        CHECK(hca_get(&d[64], HCA_PORT_LID) == 3 + s);
        auto table = directed(HCA_MAD_SET, 0x19, 0, path);
        std::memset(&table[64], 255, 64);
        table[64 + 1] = 1;
        table[64 + 2] = 2;
        table[64 + 3] = s ? 1 : 0;
        table[64 + 4] = s ? 0 : 2;
        d = answer(packet_of(table));
        CHECK(std::equal(&table[64], &table[128], &d[64]));
        for (unsigned port = 1; port <= 2; ++port)
            for (const unsigned state : {4u, 3u, 4u}) {
                auto info = answer(packet_of(directed(HCA_MAD_GET, HCA_MAD_PORT_INFO, port, path)));
                CHECK(hca_get(&info[64], HCA_PORT_MTU_ACTIVE) == 5);
                CHECK(hca_get(&info[64], HCA_PORT_WIDTH_ACTIVE) == 2);
                CHECK(info[64 + 62] >> 4 == 2);  // EDR
                const auto before = hca_get(&info[64], HCA_PORT_STATE);
                auto wanted = directed(HCA_MAD_SET, HCA_MAD_PORT_INFO, port, path);
                std::copy_n(&info[64], 64, &wanted[64]);
                hca_set(&wanted[64], HCA_PORT_STATE, state);
                info = answer(packet_of(wanted));
                // Not from Initialize to Active at once.
                CHECK(hca_get(info.data(), HCA_MAD_STATUS) ==
                      (before == 2 && state == 4 ? direction | HCA_MAD_BAD_FIELD : direction));
            }
    }
    for (auto* a : {&manager, &other}) {
        a->link.set_lid(a == &manager ? 1 : 2);
        a->link.set_state(port_state::active);
        a->received.clear();
    }
    manager.send(make_datagram(2, 1000));
    run_all();
    CHECK(other.received.size() == 1);
}

TEST_CASE("afterwards, requests go by LID, too") {
    mad d{};
    d[0] = d[2] = 1;
    d[1] = HCA_MAD_SUBNET;
    d[3] = HCA_MAD_GET;
    hca_set(d.data(), HCA_MAD_ATTRIBUTE, HCA_MAD_NODE_INFO);
    const auto back = answer(packet_of(d, 4, 1));
    CHECK(hca_get(back.data(), HCA_MAD_STATUS) == 0);
    CHECK(hca_get_long(&back[64], HCA_NODE_GUID) == all().net.switches[1]->agent->guid());
    CHECK(all().manager.received[0].packet->lrh.slid == 4);
}

TEST_CASE("lanes and arbitration are the manager's") {
    auto set = directed(HCA_MAD_SET, 0x17, 1u << 8 | 2, {1});
    for (unsigned i = 0; i < 8; ++i) set[64 + i] = 0x35;
    answer(packet_of(set));
    CHECK(all().net.switches[0]->lane(1, 2, 0) == 3);
    CHECK(all().net.switches[0]->lane(1, 2, 7) == 5);
    CHECK(answer(packet_of(directed(HCA_MAD_GET, 0x17, 1u << 8 | 2, {1})))[64 + 3] == 0x35);
    auto weights = directed(HCA_MAD_SET, 0x18, 3u << 16 | 2, {1});
    weights[64] = 3;
    weights[65] = 200;
    answer(packet_of(weights));
    const auto& high = all().net.switches[0]->ports[1]->arbiter.high();
    REQUIRE(!high.empty());
    CHECK((high[0].lane == 3 && high[0].weight == 200));
    CHECK(hca_get(answer(packet_of(directed(HCA_MAD_GET, 0x1d, 0, {1}))).data(), HCA_MAD_STATUS) ==
          (direction | HCA_MAD_BAD_ATTRIBUTE));
}

TEST_CASE("multicast tables are the manager's, too") {
    constexpr unsigned table = HCA_MAD_MULTICAST, lid = 0xc000 + 32 + 5;  // block 1, entry 5
    CHECK(hca_get(&answer(packet_of(directed(HCA_MAD_GET, HCA_MAD_SWITCH_INFO, 0, {1})))[64],
                  HCA_SWITCH_MULTICAST_CAPACITY) == 1024);
    auto set = directed(HCA_MAD_SET, table, 1, {1});
    set[64 + 2 * 5 + 1] = 0xff;  // ports 1 and 2 are there, others are not
    auto back = answer(packet_of(set));
    CHECK(hca_get(back.data(), HCA_MAD_STATUS) == direction);
    CHECK(back[64 + 2 * 5 + 1] == 0x06);
    CHECK(all().net.switches[0]->multicast_of(lid).count() == 2);
    back = answer(packet_of(directed(HCA_MAD_GET, table, 1, {1})));
    CHECK((back[64 + 2 * 5] == 0 && back[64 + 2 * 5 + 1] == 0x06 && back[64 + 2 * 4 + 1] == 0));
    set[64 + 2 * 5 + 1] = 0;
    answer(packet_of(set));
    CHECK(all().net.switches[0]->multicast_of(lid).none());
    for (const unsigned modifier : {32u, 1u << 28})  // beyond the table, beyond the ports
        CHECK(hca_get(answer(packet_of(directed(HCA_MAD_GET, table, modifier, {1}))).data(), HCA_MAD_STATUS) ==
              (direction | HCA_MAD_BAD_FIELD));
}

TEST_CASE("invalid management packets are discarded or answered, never lost uncounted") {
    std::mt19937_64 random(5);
    auto& m = all().manager;
    const auto stat = [](const char* what) { return snapshot_statistics("net").at(what); };
    for (unsigned round = 0; round < 200; ++round) {
        for (unsigned i = 0; i < 50; ++i) {
            mad d;
            for (auto& b : d) b = static_cast<std::uint8_t>(random());
            if (random() % 4) d[1] = HCA_MAD_SUBNET_DIRECTED;
            if (random() % 4) d[3] = random() & 1 ? HCA_MAD_SET : HCA_MAD_GET;
            if (random() % 4) d[6] = random() % 4;
            if (random() % 4) d[7] = random() % 4;
            if (random() % 4) hca_set(d.data(), HCA_MAD_ATTRIBUTE, 0x10 + random() % 16);
            if (random() % 4) d[34] = d[35] = 0xff;
            if (random() % 4) d[4] = 0;
            if (random() % 4) hca_set(d.data(), HCA_MAD_MODIFIER, random() % 5);
            for (unsigned at = 129; at < 134; ++at)
                if (random() % 2) d[at] = random() % 4;
            auto p = packet_of(d, random() % 3 ? permissive_lid : static_cast<std::uint16_t>(random() % 6));
            if (random() % 16 == 0) p->payload.length = random() % 257;
            m.send(p);
        }
        run_all();
        m.received.clear();
        all().other.received.clear();
    }
    CHECK(m.unsent.empty());
    CHECK(stat("net.packets.in_flight") == 0);
    CHECK(stat("net.s0.agent.requests") > 100);  // many a request takes the link down
    CHECK(stat("net.s0.agent.discarded") > 500);
}
