// SPDX-License-Identifier: Apache-2.0
// GPUs that read and write each other's memories through switches.
#include "unit/fabric/gpu_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;
using operation = atomic_extension::operation;

namespace {

struct timed {
    calendar timeline;
};
struct bench : timed, linked_gpus {
    bench() : linked_gpus("net", two_clusters()) {}
    static bench& fresh() {
        static bench b;
        b.linked_gpus::fresh();
        return b;
    }
};

constexpr std::uint64_t at = 0x4000'0000'0000 >> 8 | 0x8000'0000;  // some virtual address
constexpr std::uint64_t offset = 0x40'0000;                        // some place in a memory

void share(bench& b, unsigned home, unsigned flags = GPU_PTE_READ | GPU_PTE_WRITE) { b.share(home, at, offset, flags); }

}  // namespace

TEST_CASE("every GPU reads and writes every other's memory") {
    auto& b = bench::fresh();
    for (unsigned home = 0; home < 4; ++home)
        for (unsigned g = 0; g < 4; ++g) b[g].map(at + home * 4096, b[home].base() | offset);
    for (unsigned home = 0; home < 4; ++home)
        for (unsigned g = 0; g < 4; ++g) b[g].store(0, at + home * 4096 + g * 64, 1000 * home + g);
    for (unsigned home = 0; home < 4; ++home)
        for (unsigned g = 0; g < 4; ++g) {
            CHECK(b[home].peek<std::uint32_t>(offset + g * 64) == 1000 * home + g);
            for (unsigned reader = 0; reader < 4; ++reader)
                CHECK(b[reader].load(1, at + home * 4096 + g * 64) == 1000 * home + g);
        }
    // Four lines of each of the others, and the walk went through local tables.
    for (unsigned g = 0; g < 4; ++g) {
        CHECK(b.port(g).same_cluster.reads.value() == 4);
        CHECK(b.port(g).other_cluster.reads.value() == 8);
        CHECK(b.port(g).same_cluster.writes.value() == 1);
        CHECK(b.port(g).other_cluster.writes.value() == 2);
        CHECK(b.port(g).incoming_reads.value() == 12);
        CHECK(b.port(g).incoming_writes.value() == 3);
        CHECK(b.port(g).local_reads.path().size() > 0);
        CHECK(b.port(g).other_cluster.needing[0].value() == 8);  // four bytes of each line
        CHECK(b.port(g).other_cluster.page_table_reads.value() == 0);
    }
}

TEST_CASE("a remote load takes the local time, and the way there and back") {
    auto& b = bench::fresh();
    b[1].map(at, b[1].base() | offset);
    b[0].map(at, b[1].base() | offset);
    b[2].map(at, b[1].base() | offset);
    b[1].load(0, at);  // into L2
    b[0].load(0, at + 128);
    b[2].load(0, at + 128);  // TLBs are warm
    b[1].load(0, at + 256);
    // Line at + 64 is in L2's row but not in L1; a local load first tells what is behind the fabric.
    b[1].load(0, at + 64);
    const double local = b[1].time(1, [&] {
        b[1].load(1, at);
        return b[1].clients[1]->one(access_kind::read, at + 64);
    }());
    const double near = b[0].time(0, b[0].clients[0]->one(access_kind::read, at + 64));
    const double far = b[2].time(0, b[2].clients[0]->one(access_kind::read, at + 64));
    // Request: flit, wire, pipeline, flit, wire, device. Response: flit, wire, pipeline, 80 bytes, wire, device.
    CHECK(near - local == Approx((0.125 + 1 + 30 + 0.125 + 1 + 5) + (0.125 + 1 + 30 + 0.625 + 1 + 5)).margin(0.01));
    // Two switches and the slow link, which has a byte a 62.5 ps.
    CHECK(far - local ==
          Approx((0.125 + 1 + 30 + 1 + 1 + 30 + 0.125 + 1 + 5) + (0.125 + 1 + 30 + 5 + 1 + 30 + 1 + 5)).margin(0.01));
}

