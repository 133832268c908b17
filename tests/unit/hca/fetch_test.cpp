// SPDX-License-Identifier: Apache-2.0
// How entries of work queues reach the adapter: several reads at a time, and receives ahead of messages.
#include <memory>

#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

/// Time until all of 16 writes that were posted together have arrived.
ticks time_of_writes(std::uint64_t reads) {
    hca_params p;
    p.send_queues.reads = reads;
    two_adapter_bench bench(p);
    bench.connect();
    const auto ra = bench.a.region(4096), rb = bench.b.region(4096);
    for (unsigned i = 0; i < 16; ++i) *bench.a.byte(ra, i) = static_cast<std::uint8_t>(i + 1);
    const auto begin = calendar::current().now();
    for (unsigned i = 0; i < 16; ++i) {
        send_request r;
        r.opcode = HCA_OP_WRITE;
        r.list = {{i, ra.key, 1}};
        r.remote = i;
        r.rkey = rb.key;
        r.inlined = true;
        bench.qa->post(r);
    }
    while (*bench.b.byte(rb, 15) != 16) {
        bench.a.run(1'000);
        REQUIRE(calendar::current().now() < begin + 100'000'000);
    }
    const auto time = calendar::current().now() - begin;
    for (unsigned i = 0; i < 16; ++i) {
        bench.good_a();
        CHECK(*bench.b.byte(rb, i) == i + 1);
    }
    // Entries of 128 bytes, four a fetch.
    CHECK(bench.host.adapters[0]->send_queues.fetches.total() == 4);
    return time;
}

/// Time from a message's posting until its receive completes, for `count` messages with so many receives posted ahead.
std::vector<ticks> times_of_messages(unsigned count, unsigned ahead) {
    two_adapter_bench bench;
    bench.connect();
    const auto ra = bench.a.region(4096), rb = bench.b.region(4096);
    std::vector<ticks> times;
    for (unsigned i = 0; i < ahead; ++i) bench.qb->post_receive({{64 * i, rb.key, 64}});
    for (unsigned i = 0; i < count; ++i) {
        const auto begin = calendar::current().now();
        send_request m;
        m.list = {{0, ra.key, 8}};
        m.inlined = true;
        bench.qa->post(m);
        std::optional<completion> c;
        while (!(c = poll(bench.b, *bench.cq_b, 0))) {
            bench.a.run(1'000);
            REQUIRE(calendar::current().now() < begin + 100'000'000);
        }
        CHECK(!c->error());
        times.push_back(calendar::current().now() - begin);
        bench.good_a();
        bench.qb->post_receive({{64 * ((i + ahead) % 16), rb.key, 64}});
        bench.a.run(5'000'000);
    }
    return times;
}

constexpr ticks host_read = 400'000;  // of the host's memory by an adapter, at least

}  // namespace

TEST_CASE("a queue pair has several fetches of send entries under way") {
    calendar timeline;
    const auto serial = time_of_writes(1), parallel = time_of_writes(4);
    INFO(serial << " and " << parallel << " ps");
    CHECK(serial > parallel + 2 * host_read);
}

TEST_CASE("receive entries are fetched ahead of messages, as far as software posts ahead") {
    calendar timeline;
    const auto one = times_of_messages(6, 1), many = times_of_messages(40, 12);
    // With one at a time each message waits for the doorbell record and for its entry, with many only the first.
    for (std::size_t i = 1; i < one.size(); ++i) CHECK(one[i] > many.back() + host_read);
    CHECK(many[0] > many.back() + 2 * host_read);
    for (std::size_t i = 1; i < many.size(); ++i) CHECK(many[i] < many.back() + host_read / 4);
}
