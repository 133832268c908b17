// SPDX-License-Identifier: Apache-2.0
// What waits for an MSHR goes on as soon as one is released, and holds up nothing that needs none.
#include "unit/gpu/memory_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

gpu_memory_system_params few_mshrs() {
    gpu_memory_system_params p;
    p.capacity = {64 << 20};
    p.unit.l1.mshrs = 4;
    p.unit.tlb.ways = 4;
    p.l2.size = {128 << 10};
    p.l2.mshrs = 4;
    p.l2.write_backs = 2;
    p.l2_tlb.mshrs = 2;
    p.gmmu.walkers = 2;
    return p;
}

memory_machine& fresh() { return after_reset<few_mshrs, 4>(); }

const gpu_memory_system_params p = few_mshrs();
const ticks cycle = 1000;
const ticks l2_round = (p.router.request_latency + p.router.response_latency + p.l2.latency) * cycle;
const ticks row_hit = (2 * p.hbm.column_latency + p.hbm.burst_length) * cycle;
const ticks row_conflict = row_hit + 2 * (p.hbm.row_to_column + p.hbm.row_precharge + p.hbm.row_active) * cycle;

/// Offset of the nth line of one bank, and of one channel.
std::uint64_t line_of_bank(unsigned n) { return 0x200000 + n / 2 * p.l2.interleave * p.l2.banks + n % 2 * line_bytes; }

}  // namespace

TEST_CASE("the L2 uses an MSHR again when its fetch ends") {
    auto& m = fresh();
    line_listener client;
    const unsigned lines = 256;
    const ticks begin = calendar::current().now();
    for (unsigned n = 0; n < lines; ++n)
        m.system.router.send(client.make(access_kind::read, m.base() + line_of_bank(n)));
    m.run();
    REQUIRE(client.responses.size() == lines);
    const ticks took = calendar::current().now() - begin;
    // Rows hold 32 lines of a bank; opening one is hidden only in part by so few fetches.
    const ticks rounds = lines / p.l2.mshrs * row_hit + lines / 32 * row_conflict;
    CHECK(took < l2_round + rounds);
    CHECK(took > l2_round + lines / p.l2.mshrs * row_hit);
    CHECK(m.system.l2.bank_of(line_of_bank(0)).mshr_stalls.value() >= lines - p.l2.mshrs);
}

TEST_CASE("L2 hits pass misses that wait for an MSHR") {
    auto& m = fresh();
    line_listener before, misses, hit;
    m.system.router.send(before.make(access_kind::read, m.base() + line_of_bank(0)));
    m.run();
    const ticks begin = calendar::current().now();
    for (unsigned n = 2; n < 34; ++n) m.system.router.send(misses.make(access_kind::read, m.base() + line_of_bank(n)));
    m.system.router.send(hit.make(access_kind::read, m.base() + line_of_bank(0)));
    m.run();
    REQUIRE(misses.responses.size() == 32);
    REQUIRE(hit.responses.size() == 1);
    CHECK(hit.responses[0].when - begin == l2_round + 32 * p.l2.service * cycle);
    CHECK(misses.responses.back().when > hit.responses[0].when + 4 * row_hit);
}

TEST_CASE("requests to a line stay in order where its first waits for an MSHR") {
    auto& m = fresh();
    line_listener fill, line, atomics;
    const auto x = m.base() + line_of_bank(20), y = m.base() + line_of_bank(30);
    for (unsigned n = 0; n < 12; ++n) m.system.router.send(fill.make(access_kind::read, m.base() + line_of_bank(n)));
    m.system.router.send(line.make(access_kind::read, x));
    auto write = line.make(access_kind::write, x);
    write->data.fill(1);
    m.system.router.send(write);
    m.system.router.send(line.make(access_kind::read, x));
    auto part = line.make(access_kind::write, x);
    part->data.fill(2);
    part->byte_mask = 0xff;
    m.system.router.send(part);
    m.system.router.send(line.make(access_kind::read, x));
    for (unsigned n = 0; n < 3; ++n) {
        auto add = atomics.make(access_kind::atomic, y);
        add->operand = 5;
        m.system.router.send(add);
    }
    m.run();
    REQUIRE(line.responses.size() == 5);
    std::vector<unsigned> seen;
    for (const auto& r : line.responses) seen.push_back(r.data[0]);
    std::sort(seen.begin(), seen.end());
    // Reads in order: 0, 1, 2; writes keep their data.
    CHECK(seen == std::vector<unsigned>{0, 1, 1, 2, 2});
    CHECK(m.peek<std::uint64_t>(line_of_bank(20)) == 0x0202020202020202);
    CHECK(m.peek<std::uint64_t>(line_of_bank(20) + 8) == 0x0101010101010101);
    std::vector<std::uint64_t> old;
    for (const auto& r : atomics.responses) old.push_back(r.operand);
    CHECK(old == std::vector<std::uint64_t>{0, 5, 10});
}