TEST_CASE("page tables in a peer's memory are walked over the fabric") {
    auto& b = bench::fresh();
    // GPU 3 uses GPU 0's tables.
    b[0].map(at, b[0].base() | offset);
    b[0].poke<std::uint32_t>(offset, 77);
    b[3].system.gmmu.set_root(1, b[0].base() | b[0].root);
    CHECK(b[3].load(0, at) == 77);
    CHECK(b.port(3).other_cluster.page_table_reads.value() == 4);
    CHECK(b.port(0).incoming_page_table_reads.value() == 4);
    const auto& slow = b.net.links()[4];
    CHECK(slow.b->sent.of(fabric::packet_class::page_table_request).packets == 4);
    CHECK(slow.a->sent.of(fabric::packet_class::page_table_response).packets == 4);
    CHECK(slow.a->sent.of(fabric::packet_class::page_table_response).bytes == 4 * 12);
    CHECK(snapshot_statistics("net")["net.inter_cluster.page_table_share"] == Approx(8.0 / (8 + 6)));
}

TEST_CASE("remote lines stay in L1 until an acquire") {
    auto& b = bench::fresh();
    share(b, 0);
    b[0].store(0, at, 1);
    CHECK(b[2].load(0, at) == 1);
    b[0].store(0, at, 2);
    CHECK(b[2].load(0, at) == 1);                        // stale, as on hardware
    CHECK(b[2].load(1, at) == 2);                        // another L1 has not seen the old one
    CHECK(b[2].load(0, at, memory_scope::system) == 2);  // bypasses L1, and drops the line there
    b[0].store(0, at, 3);
    CHECK(b[2].load(1, at) == 2);
    b[2].clients[1]->memory.invalidate();
    CHECK(b[2].load(1, at) == 3);
}

TEST_CASE("atomics of all GPUs on one word") {
    auto& b = bench::fresh();
    share(b, 1);
    constexpr unsigned rounds = 50;
    std::vector<bool> seen(4 * 2 * 64 * rounds);
    for (unsigned r = 0; r < rounds; ++r) {
        for (unsigned g = 0; g < 4; ++g)
            for (unsigned u = 0; u < 2; ++u) {
                auto a = b[g].clients[u]->make(access_kind::atomic, 4, u);
                a->operation = operation::add;
                a->scope = memory_scope::system;
                a->mask = ~lane_mask{0};
                a->address.fill(at);
                a->data.fill(1);
                b[g].clients[u]->memory.issue(a);
            }
        memory_machine::run_all();
    }
    for (unsigned g = 0; g < 4; ++g)
        for (auto& c : b[g].clients)
            for (const auto& d : c->done)
                for (const auto v : d.access->data) {
                    REQUIRE(v < seen.size());
                    CHECK_FALSE(seen[v]);
                    seen[v] = true;
                }
    CHECK(b[1].peek<std::uint32_t>(offset) == seen.size());
    // 20 bytes there, 12 back.
    const auto& slow = b.net.links()[4];
    CHECK(slow.b->sent.of(fabric::packet_class::write_request).bytes == 2 * 2 * 64 * rounds * 20);
    CHECK(slow.a->sent.of(fabric::packet_class::read_response).bytes == 2 * 2 * 64 * rounds * 12);
}

TEST_CASE("reservations across GPUs") {
    auto& b = bench::fresh();
    share(b, 2);
    const auto reserve = [&](unsigned g) {
        auto a = b[g].clients[0]->one(access_kind::load_reserved, at);
        b[g].time(0, a);
        return a->data[0];
    };
    const auto conditionally = [&](unsigned g, std::uint64_t value) {
        auto a = b[g].clients[0]->one(access_kind::store_conditional, at, value);
        b[g].time(0, a);
        return a->data[0] == 0;
    };
    reserve(0);
    CHECK(conditionally(0, 5));
    CHECK(b[2].peek<std::uint32_t>(offset) == 5);
    CHECK_FALSE(conditionally(0, 6));  // it was used up
    CHECK(reserve(0) == 5);
    CHECK(reserve(3) == 5);
    CHECK(conditionally(3, 7));
    CHECK_FALSE(conditionally(0, 8));  // GPU 3's store ended it
    reserve(1);
    b[2].store(0, at, 9);
    CHECK_FALSE(conditionally(1, 10));
    reserve(1);
    b[0].store(0, at + 4096 - 64, 1);  // another line
    CHECK(conditionally(1, 11));
    CHECK(b[2].peek<std::uint32_t>(offset) == 11);
}

