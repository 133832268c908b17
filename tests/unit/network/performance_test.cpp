// SPDX-License-Identifier: Apache-2.0
// Performance management of switches, as perfquery and ibqueryerrors ask for it: by LID, queue pair 1.
#include "unit/network/mad_bench.h"

#include "network/subnet.h"
#include "network/switch_agent.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

/// a — s0 — s1 — b
subnet_params chain() {
    subnet_params p;
    for (const auto* s : {"s0", "s1"}) {
        p.switches.emplace_back();
        p.switches.back().name = s;
    }
    for (const auto& [from, to] : {std::pair{"a", "s0"}, {"s0", "s1"}, {"s1", "b"}}) {
        p.links.emplace_back();
        p.links.back().from = from;
        p.links.back().to = to;
    }
    return p;
}

struct machines {
    calendar timeline;
    adapter a{"a"}, b{"b"};
    subnet net{"net", chain(), {{"a", &a.link}, {"b", &b.link}}};
    machines() { net.start(); }
};

machines& all() {
    static machines m;
    return m;
}

constexpr std::uint32_t general_qkey = 0x8001'0000;
constexpr unsigned all_counters = 0xffff, every_port = 255;

mad request(unsigned method, unsigned attribute, unsigned port, unsigned select = 0) {
    mad d{};
    d[0] = d[2] = 1;
    d[1] = HCA_MAD_PERFORMANCE;
    d[3] = static_cast<std::uint8_t>(method);
    hca_set(d.data(), HCA_MAD_ATTRIBUTE, attribute);
    hca_set(&d[64], HCA_COUNTER_PORT, port);
    hca_set(&d[64], HCA_COUNTER_SELECT, select);
    return d;
}

std::optional<mad> ask(unsigned number, const mad& d) {
    auto& a = all().a;
    a.received.clear();
    const auto p = packet_of(d, all().net.switches[number]->agent->lid(), a.link.lid());
    p->bth.destination_qp = 1;
    p->deth = {general_qkey, 77};
    a.send(p);
    run_all();
    if (a.received.empty()) return std::nullopt;
    REQUIRE(a.received.size() == 1);
    CHECK(a.received[0].packet->bth.destination_qp == 77);
    CHECK(a.received[0].lane != management_lane);
    mad response;
    std::copy_n(a.received[0].packet->payload.data(), response.size(), response.begin());
    return response;
}

std::uint32_t count(unsigned number, unsigned port, unsigned field) {
    const auto response = ask(number, request(HCA_MAD_GET, HCA_MAD_PORT_COUNTERS, port));
    REQUIRE(response);
    REQUIRE(hca_get(response->data(), HCA_MAD_STATUS) == 0);
    return hca_get(&(*response)[64], field);
}

void clear() {
    for (unsigned s = 0; s < 2; ++s)
        REQUIRE(ask(s, request(HCA_MAD_SET, HCA_MAD_PORT_COUNTERS, every_port, all_counters)));
}

void to_b(unsigned packets, std::size_t bytes = 100) {
    for (unsigned i = 0; i < packets; ++i) all().a.send(make_datagram(all().b.link.lid(), bytes, i));
    run_all();
    all().b.received.clear();
}

struct choose final : parameter_visitor {
    std::string name, value;
    choose(std::string n, std::string v) : name(std::move(n)), value(std::move(v)) {}
    void visit(parameter& p) override {
        if (name == p.name) p.parse(value);
    }
    bool enter(const char*, const char*) override { return true; }
    void leave() override {}
    std::size_t enter_list(const char*, const char*, std::size_t size) override { return size; }
    void enter_item(std::size_t) override {}
    void leave_list() override {}
};

void inject(fault& kind, const std::string& name, const std::string& value) {
    choose c(name, value);
    auto order = kind.order();
    order->describe(c);
    order->apply();
}

}  // namespace

TEST_CASE("ClassPortInfo says what is there") {
    const auto response = ask(0, request(HCA_MAD_GET, HCA_MAD_CLASS_PORT_INFO, 0));
    REQUIRE(response);
    CHECK((*response)[3] == HCA_MAD_GET_RESPONSE);
    CHECK(hca_get(response->data(), HCA_MAD_STATUS) == 0);
    CHECK((*response)[64] == 1);
    CHECK(hca_get(&(*response)[64], HCA_CLASS_CAPABILITIES) == 0x500);
}

