// SPDX-License-Identifier: Apache-2.0
// A subnet manager sweeps switches and adapters by directed routes, gives LIDs, fills tables and brings ports up; then
// the adapters reach each other. Where software has opened no queue pair for management, the adapter's own agent
// answers.
#include "unit/network/mad_bench.h"

#include "network/subnet.h"
#include "network/switch_agent.h"
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;
using fabricvp::test::ask;
using fabricvp::test::change_port;
using fabricvp::test::directed;
using fabricvp::test::packet_of;

namespace {

/// manager — s0 — s1 — b, with a at s0: port 1 of s0 leads to the manager, 2 to s1, 3 to a; port 1 of s1 to s0, 2 to b.
network::subnet_params tree() {
    network::subnet_params p;
    p.subnet_manager = network::manager_kind::guest;
    for (const auto* s : {"s0", "s1"}) {
        p.switches.emplace_back();
        p.switches.back().name = s;
    }
    for (const auto& [from, to] : {std::pair{"manager", "s0"}, {"s0", "s1"}, {"s1", "b"}, {"a", "s0"}}) {
        p.links.emplace_back();
        p.links.back().from = from;
        p.links.back().to = to;
    }
    return p;
}

const std::vector<unsigned> to_s0 = {1}, to_s1 = {1, 2}, to_a = {1, 3}, to_b = {1, 2, 2};

}  // namespace

