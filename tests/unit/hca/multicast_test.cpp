// SPDX-License-Identifier: Apache-2.0
// Multicast datagrams: chains of the group table, every attached queue pair of every adapter once, and who gets
// nothing.
#include <set>

#include "two_adapter_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using namespace fabricvp::hca::test;

namespace {

using group = network::gid;

group named(std::uint8_t a, std::uint8_t b) {
    group g{0xff, 0x12};
    g[12] = g[14] = a;  // all have one hash
    g[13] = g[15] = b;
    return g;
}

/// Writes an entry of the group table, its members and what follows it in the chain.
void write_group(driver& d, std::uint32_t index, const group& g, const std::vector<std::uint32_t>& qpns,
                 std::uint32_t next = 0) {
    auto* e = d.in();
    hca_set(e, HCA_MGM_NEXT, next);
    std::copy(g.begin(), g.end(), e + HCA_MGM_GID);
    std::size_t at = 5;  // anywhere
    for (const auto n : qpns) hca_put32(e + HCA_MGM_QP + 4 * at++, 1u << 31 | n);
    REQUIRE(d.command(HCA_WRITE_MGM, index) == HCA_OK);
}

std::uint32_t hash(driver& d, const group& g) {
    std::copy(g.begin(), g.end(), d.in());
    const auto a = d.command(HCA_MGID_HASH, 0, 0, d.in_address(), 0);
    REQUIRE(a.status == HCA_OK);
    return static_cast<std::uint32_t>(a.out_param);
}

}  // namespace

TEST_CASE("multicast datagrams") {
    calendar timeline;
    hca_params p;
    p.network.link.mtu = 2048;
    p.network.link.buffer = byte_size{2304};  // one packet
    two_adapter_bench bench{p};
    auto& [host, a, b, cq_a, cq_b, qa, qb] = bench;
    std::mt19937 random(11);
    const auto ra = a.region(20'000), rb = b.region(40'000);
    fill(a, ra, random);
    test_qp::settings ud;
    ud.type = HCA_QP_UD;
    ud.psn = 5;
    bench.connect(ud, 0x20);  // qa 0x20, qb 0x21
    auto other = ud;
    other.qkey = 0x2222;
    test_qp second(b, 0x23, 0x81, 0x81, 40, ud), stranger(b, 0x25, 0x81, 0x81, 44, other),
        outside(b, 0x27, 0x81, 0x81, 48, ud);
    for (auto* q : {&second, &stranger, &outside}) q->connect(0, 0);

    const auto first = named(1, 2), chained = named(3, 4);
    REQUIRE(hash(b, first) == hash(b, chained));
    const auto head = hash(b, first);
    write_group(b, head, first, {0x21, 0x23}, 200);
    write_group(b, 200, chained, {0x23, 0x25, 0x7f});  // the last one does not exist
    write_group(a, hash(a, chained), chained, {0x20});

    std::map<test_qp*, std::uint64_t> where;  // their next receive
    const auto listen = [&](test_qp& q, driver& d, const driver::memory_region& r, std::uint64_t at) {
        for (unsigned i = 0; i < 4096; ++i) *d.byte(r, at + i) = 0;
        q.post_receive({{at, r.key, 4096}});
        where[&q] = at;
    };
    const auto send = [&](const group& g, std::uint32_t bytes) {
        send_request s;
        s.list = {{3, ra.key, bytes}};
        s.lid = 0xc000;
        s.qpn = network::multicast_qp;
        s.qkey = ud.qkey;
        s.gid = g;
        qa->post(s);
    };
    const auto took = [&](test_qp& q, driver& d, const driver::memory_region& r, const completion& c, const group& g,
                          std::uint32_t bytes) {
        CHECK(c.qpn == q.number);
        CHECK(c.bytes == bytes + 40);
        CHECK(c.source_qpn == qa->number);
        CHECK(read(d, r, where[&q] + 24, 16) == std::vector<std::uint8_t>(g.begin(), g.end()));
        CHECK(read(d, r, where[&q] + 40, bytes) == read(a, ra, 3, bytes));
    };

    // --- two queue pairs of one adapter, from an adapter that has none ---
    listen(*qb, b, rb, 0);
    listen(second, b, rb, 4096);
    listen(outside, b, rb, 8192);
    send(first, 777);
    bench.good_a();
    std::set<std::uint32_t> heard;
    for (unsigned i = 0; i < 2; ++i) {
        const auto c = bench.good_b();
        heard.insert(c.qpn);
        took(c.qpn == qb->number ? *qb : second, b, rb, c, first, 777);
    }
    CHECK(heard == std::set<std::uint32_t>{0x21, 0x23});
    CHECK(!bench.wait(b, *cq_b, 5'000'000));
    CHECK(!bench.wait(a, *cq_a, 1'000'000));
    CHECK(host.adapters[0]->multicast_unattached.total() == 1);  // its own copy

    // --- a group behind another in the chain; a wrong Q_Key and an unknown number get nothing; the sender is a
    // member ---
    listen(second, b, rb, 12288);
    listen(stranger, b, rb, 16384);
    listen(*qa, a, ra, 4096);
    send(chained, 2048);
    unsigned sent = 0;
    for (unsigned i = 0; i < 2; ++i) {
        const auto c = bench.good_a();
        sent += c.is_send;
        if (!c.is_send) took(*qa, a, ra, c, chained, 2048);
    }
    CHECK(sent == 1);
    took(second, b, rb, bench.good_b(), chained, 2048);
    CHECK(!bench.wait(b, *cq_b, 5'000'000));
    CHECK(host.adapters[1]->dropped.total() >= 1);

    // --- an unknown group; one without a global route header; tables that go round ---
    const auto multicast_unattached = host.adapters[1]->multicast_unattached.total();
    send(named(5, 6), 10);
    bench.good_a();
    CHECK(!bench.wait(b, *cq_b, 5'000'000));
    CHECK(host.adapters[1]->multicast_unattached.total() == multicast_unattached + 1);
    send_request plain;
    plain.list = {{3, ra.key, 10}};
    plain.lid = 0xc000;
    plain.qpn = network::multicast_qp;
    plain.qkey = ud.qkey;
    qa->post(plain);
    bench.good_a();
    CHECK(!bench.wait(b, *cq_b, 5'000'000));
    write_group(b, 200, chained, {0x23}, 201);
    write_group(b, 201, named(7, 8), {0x23}, 200);
    send(named(9, 10), 10);
    bench.good_a();
    CHECK(!bench.wait(b, *cq_b, 5'000'000));

    // --- a member that has gone ---
    REQUIRE(b.command(HCA_2RST_QP, 0x23, 3) == HCA_OK);
    listen(*qb, b, rb, 20480);
    send(first, 100);
    bench.good_a();
    took(*qb, b, rb, bench.good_b(), first, 100);
    CHECK(!bench.wait(b, *cq_b, 5'000'000));
    CHECK(host.adapters[1]->network.link.waiting() == 0);

    // --- copies have freed the port's buffer once: of three packets two still wait for the one before ---
    const auto waits = host.adapters[0]->network.link.credit_stalls.total();
    send_request single;
    single.list = {{0, ra.key, 2048}};
    single.lid = 2;
    single.qpn = 0x21;
    single.qkey = ud.qkey;
    for (unsigned i = 0; i < 3; ++i) listen(*qb, b, rb, 20480 + 4096 * i);
    for (unsigned i = 0; i < 3; ++i) qa->post(single);
    for (unsigned i = 0; i < 3; ++i) {
        bench.good_a();
        bench.good_b();
    }
    CHECK(host.adapters[0]->network.link.credit_stalls.total() == waits + 2);
}