TEST_CASE("data and packets are counted, and a Set clears what it selects") {
    clear();
    to_b(10);
    CHECK(count(1, 2, HCA_COUNTER_PACKETS_SENT) == 10);
    CHECK(count(1, 2, HCA_COUNTER_PACKETS_RECEIVED) == 0);
    const auto words = count(1, 2, HCA_COUNTER_SENT);
    CHECK(words == 10 * (8 + 12 + 8 + 100 + 4) / 4);  // LRH, BTH, DETH, payload, ICRC; neither delimiters nor VCRC
    clear();
    to_b(10);
    CHECK(all().b.link.errors.octets_received % (8 + 12 + 8 + 100 + 4) == 0);
    CHECK(count(1, 1, HCA_COUNTER_RECEIVED) >= words);
    CHECK(ask(1, request(HCA_MAD_SET, HCA_MAD_PORT_COUNTERS, 2, 1u << 14)));  // packets sent
    CHECK(count(1, 2, HCA_COUNTER_PACKETS_SENT) == 0);
    CHECK(count(1, 2, HCA_COUNTER_SENT) == words);
    // A Set may write any value, and statistics stay.
    auto set = request(HCA_MAD_SET, HCA_MAD_PORT_COUNTERS, 2, 1u << 14);
    hca_set(&set[64], HCA_COUNTER_PACKETS_SENT, 0xffff'fffe);
    REQUIRE(ask(1, set));
    to_b(5);
    CHECK(count(1, 2, HCA_COUNTER_PACKETS_SENT) == 0xffff'ffff);  // it stays at its highest
    CHECK(all().net.switches[1]->ports[1]->packets_sent.total() >= 15);
}

TEST_CASE("the extended counters are apart from the others") {
    constexpr unsigned extended = HCA_MAD_PORT_COUNTERS_EXTENDED;
    REQUIRE(ask(1, request(HCA_MAD_SET, extended, 2, 0xff)));
    to_b(7);
    clear();
    const auto response = ask(1, request(HCA_MAD_GET, extended, 2));
    REQUIRE(response);
    CHECK(hca_get_long(&(*response)[64], HCA_EXTENDED_PACKETS_SENT) == 7);
    CHECK(hca_get_long(&(*response)[64], HCA_EXTENDED_SENT) > 7 * 100 / 4);
}

TEST_CASE("corrupted packets: symbol and receive errors where it happened, remote errors behind") {
    clear();
    inject(all().net.switches[0]->ports[1]->faults.corrupt, "count", "3");  // from s0 to s1, which cuts through
    to_b(10, 2000);
    CHECK(count(1, 1, HCA_COUNTER_SYMBOL_ERRORS) == 3);
    CHECK(count(1, 1, HCA_COUNTER_RECEIVE_ERRORS) == 3);
    CHECK(count(1, 1, HCA_COUNTER_REMOTE_PHYSICAL_ERRORS) == 0);
    CHECK(all().b.link.errors.remote_physical_errors == 3);
    CHECK(all().b.link.errors.symbol_errors == 0);
    CHECK(count(0, 1, HCA_COUNTER_SYMBOL_ERRORS) == 0);
}

TEST_CASE("what is not sent is discarded, what has no way on is a relay error") {
    clear();
    inject(all().net.switches[0]->ports[1]->faults.drop, "count", "4");
    to_b(10);
    CHECK(count(0, 2, HCA_COUNTER_TRANSMIT_DISCARDS) == 4);
    CHECK(count(0, every_port, HCA_COUNTER_TRANSMIT_DISCARDS) == 4);
    all().a.send(make_datagram(0x4000, 100));
    run_all();
    CHECK(count(0, 1, HCA_COUNTER_RELAY_ERRORS) == 1);
    // A link that is down.
    inject(all().net.switches[1]->ports[1]->faults.down, "lasting", "100 us");
    to_b(3);
    CHECK(count(1, 2, HCA_COUNTER_LINK_DOWNS) == 1);
    CHECK(count(1, 2, HCA_COUNTER_TRANSMIT_DISCARDS) == 3);
}

TEST_CASE("what makes no sense has a status") {
    const auto status = [](const mad& d) {
        const auto response = ask(0, d);
        REQUIRE(response);
        return hca_get(response->data(), HCA_MAD_STATUS);
    };
    CHECK(status(request(HCA_MAD_GET, HCA_MAD_PORT_COUNTERS, 3)) == HCA_MAD_BAD_FIELD);
    CHECK(status(request(HCA_MAD_GET, 0x15, 1)) == HCA_MAD_BAD_ATTRIBUTE);
    CHECK(status(request(HCA_MAD_SET, HCA_MAD_CLASS_PORT_INFO, 1)) == HCA_MAD_BAD_ATTRIBUTE);
    CHECK(status(request(0x12, HCA_MAD_PORT_COUNTERS, 1)) == HCA_MAD_BAD_METHOD);
    auto other = request(HCA_MAD_GET, HCA_MAD_PORT_COUNTERS, 1);
    other[1] = 0x07;
    CHECK(status(other) == HCA_MAD_BAD_CLASS);
    CHECK(count(0, 0, HCA_COUNTER_PACKETS_SENT) == 0);  // the switch's own port
    CHECK(!ask(0, request(HCA_MAD_GET_RESPONSE, HCA_MAD_PORT_COUNTERS, 1)));
}