TEST_CASE("a subnet manager and adapters behind switches") {
    calendar timeline;
    fabricvp::test::adapter manager("manager");
    std::optional<network::subnet> net;
    std::optional<network::mad> before;
    two_adapter_bench bench({}, [&](network::port& a, network::port& b) {
        net.emplace("net", tree(),
                    std::vector<network::subnet::adapter>{{"manager", &manager.link}, {"a", &a}, {"b", &b}});
        // An adapter does not answer before software has taken its port into use.
        before = ask(manager, packet_of(directed(HCA_MAD_GET, HCA_MAD_NODE_INFO, 0, to_b)));
    });
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    auto &agent_a = host.adapters[0]->management, &agent_b = host.adapters[1]->management;
    CHECK(!before);
    CHECK(host.adapters[1]->dropped.total() == 1);
    CHECK(host.adapters[1]->network.link.state() == network::port_state::initialize);

    // --- the nodes ---
    const auto get = [&](const std::vector<unsigned>& path, unsigned attribute, std::uint32_t modifier = 0) {
        const auto d = ask(manager, packet_of(directed(HCA_MAD_GET, attribute, modifier, path)));
        REQUIRE(d);
        CHECK(hca_get(d->data(), HCA_MAD_STATUS) == HCA_MAD_DIRECTION);
        CHECK((*d)[HCA_MAD_HOP_POINTER] == 1);
        return *d;
    };
    for (const auto& [path, agent] : {std::pair{to_a, &agent_a}, {to_b, &agent_b}}) {
        const auto d = get(path, HCA_MAD_NODE_INFO);
        CHECK(hca_get(&d[64], HCA_NODE_TYPE) == HCA_NODE_CHANNEL_ADAPTER);
        CHECK(hca_get_long(&d[64], HCA_NODE_PORT_GUID) == agent->port.guids[0]);
        CHECK(hca_get(&d[64], HCA_NODE_DEVICE) == HCA_DEVICE);
    }
    CHECK(hca_get(&get(to_s1, HCA_MAD_NODE_INFO)[64], HCA_NODE_TYPE) == HCA_NODE_SWITCH);
    auto info = get(to_b, HCA_MAD_PORT_INFO, 0x8000'0000 | 1);
    CHECK(hca_get(&info[64], HCA_PORT_LID) == 0);
    CHECK(hca_get(&info[64], HCA_PORT_STATE) == 2);
    CHECK(hca_get(&info[64], HCA_PORT_PHYSICAL_STATE) == HCA_PORT_LINK_UP);
    CHECK(hca_get(&info[64], HCA_PORT_EXTENDED_SPEED_ACTIVE) == 1);                                 // FDR
    CHECK(hca_get(&get(to_s1, HCA_MAD_PORT_INFO, 0x8000'0000 | 2)[64], HCA_PORT_LOCAL_PORT) == 1);  // by which it came
    // Beyond an adapter there is nothing, and neither is anything behind a port that a switch does not have.
    CHECK(!ask(manager, packet_of(directed(HCA_MAD_GET, HCA_MAD_NODE_INFO, 0, {1, 3, 1})), 20'000'000));
    CHECK(!ask(manager, packet_of(directed(HCA_MAD_GET, HCA_MAD_NODE_INFO, 0, {1, 9})), 20'000'000));

    // --- LIDs: a 1, b 2, the manager 3, s0 4, s1 5 ---
    manager.link.set_lid(3);
    const auto give = [&](const std::vector<unsigned>& path, unsigned port, std::uint16_t lid) {
        return change_port(manager, path, port, [lid](std::uint8_t* d) {
            hca_set(d, HCA_PORT_LID, lid);
            hca_set(d, HCA_PORT_SM_LID, 3);
        });
    };
    CHECK(give(to_a, 1, 0xc000) == HCA_MAD_BAD_FIELD);
    CHECK(agent_a.port.lid == 0);
    CHECK(give(to_a, 1, 1) == 0);
    CHECK(give(to_b, 1, 2) == 0);
    CHECK(give(to_s0, 0, 4) == 0);
    CHECK(give(to_s1, 0, 5) == 0);
    CHECK(agent_a.port.lid == 1);
    CHECK(agent_b.port.sm_lid == 3);
    CHECK(host.adapters[1]->network.link.lid() == 2);
    for (const auto& [path, ports] :
         {std::pair{to_s0, std::array<unsigned, 6>{255, 3, 2, 1, 0, 2}}, {to_s1, {255, 1, 2, 1, 1, 0}}}) {
        auto table = directed(HCA_MAD_SET, HCA_MAD_FORWARDING, 0, path);
        std::fill_n(&table[64], 64, network::network_switch::no_port);
        for (unsigned lid = 0; lid < ports.size(); ++lid) table[64 + lid] = static_cast<std::uint8_t>(ports[lid]);
        const auto d = ask(manager, packet_of(table));
        REQUIRE(d);
        CHECK(std::equal(&table[64], &table[128], &(*d)[64]));
    }

    // --- lanes, arbitration, P_Keys of an adapter ---
    auto lanes = directed(HCA_MAD_SET, HCA_MAD_SL_TO_VL, 0, to_a);
    for (unsigned i = 0; i < 8; ++i) lanes[64 + i] = static_cast<std::uint8_t>(0x10 + i % 2);
    REQUIRE(ask(manager, packet_of(lanes)));
    CHECK(host.adapters[0]->network.link.sl_to_vl[4] == 1);
    CHECK(host.adapters[0]->network.link.sl_to_vl[7] == 1);
    CHECK(get(to_a, HCA_MAD_SL_TO_VL)[65] == 0x11);
    auto weights = directed(HCA_MAD_SET, HCA_MAD_ARBITRATION, 1u << 16, to_a);
    weights[64] = 1;
    weights[65] = 77;
    REQUIRE(ask(manager, packet_of(weights)));
    REQUIRE(!host.adapters[0]->network.link.arbiter.low().empty());
    CHECK(host.adapters[0]->network.link.arbiter.low()[0].weight == 77);
    CHECK(get(to_a, HCA_MAD_ARBITRATION, 1u << 16)[65] == 77);
    auto keys = directed(HCA_MAD_SET, HCA_MAD_PKEY_TABLE, 0, to_a);
    keys[64] = keys[65] = 0xff;
    keys[66] = 0x80;
    keys[67] = 0x05;
    REQUIRE(ask(manager, packet_of(keys)));
    CHECK(agent_a.port.pkeys[1] == 0x8005);
    for (auto& d : {&agent_a, &agent_b}) CHECK(d->port.pkeys[0] == 0xffff);

    // --- GUIDs: the first one is the port's own; the name, which no manager changes ---
    const auto own = agent_a.port.guids.at(0);
    auto guids = directed(HCA_MAD_SET, HCA_MAD_GUID_INFO, 0, to_a);
    hca_put64(&guids[64], 0x1111);
    hca_put64(&guids[72], 0x2222);
    REQUIRE(ask(manager, packet_of(guids)));
    CHECK(agent_a.port.guids[0] == own);
    CHECK(agent_a.port.guids[1] == 0x2222);
    const auto kept = get(to_a, HCA_MAD_GUID_INFO);
    CHECK(hca_get64(&kept[64]) == own);
    CHECK(hca_get64(&kept[72]) == 0x2222);
    const auto beyond = static_cast<std::uint32_t>((agent_a.port.guids.size() + 7) / 8);
    const auto refused = ask(manager, packet_of(directed(HCA_MAD_GET, HCA_MAD_GUID_INFO, beyond, to_a)));
    REQUIRE(refused);
    CHECK((hca_get(refused->data(), HCA_MAD_STATUS) & 0x1f) == HCA_MAD_BAD_FIELD);
    const auto name = get(to_a, HCA_MAD_NODE_DESCRIPTION);
    CHECK(std::string(reinterpret_cast<const char*>(&name[64])) == agent_a.node.description);
    const auto renamed = ask(manager, packet_of(directed(HCA_MAD_SET, HCA_MAD_NODE_DESCRIPTION, 0, to_a)));
    REQUIRE(renamed);
    CHECK((hca_get(renamed->data(), HCA_MAD_STATUS) & 0x1f) == HCA_MAD_BAD_ATTRIBUTE);
    CHECK(!agent_a.node.description.empty());

    // --- ports come up by Armed, at both ends of each link ---
    const auto state = [&](const std::vector<unsigned>& path, unsigned port, unsigned wanted) {
        return change_port(manager, path, port, [wanted](std::uint8_t* d) { hca_set(d, HCA_PORT_STATE, wanted); });
    };
    CHECK(state(to_a, 1, 4) == HCA_MAD_BAD_FIELD);
    CHECK(state(to_a, 1, 3) == 0);
    CHECK(state(to_a, 1, 2) == 0);  // means nothing
    CHECK(hca_get(&get(to_a, HCA_MAD_PORT_INFO, 1)[64], HCA_PORT_STATE) == 3);
    for (const unsigned wanted : {3u, 4u}) {
        for (const unsigned port : {1u, 2u, 3u}) CHECK(state(to_s0, port, wanted) == 0);
        for (const unsigned port : {1u, 2u}) CHECK(state(to_s1, port, wanted) == 0);
        CHECK(state(to_b, 1, wanted) == 0);
    }
    CHECK(host.adapters[0]->network.link.state() == network::port_state::armed);
    CHECK(state(to_a, 1, 4) == 0);
    CHECK(agent_a.port.state == 4);

    // --- and now data goes from a to b ---
    std::mt19937 random(3);
    const auto ra = a.region(20'000), rb = b.region(20'000);
    fill(a, ra, random);
    fill(b, rb, random);
    bench.connect();
    send_request write;
    write.opcode = HCA_OP_WRITE;
    write.list = {{5, ra.key, 9'000}};
    write.remote = 1'000;
    write.rkey = rb.key;
    qa->post(write);
    bench.good_a();
    CHECK(read(b, rb, 1'000, 9'000) == read(a, ra, 5, 9'000));
    CHECK(host.adapters[0]->network.loopback_packets.total() == 0);

    // --- by LID, the adapter's agent answers, too; for performance management by queue pair 1 ---
    manager.link.set_state(network::port_state::active);
    network::mad d{};
    d[0] = d[2] = 1;
    d[1] = HCA_MAD_SUBNET;
    d[3] = HCA_MAD_GET;
    hca_set(d.data(), HCA_MAD_ATTRIBUTE, HCA_MAD_NODE_INFO);
    auto response = ask(manager, packet_of(d, 2, 3));
    REQUIRE(response);
    CHECK(hca_get_long(&(*response)[64], HCA_NODE_PORT_GUID) == agent_b.port.guids[0]);
    CHECK(manager.received[0].packet->lrh.slid == 2);
    d[1] = HCA_MAD_PERFORMANCE;
    hca_set(d.data(), HCA_MAD_ATTRIBUTE, HCA_MAD_PORT_COUNTERS);
    hca_set(&d[64], HCA_COUNTER_PORT, 1);
    auto counters = packet_of(d, 2, 3);
    counters->bth.destination_qp = 1;
    counters->deth = {0x8001'0000, 77};
    response = ask(manager, counters);
    REQUIRE(response);
    CHECK(manager.received[0].packet->bth.destination_qp == 77);
    CHECK(hca_get(&(*response)[64], HCA_COUNTER_PACKETS_RECEIVED) >= 5);
    d[3] = HCA_MAD_SET;
    hca_set(&d[64], HCA_COUNTER_SELECT, 0xffff);
    counters = packet_of(d, 2, 3);
    counters->bth.destination_qp = 1;
    counters->deth = {0x8001'0000, 77};
    response = ask(manager, counters);
    REQUIRE(response);
    CHECK(hca_get(response->data(), HCA_MAD_STATUS) == 0);
    CHECK(hca_get(&(*response)[64], HCA_COUNTER_PACKETS_RECEIVED) == 0);
    // Responses and traps get no response.
    d[1] = HCA_MAD_SUBNET;
    d[3] = HCA_MAD_GET_RESPONSE;
    CHECK(!ask(manager, packet_of(d, 2, 3), 20'000'000));

    // --- a manager that sets a port down lets its link train: it has to be armed and activated anew ---
    CHECK(state(to_s1, 2, 1) == 0);
    a.run(50'000'000);
    CHECK(agent_b.port.state == 2);
    CHECK(hca_get(&get(to_s1, HCA_MAD_SWITCH_INFO)[64], HCA_SWITCH_STATE_CHANGE) == 1);
}