TEST_CASE("partial stores and compare-and-swap carry their bytes") {
    auto& b = bench::fresh();
    share(b, 3);
    b[3].poke<std::uint64_t>(offset, 0x1111111111111111);
    b[0].time(0, b[0].clients[0]->one(access_kind::write, at + 3, 0xab, 1));
    CHECK(b[3].peek<std::uint64_t>(offset) == 0x11111111ab111111);
    line_listener listener;
    auto r = listener.make(access_kind::atomic, b[3].base() | offset);
    r->operation = operation::compare_swap;
    r->compare = 0x11111111ab111111;
    r->operand = 42;
    b[0].system.router.send(r);
    memory_machine::run_all();
    REQUIRE(listener.responses.size() == 1);
    CHECK(listener.responses[0].operand == 0x11111111ab111111);
    CHECK(b[3].peek<std::uint64_t>(offset) == 42);
    // 28 bytes there: header, address, operand, compare operand.
    CHECK(b.net.terminals[0]->link->sent.of(fabric::packet_class::write_request).bytes == 76 + 28);
}

TEST_CASE("atomics of a wavefront cross the fabric line by line") {
    auto& b = bench::fresh();
    share(b, 3);
    for (unsigned lane = 0; lane < 64; ++lane) b[3].poke<std::uint32_t>(offset + lane * 4, lane);
    auto a = b[0].clients[0]->make(access_kind::atomic, 4);
    a->mask = ~lane_mask{0} << 2;  // the first line lacks two lanes
    for (unsigned lane = 0; lane < 64; ++lane) {
        a->address[lane] = at + lane * 4;
        a->data[lane] = 7 * lane;
    }
    b[0].time(0, a);
    REQUIRE(a->fault == memory_fault::none);
    for (unsigned lane = 2; lane < 64; ++lane) {
        CHECK(a->data[lane] == lane);
        CHECK(b[3].peek<std::uint32_t>(offset + lane * 4) == 8 * lane);
    }
    CHECK(b[3].peek<std::uint32_t>(offset + 4) == 1);
    // Requests carry a line of operands, responses the sectors that have old values.
    const auto& there = b.net.terminals[0]->link->sent.of(fabric::packet_class::write_request);
    CHECK(there.packets == 4);
    CHECK(there.bytes == 4 * 76);
    CHECK(b.net.terminals[3]->link->sent.of(fabric::packet_class::read_response).bytes == 4 * (4 + 64));
}

TEST_CASE("locks of lines are taken through the fabric") {
    auto& b = bench::fresh();
    line_listener listener;
    b[0].system.router.send(listener.make(access_kind::lock, b[1].base() | offset));
    memory_machine::run_all();
    REQUIRE(listener.responses.size() == 1);
    CHECK(listener.responses[0].succeeded);
    CHECK(b[1].system.l2.bank_of(offset).locked(offset));
    b[0].system.router.send(listener.make(access_kind::unlock, b[1].base() | offset));
    memory_machine::run_all();
    CHECK(listener.responses[1].succeeded);
    CHECK_FALSE(b[1].system.l2.bank_of(offset).locked(offset));
}

TEST_CASE("addresses that a peer does not have, and peers that are not there") {
    auto& b = bench::fresh();
    b[0].map(at, b[2].base() | (std::uint64_t{1} << 40));
    b[0].map(at + 4096, std::uint64_t{GPU_PA_GPU0 + 7} << GPU_PA_APERTURE_SHIFT);
    for (const auto address : {at, at + 4096}) {
        auto a = b[0].clients[0]->one(access_kind::read, address);
        b[0].time(0, a);
        CHECK(a->fault == memory_fault::bus_error);
    }
    CHECK(b.port(2).incoming_reads.value() == 1);
}