TEST_CASE("lines are written no faster than memory takes them") {
    auto& m = fresh();
    line_listener client;
    restart_statistics();
    const std::uint64_t kept = p.l2.size / line_bytes + p.l2.banks * p.l2.write_backs, lines = kept + 8192;
    const ticks begin = calendar::current().now();
    for (std::uint64_t n = 0; n < lines; ++n) {
        auto write = client.make(access_kind::write, m.base() + 0x400000 + n * line_bytes);
        std::memcpy(write->data.data(), &n, sizeof n);
        m.system.router.send(write);
    }
    m.run();
    REQUIRE(client.responses.size() == lines);
    const ticks took = client.responses.back().when - begin;
    const ticks memory = m.system.hbm.line_time() / p.hbm.channels;  // a line, over all channels
    CHECK(took > (lines - kept) * memory);
    CHECK(took < l2_round + 2 * lines * memory);
    CHECK(m.system.hbm.reads.value() == 0);  // nothing is fetched that is overwritten
    for (std::uint64_t n = 0; n < lines; n += 97) CHECK(m.peek<std::uint64_t>(0x400000 + n * line_bytes) == n);
}

TEST_CASE("a read that misses waits while its victim cannot be written back") {
    auto& m = fresh();
    line_listener client;
    restart_statistics();
    auto& bank = m.system.l2.bank_of(line_of_bank(0));
    const auto lines = static_cast<unsigned>(p.l2.size / p.l2.banks / line_bytes);
    for (unsigned n = 0; n < lines; ++n)
        m.system.router.send(client.make(access_kind::write, m.base() + line_of_bank(n)));
    m.run();
    REQUIRE(bank.writebacks.value() == 0);
    // One fetch after the other, each with a write-back: with MSHRs alone the reads would take as long as clean ones.
    const auto read = [&](unsigned from) {
        const ticks begin = calendar::current().now();
        client.responses.clear();
        for (unsigned n = 0; n < lines; ++n)
            m.system.router.send(client.make(access_kind::read, m.base() + line_of_bank(from + n)));
        m.run();
        REQUIRE(client.responses.size() == lines);
        return client.responses.back().when - begin;
    };
    const ticks dirty = read(lines);
    CHECK(bank.writebacks.value() == lines);
    const ticks clean = read(2 * lines);
    CHECK(dirty > clean);
}

TEST_CASE("an L1 miss that waited for an MSHR leaves when there is one") {
    auto& m = fresh();
    const std::uint64_t base = 0x8000'0000;
    m.map_range(base, 0x200000, 0x200000, 1);
    const auto lines = [&](unsigned count, std::uint64_t from) {
        auto a = m.clients[0]->make(access_kind::read, 4);
        a->mask = count == 64 ? ~lane_mask{0} : (lane_mask{1} << count) - 1;
        for (unsigned i = 0; i < count; ++i) a->address[i] = from + i * std::uint64_t{128};
        return m.time(0, a);
    };
    line_listener warm;
    for (unsigned n = 0; n < 256; ++n) m.system.router.send(warm.make(access_kind::read, m.base() + 0x200000 + n * 64));
    m.run();
    m.load(0, base + 0x100000);  // brings the translation in
    const double four = lines(4, base), more = lines(44, base + 4 * 128);
    // Eleven rounds instead of one, each as long as the L2 takes.
    CHECK(more - four == Approx(10 * static_cast<double>(l2_round) / cycle).margin(12));
}

TEST_CASE("hits of the L2 TLB pass misses that wait for an MSHR") {
    auto& m = fresh();
    const std::uint64_t base = 0x8000'0000;
    m.map_range(base, 0x200000, 0x200000);
    m.load(1, base);  // into the L2 TLB, and the line into the L2
    const auto pages = m.clients[0]->make(access_kind::read, 4);
    pages->mask = 0xff;
    for (unsigned i = 0; i < 8; ++i) pages->address[i] = base + 0x10000 + i * std::uint64_t{0x1000};
    m.clients[0]->memory.issue(pages);
    const auto quick = m.clients[2]->one(access_kind::read, base);
    const ticks begin = calendar::current().now();
    m.clients[2]->memory.issue(quick);
    m.run();
    REQUIRE(m.clients[2]->done.size() == 1);
    REQUIRE(m.clients[0]->done.size() == 1);
    const auto& u = p.unit;
    const ticks path = (u.latency + u.tlb.latency + u.l1.tag_latency + u.l1.fill_latency + p.l2_tlb.latency) * cycle;
    CHECK(m.clients[2]->done[0].ready - begin == path + l2_round + 8 * p.l2_tlb.service * cycle);
    CHECK(m.system.l2_tlb.mshr_stalls.value() > 0);
}

TEST_CASE("data buses of HBM are never busy for longer than a region lasts") {
    auto& m = fresh();
    line_listener client;
    const unsigned lines = 1500;
    restart_statistics();
    for (unsigned n = 0; n < lines; ++n)
        m.system.router.send(client.make(access_kind::read, m.base() + 0x200000 + n * std::uint64_t{line_bytes}));
    auto& c = calendar::current();
    const ticks step = 37 * cycle;
    ticks sum = 0, most = 0;
    while (client.responses.size() < lines) {
        const at_time passes(c.now() + step, [] {});
        c.run_until(c.now() + step);
        const ticks busy = m.system.hbm.busy.value();
        CHECK(busy <= p.hbm.channels * step);
        most = std::max(most, busy);
        sum += busy;
        restart_statistics();
    }
    CHECK(sum == lines * m.system.hbm.line_time());
    CHECK(most > p.hbm.channels * step / 3);
}
