// SPDX-License-Identifier: Apache-2.0
// Subnet administration where a cable joins two adapters and there is no switch that could answer: the first adapter
// does, for the other one and for itself.
#include "network/administration.h"

#include "network/subnet.h"
#include "two_adapter_bench.h"
#include "unit/network/mad_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

struct responses final : network::packet_tap {
    std::vector<network::mad> sent;
    void packet_sent(const network::port&, const network::packet& p, ticks) override {
        if (p.payload.length != HCA_MAD_SIZE) return;
        sent.emplace_back();
        std::copy_n(p.payload.data(), HCA_MAD_SIZE, sent.back().begin());
    }
};

network::packet_ptr path_request(std::uint16_t manager, std::uint16_t own, const char* from, const char* to) {
    network::mad d{};
    d[0] = 1;
    d[1] = HCA_SA_CLASS;
    d[2] = 2;
    d[3] = HCA_MAD_GET;
    hca_set(d.data(), HCA_MAD_ATTRIBUTE, HCA_SA_PATH);
    hca_set_long(d.data(), HCA_MAD_TRANSACTION, 7);
    hca_set_long(d.data(), HCA_SA_COMPONENTS, HCA_SA_PATH_BY_DGID | HCA_SA_PATH_BY_SGID);
    for (const auto& [at, name] : {std::pair{unsigned{HCA_SA_PATH_SGID}, from}, {unsigned{HCA_SA_PATH_DGID}, to}}) {
        hca_put64(&d[HCA_SA_DATA + at], 0xfe80'0000'0000'0000);
        hca_put64(&d[HCA_SA_DATA + at + 8], network::adapter_guid(name) + 1);
    }
    const auto p = fabricvp::test::packet_of(d, manager, own);
    p->bth.destination_qp = 1;
    p->deth = {0x8001'0000, 1};
    return p;
}

}  // namespace

TEST_CASE("an adapter answers for subnet administration where there is no switch") {
    calendar timeline;
    std::optional<network::subnet> net;
    two_adapter_bench bench({}, [&](network::port& a, network::port& b) {
        network::subnet_params p;
        p.links.emplace_back();
        p.links.back().from = "a";
        p.links.back().to = "b";
        net.emplace("net", p, std::vector<network::subnet::adapter>{{"a", &a}, {"b", &b}});
    });
    auto &a = bench.host.adapters[0]->network, &b = bench.host.adapters[1]->network;
    REQUIRE(net->administration);
    CHECK(b.link.manager_lid() == a.link.lid());
    CHECK(a.link.manager_lid() == a.link.lid());

    responses from_a;
    a.link.tap = &from_a;
    b.send(path_request(a.link.lid(), b.link.lid(), "b", "a"));
    bench.a.run(100'000'000);
    REQUIRE(from_a.sent.size() == 1);
    const auto& found = from_a.sent[0];
    CHECK(hca_get(found.data(), HCA_MAD_METHOD) == HCA_MAD_GET_RESPONSE);
    CHECK(hca_get(found.data(), HCA_MAD_STATUS) == 0);
    CHECK(hca_get_long(found.data(), HCA_MAD_TRANSACTION) == 7);
    CHECK(hca_get(&found[HCA_SA_DATA], HCA_SA_PATH_SLID) == b.link.lid());
    CHECK(hca_get(&found[HCA_SA_DATA], HCA_SA_PATH_DLID) == a.link.lid());

    // The one that answers asks itself: request and response stay within the adapter.
    a.send(path_request(a.link.lid(), a.link.lid(), "a", "b"));
    bench.a.run(100'000'000);
    CHECK(from_a.sent.size() == 1);
    CHECK(a.loopback_packets.total() == 2);
    CHECK(net->administration->requests.total() == 2);
    CHECK(net->administration->refused.total() == 0);
    a.link.tap = nullptr;
}
