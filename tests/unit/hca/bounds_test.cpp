// SPDX-License-Identifier: Apache-2.0
// What software may have the adapter hold is bounded: packets to itself that no one takes, context memory, tables.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

TEST_CASE("what software may have the adapter hold") {
    calendar timeline;
    two_adapter_bench bench;
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    const auto ra = a.region(4096);
    test_qp::settings ud;
    ud.type = HCA_QP_UD;
    ud.log_sq = 12;
    ud.mtu = 1;
    bench.connect(ud);
    send_request s;
    s.list = {{0, ra.key, 8}};
    s.lid = 1;  // itself, which has posted no receive: each packet reads the doorbell record
    s.qpn = qa->number;
    s.qkey = ud.qkey;
    s.signalled = false;
    auto& hca = *host.adapters[0];
    auto& memory = host.memory;
    memory.slow_from = static_cast<std::uint64_t>(a.record(test_qp::uar, qa->record) - a.at(0)) & ~std::uint64_t{4095};
    memory.slow_bytes = 4096;
    memory.slow_by = 50'000'000;
    constexpr unsigned count = 4000;
    for (unsigned i = 0; i < count; i += 100) qa->post(std::vector<send_request>(100, s));
    a.run(200'000'000);
    const auto looped = hca.network.loopback_packets.total();
    CHECK(looped >= 1024);
    CHECK(looped <= 1024 + 10);
    memory.slow_bytes = 0;
    a.run(4'000'000'000);
    CHECK(hca.network.loopback_packets.total() == count);
    CHECK(hca.responder.not_ready.total() == count);
    CHECK(hca.requester.messages.total() == count);

    // --- context memory, and tables beyond the limits ---
    CHECK(a.command(HCA_SET_ICM_SIZE, 0, 0, std::uint64_t{1} << 40, 0).status == HCA_BAD_SYSTEM_STATE);
    REQUIRE(a.command(HCA_CLOSE_HCA) == HCA_OK);
    const std::pair<unsigned, unsigned> beyond[] = {
        {HCA_INIT_LOG_QPS, 17}, {HCA_INIT_LOG_CQS, 17}, {HCA_INIT_LOG_MPTS, 18}, {HCA_INIT_LOG_MCGS, 14}};
    for (const auto& [field, value] : beyond) {
        hca_set(a.in(), field, value);
        CHECK(a.command(HCA_INIT_HCA) == HCA_EXCEEDS_LIMIT);
    }
    auto* i = a.in();
    for (const auto& [field, value] : beyond) hca_set(i, field, value - 1);
    CHECK(a.command(HCA_INIT_HCA) == HCA_OK);
}
