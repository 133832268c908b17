// SPDX-License-Identifier: Apache-2.0
// Connections whose path has a global route: each packet, responses among them, carries the global header that the
// queue pair's context describes.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

struct sent_packets final : network::packet_tap {
    std::vector<network::packet_headers> seen;
    std::vector<bool> global;
    void packet_sent(const network::port&, const network::packet& p, ticks) override {
        seen.push_back(p);
        global.push_back(p.lrh.global);
    }
};

}  // namespace

TEST_CASE("a connection with a global route") {
    calendar timeline;
    two_adapter_bench bench;
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    const auto guid_a = host.adapters[0]->management.port.guids.at(0),
               guid_b = host.adapters[1]->management.port.guids.at(0);
    test_qp::settings of_a, of_b;
    of_a.global_to = guid_b;
    of_b.global_to = guid_a;
    bench.connect(of_a, 0x20, &of_b);
    sent_packets from_a, from_b;
    host.adapters[0]->network.link.tap = &from_a;
    host.adapters[1]->network.link.tap = &from_b;

    std::mt19937 random(11);
    const auto ra = a.region(20'000, 1, driver::all_rights, 0x10'0000),
               rb = b.region(20'000, 1, driver::all_rights, 0x20'0000);
    fill(a, ra, random);
    fill(b, rb, random);
    send_request r;
    r.opcode = HCA_OP_WRITE;
    r.list = {{ra.address, ra.key, 5000}};
    r.remote = rb.address + 3;
    r.rkey = rb.key;
    qa->post(r);
    bench.good_a();
    CHECK(read(b, rb, rb.address + 3, 5000) == read(a, ra, ra.address, 5000));
    r.opcode = HCA_OP_READ;
    r.list = {{ra.address + 7000, ra.key, 9000}};
    r.remote = rb.address;
    qa->post(r);
    bench.good_a();
    CHECK(read(a, ra, ra.address + 7000, 9000) == read(b, rb, rb.address, 9000));
    host.adapters[0]->network.link.tap = host.adapters[1]->network.link.tap = nullptr;

    CHECK(from_a.seen.size() == 4);  // a write of three packets, a request to read
    CHECK(from_b.seen.size() >= 6);  // acknowledgements, and five packets of a response
    for (const auto& [sent, source, destination] :
         {std::tuple{&from_a, guid_a, guid_b}, std::tuple{&from_b, guid_b, guid_a}})
        for (std::size_t i = 0; i < sent->seen.size(); ++i) {
            const auto& grh = sent->seen[i].grh;
            CHECK(sent->global[i]);
            CHECK(grh.hop_limit == 5);
            CHECK(grh.traffic_class == 0x12);
            CHECK(grh.flow_label == 0xabcde);
            CHECK(hca_get64(grh.source.data()) == 0xfe80'0000'0000'0000);
            CHECK(hca_get64(grh.source.data() + 8) == source);
            CHECK(hca_get64(grh.destination.data()) == 0xfe80'0000'0000'0000);
            CHECK(hca_get64(grh.destination.data() + 8) == destination);
        }
}
