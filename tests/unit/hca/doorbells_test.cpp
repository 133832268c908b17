// SPDX-License-Identifier: Apache-2.0
// A flood of doorbells: the adapter holds as many as it says, the rest waits in the buffers of the PCIe link and keeps
// its credits, so that the poster waits as well. None is lost.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

constexpr std::uint64_t max_doorbells = 4;
constexpr unsigned flood = 400;

hca_params slow() {
    hca_params p;
    p.send_queues.doorbell_latency = duration{10'000'000};
    p.send_queues.doorbells = max_doorbells;
    return p;
}

}  // namespace

TEST_CASE("doorbells that come faster than they are served") {
    calendar timeline;
    two_adapter_bench bench(slow());
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    test_qp::settings s;
    s.log_sq = 10;
    bench.connect(s);
    const auto ra = a.region(4096), rb = b.region(8 * flood);
    for (unsigned i = 0; i < 4096; ++i) *a.byte(ra, i) = static_cast<std::uint8_t>(i * 7 + 1);
    const auto& send_queues = host.adapters[0]->send_queues;
    const auto& from_host = host.root.root_port(0);
    const auto stalls = from_host.credit_stalls.total();
    for (unsigned i = 0; i < flood; ++i) {
        send_request w;
        w.opcode = HCA_OP_WRITE;
        w.list = {{8 * (i % 500), ra.key, 8}};
        w.remote = 8 * i;
        w.rkey = rb.key;
        w.signalled = i + 1 == flood;
        qa->post(w);
    }
    bool read = false;
    const auto data = allocate_slice(4);
    host.root.host_read(computer::register_base(0) + HCA_HCR, data, [&read](pcie::request_status) { read = true; });
    const auto begin = timeline.now();
    std::size_t held = 0;
    while (send_queues.posted.total() < flood && timeline.now() < begin + 2'000'000'000) {
        a.run(1'000'000);
        held = std::max(held, send_queues.held());
        if (read) CHECK(send_queues.posted.total() == flood);  // a read comes behind what was written before it
    }
    CHECK(held == max_doorbells);
    CHECK(send_queues.doorbell_queue_full.total() >= flood / max_doorbells - 1);
    CHECK(from_host.credit_stalls.total() > stalls);
    // As many as are held are served in the time that one takes.
    CHECK(timeline.now() - begin > (flood / max_doorbells - 2) * 10'000'000);
    CHECK(timeline.now() - begin < (flood / max_doorbells + 2) * 10'000'000);
    CHECK(bench.good_a().opcode == HCA_OP_WRITE);
    a.run();
    CHECK(read);
    for (unsigned i = 0; i < flood; ++i) CHECK(std::memcmp(b.byte(rb, 8 * i), a.byte(ra, 8 * (i % 500)), 8) == 0);

    // A reset clears those that are held.
    for (unsigned i = 0; i + 1 < max_doorbells; ++i)
        a.doorbell(test_qp::uar, HCA_UAR_SEND, 1u << 24 | (flood + i) << 8 | HCA_OP_NOP, qa->number << 8 | 1);
    a.run(3'000'000);
    CHECK(send_queues.held() == max_doorbells - 1);
    a.write32(HCA_RESET, 1);
    a.run(3'000'000);
    CHECK(send_queues.held() == 0);
    CHECK(a.command(HCA_QUERY_FW) == HCA_OK);
}
