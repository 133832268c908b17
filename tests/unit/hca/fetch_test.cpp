// SPDX-License-Identifier: Apache-2.0
// How entries of work queues reach the adapter: several reads at a time, and receives ahead of messages.
#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

constexpr ticks host_read = 400'000;  // of the host's memory by an adapter, at least

/// Time until `done`, of a machine that runs.
template <class Done>
ticks time_until(driver& d, Done done) {
    const auto begin = calendar::current().now();
    while (!done()) {
        d.run(1'000);
        REQUIRE(calendar::current().now() < begin + 100'000'000);
    }
    return calendar::current().now() - begin;
}

std::vector<send_request> writes(const driver::memory_region& ra, const driver::memory_region& rb, unsigned count) {
    std::vector<send_request> all(count);
    for (unsigned i = 0; i < count; ++i) {
        all[i].opcode = HCA_OP_WRITE;
        all[i].list = {{i, ra.key, 1}};
        all[i].remote = i;
        all[i].rkey = rb.key;
    }
    return all;
}

/// Time until the last of so many writes that are posted together has arrived.
ticks time_of_writes(two_adapter_bench& bench, const driver::memory_region& ra, const driver::memory_region& rb,
                     unsigned count) {
    std::memset(bench.b.byte(rb, 0), 0, 16);
    bench.qa->post(writes(ra, rb, count));
    const auto time = time_until(bench.a, [&] { return *bench.b.byte(rb, count - 1) == count; });
    for (unsigned i = 0; i < count; ++i) {
        bench.good_a();
        CHECK(*bench.b.byte(rb, i) == i + 1);
    }
    return time;
}

/// Time from a message's posting until its receive completes, for `count` messages with so many receives posted ahead.
std::vector<ticks> times_of_messages(two_adapter_bench& bench, const driver::memory_region& ra,
                                     const driver::memory_region& rb, unsigned count, unsigned ahead) {
    std::vector<ticks> times;
    for (unsigned i = 0; i < ahead; ++i) bench.qb->post_receive({{0, rb.key, 64}});
    for (unsigned i = 0; i < count; ++i) {
        send_request m;
        m.list = {{0, ra.key, 8}};
        bench.qa->post(m);
        std::optional<completion> c;
        times.push_back(time_until(bench.b, [&] { return (c = poll(bench.b, *bench.cq_b, 0)).has_value(); }));
        CHECK(!c->error());
        bench.good_a();
        bench.qb->post_receive({{0, rb.key, 64}});
        bench.a.run(5'000'000);
    }
    return times;
}

}  // namespace

TEST_CASE("entries are fetched several reads at a time, and receives ahead of messages") {
    calendar timeline;
    two_adapter_bench bench;
    bench.connect();
    const auto ra = bench.a.region(4096), rb = bench.b.region(4096);
    for (unsigned i = 0; i < 16; ++i) *bench.a.byte(ra, i) = static_cast<std::uint8_t>(i + 1);

    // Entries of 128 bytes, four a fetch, and the ring ends in between: five fetches for 16 of them, which one after
    // the other take four reads more than one.
    auto& fetches = bench.host.adapters[0]->send_queues.fetches;
    time_of_writes(bench, ra, rb, 1);  // translations are cached from now on
    const auto one = time_of_writes(bench, ra, rb, 1);
    const auto before = fetches.total();
    const auto sixteen = time_of_writes(bench, ra, rb, 16);
    INFO(one << " and " << sixteen << " ps");
    CHECK(fetches.total() - before == 5);
    CHECK(sixteen < one + 2 * host_read);

    // A fetch that is overtaken by those behind it: entries stay in order.
    bench.connect({}, 0x26);
    const auto delay_first = [&] {
        auto& memory = bench.host.memory;
        const auto* entry = bench.a.byte(bench.qa->memory, bench.qa->slot(bench.qa->posted));
        memory.slow_from = static_cast<std::uint64_t>(entry - memory.bytes.data());
        memory.slow_bytes = 64;
        memory.slow_by = 5'000'000;
    };
    delay_first();
    CHECK(time_of_writes(bench, ra, rb, 16) > 5'000'000);
    // The queue pair ends in the error state meanwhile: all entries are flushed.
    delay_first();
    bench.qa->post(writes(ra, rb, 16));
    bench.a.run(3'000'000);
    REQUIRE(bench.a.command(HCA_2ERR_QP, bench.qa->number) == HCA_OK);
    bench.a.run(10'000'000);
    for (unsigned i = 0; i < 16; ++i) {
        const auto c = bench.wait(bench.a, *bench.cq_a);
        REQUIRE(c);
        CHECK(c->error());
    }
    bench.host.memory.slow_bytes = 0;

    // With one receive at a time each message waits for the doorbell record and for its entry, with many only the
    // first.
    bench.connect({}, 0x22);
    const auto single = times_of_messages(bench, ra, rb, 6, 1);
    bench.connect({}, 0x24);
    const auto many = times_of_messages(bench, ra, rb, 40, 12);
    for (std::size_t i = 1; i < single.size(); ++i) CHECK(single[i] > many.back() + host_read);
    CHECK(many[0] > many.back() + 2 * host_read);
    for (std::size_t i = 1; i < many.size(); ++i) CHECK(many[i] < many.back() + host_read / 4);

    // Receives are posted while the doorbell record is being read and a message waits for it: each takes its own entry.
    bench.connect({}, 0x28);
    bench.qb->post_receive({{0, rb.key, 64}});
    std::vector<send_request> burst(8);
    for (unsigned i = 0; i < burst.size(); ++i) burst[i].list = {{i, ra.key, 1}};
    bench.qa->post(burst);
    auto& consumed = bench.host.adapters[1]->receive_queues.consumed;
    const auto first = consumed.total();
    time_until(bench.b, [&] { return consumed.total() == first + 1; });
    for (unsigned i = 1; i < 16; ++i) bench.qb->post_receive({{100 * i, rb.key, 64}});
    for (unsigned i = 0; i < 16; ++i) {
        if (i == burst.size()) bench.qa->post(burst);
        bench.good_a();
        CHECK(bench.good_b().wqe == i << bench.qb->log_stride);
        CHECK(*bench.b.byte(rb, 100 * i) == i % burst.size() + 1);
    }
}