TEST_CASE("a GPU that is reset fails those that wait for it, and clears what it waited for") {
    auto& b = bench::fresh();
    share(b, 1);
    b[1].map(at + 4096, b[0].base() | offset);
    b[0].load(0, at + 512);
    b[1].load(0, at + 4096 + 512);
    auto a = b[0].clients[0]->one(access_kind::read, at);
    auto own = b[1].clients[0]->one(access_kind::read, at + 4096);
    b[0].clients[0]->memory.issue(a);
    b[1].clients[0]->memory.issue(own);
    auto& c = calendar::current();
    c.run_until(c.now() + 90'000);  // the request is at GPU 1's L2, its response is not back
    REQUIRE(b.port(1).incoming_reads.value() > 0);
    b.port(1).reset();
    b[1].system.reset();
    memory_machine::run_all();
    REQUIRE(b[0].clients[0]->done.size() == 1);
    CHECK(a->fault == memory_fault::bus_error);
    CHECK(b[1].clients[0]->done.empty());
    CHECK(b.port(1).late.value() == 1);
    // Life goes on.
    b[1].system.gmmu.set_root(1, b[1].base() | b[1].root);
    b[1].poke<std::uint32_t>(offset + 64, 5);
    CHECK(b[0].load(0, at + 64) == 5);
    CHECK(b[1].load(0, at + 4096 + 128) == 0);
}

TEST_CASE("a response that no request waits for is counted, and changes nothing") {
    auto& b = bench::fresh();
    share(b, 1);
    b[1].poke<std::uint32_t>(offset, 7);
    CHECK(b[0].load(0, at) == 7);   // so identifier 0 has been used, and is free
    constexpr unsigned lives = 64;  // more than the port has had; it takes one of them for its own
    for (const std::uint32_t tag : {0u, 0xfffffu})
        for (unsigned life = 0; life < lives; ++life) {
            const auto p = fabric::make_packet();
            p->tag = tag;
            p->epoch = life;
            p->valid_sectors = 0xf;
            p->set_request(b.net.terminals[1]->format, false, 0);
            p->make_response(b.net.terminals[1]->format);
            p->destination = 0;
            b.net.terminals[1]->send(p);
        }
    memory_machine::run_all();
    CHECK(b.port(0).unexpected.value() == 2);
    CHECK(b.port(0).late.value() == 2 * (lives - 1));
}

TEST_CASE("random traffic of four GPUs on one memory agrees with a sum, twice alike") {
    const auto stress_run = [] {
        auto& b = bench::fresh();
        constexpr unsigned pages = 16;
        for (unsigned p = 0; p < pages; ++p)
            for (unsigned g = 0; g < 4; ++g) b[g].map(at + p * 4096, b[p % 4].base() | (offset + p * 4096));
        std::uint64_t state = 7, total = 0;
        const auto random = [&](std::uint64_t n) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            return (state >> 33) % n;
        };
        const auto begin = calendar::current().now();
        for (unsigned round = 0; round < 100; ++round) {
            for (unsigned g = 0; g < 4; ++g)
                for (unsigned u = 0; u < 2; ++u) {
                    auto a = b[g].clients[u]->make(random(3) ? access_kind::atomic : access_kind::read, 4, u);
                    a->operation = operation::add;
                    a->mask = state | 1;
                    for (unsigned l = 0; l < wavefront_lanes; ++l) {
                        a->address[l] = at + random(pages * 1024) * 4;
                        a->data[l] = random(100);
                        if (a->kind == access_kind::atomic && a->mask >> l & 1) total += a->data[l];
                    }
                    b[g].clients[u]->memory.issue(a);
                }
            memory_machine::run_all();
        }
        std::uint64_t sum = 0;
        for (unsigned p = 0; p < pages; ++p)
            for (unsigned w = 0; w < 1024; ++w) sum += b[p % 4].peek<std::uint32_t>(offset + p * 4096 + w * 4);
        CHECK(sum == total);
        CHECK(b.net.packet_hops() > 0);
        return calendar::current().now() - begin;
    };
    const auto first = stress_run();
    CHECK(first == stress_run());
}

TEST_CASE("spans of a remote load cover all of its time") {
    auto& b = bench::fresh();
    share(b, 3);
    b[0].load(0, at);
    span_recorder::current().enable(true);
    span_recorder::current().restart();
    for (unsigned i = 1; i < 10; ++i) b[0].load(0, at + i * 64);
    const auto all = span_recorder::current().breakdown();
    span_recorder::current().enable(false);
    CHECK(all.accesses == 9);
    CHECK(all.unaccounted == 0);
    bool pipeline = false, device = false;
    for (const auto& s : all.stages) {
        pipeline |= s.component == "net.cluster1" && s.stage == "pipeline" && s.service == 9 * 2 * 30'000;
        device |= s.component == "net.gpu3" && s.stage == "input" && s.service == 9 * 5'000;
    }
    CHECK(pipeline);
    CHECK(device);
}
