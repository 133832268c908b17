// SPDX-License-Identifier: Apache-2.0
#include "unit/network/network_bench.h"

#include <memory>
#include <utility>

using namespace fabricvp;
using namespace fabricvp::test;
using namespace fabricvp::time_literals;

namespace {

/// Two adapters on one cable, as a configuration would have them.
struct wire {
    adapter a, b;
    explicit wire(const std::string& name, const port_params& pa = {}, const port_params& pb = {})
        : a((name + "_a").c_str(), pa), b((name + "_b").c_str(), pb) {
        connect(a.link, b.link);
        a.link.configure(1);
        b.link.configure(2);
    }
};

port_params slow() {
    port_params p;
    p.rate = link_rate::qdr;
    p.mtu = 2048;
    return p;
}

port_params narrow() {
    port_params p;
    p.width = link_width::x2;
    p.data_lanes = 4;
    return p;
}

port_params small() {
    port_params p;
    p.buffer = {8192};
    return p;
}

port_params few_smps() {
    port_params p;
    p.management_packets = 2;
    return p;
}

port_params refused(std::uint64_t mtu, std::uint64_t lanes, std::uint64_t buffer) {
    port_params p;
    p.mtu = mtu;
    p.data_lanes = lanes;
    p.buffer = {buffer};
    return p;
}

/// Everything is built before time begins.
struct machines {
    calendar timeline;
    wire uneven{"uneven", slow(), narrow()}, plain{"plain"}, full{"full", small(), small()},
        managed{"managed", few_smps(), few_smps()}, flapping{"flapping", small(), small()}, twice{"twice"},
        restarted{"restarted"}, faulty{"faulty"};
    adapter fresh_a{"fresh_a"}, fresh_b{"fresh_b"};
    std::vector<std::pair<port_params, std::unique_ptr<wire>>> speeds;

    machines() {
        connect(fresh_a.link, fresh_b.link);
        for (const auto rate : {link_rate::sdr, link_rate::ddr, link_rate::qdr, link_rate::fdr10, link_rate::fdr,
                                link_rate::edr, link_rate::hdr, link_rate::ndr})
            for (const auto width : {link_width::x1, link_width::x4, link_width::x12}) {
                port_params p;
                p.rate = rate;
                p.width = width;
                p.buffer = {1 << 20};
                speeds.emplace_back(p, std::make_unique<wire>("speed" + std::to_string(speeds.size()), p, p));
            }
        CHECK_THROWS_WITH(adapter("odd_mtu", refused(1000, 8, 32768)), Catch::Contains("1000 is not one of 256"));
        CHECK_THROWS_WITH(adapter("odd_lanes", refused(4096, 3, 32768)),
                          Catch::Contains("3 is not one of 1, 2, 4, 8, 15"));
        CHECK_THROWS_WITH(adapter("tiny", refused(4096, 8, 4096)), Catch::Contains("do not hold the longest packet"));
    }
};

machines& all() {
    static machines m;
    return m;
}

ticks time() { return all().timeline.now(); }

}  // namespace

TEST_CASE("a link has what both ends and the cable can") {
    auto& w = all().uneven;
    for (auto* p : {&w.a.link, &w.b.link}) {
        CHECK(p->rate() == link_rate::qdr);
        CHECK(p->width() == link_width::x2);
        CHECK(p->mtu() == 2048);
        CHECK(p->data_lanes() == 4);
        CHECK(p->state() == port_state::active);
        CHECK(p->transmitter.bytes_per_second() == 2'000'000'000);
    }
    w.a.send(make_datagram(2, 2052));
    CHECK(w.a.link.dropped(drop_reason::too_long).total() == 1);
}

TEST_CASE("a packet arrives whole after serialisation and time of flight; it takes LRH to VCRC and two symbols") {
    auto& w = all().plain;
    const auto begin = time();
    w.a.send(make_datagram(2, 1000));
    run_all();
    REQUIRE(w.b.received.size() == 1);
    const auto& p = *w.b.received[0].packet;
    CHECK(p.packet_bytes() == 8 + 12 + 8 + 1000 + 4);
    CHECK(p.wire_bytes == p.packet_bytes() + 4);
    CHECK(w.b.received[0].when - begin == 1036 * 80_ps + 10_ns);  // 12.5 GB/s
    CHECK(w.a.link.bytes_sent.total() == 1034);
}

TEST_CASE("bytes are padded to words") {
    auto& w = all().plain;
    w.a.send(make_datagram(2, 5));
    run_all();
    CHECK(w.b.received.back().packet->bth.pad == 3);
    CHECK(w.b.received.back().packet->packet_bytes() == 8 + 12 + 8 + 8 + 4);
}

TEST_CASE("a saturated link carries its data rate, at each rate and width") {
    for (auto& [p, w] : all().speeds) {
        constexpr unsigned packets = 200;
        const auto begin = time();
        for (unsigned i = 0; i < packets; ++i) w->a.send(make_datagram(2, 4096, i));
        run_all();
        REQUIRE(w->b.received.size() == packets);
        const double bytes = packets * (4096.0 + 8 + 12 + 8 + 4 + 4);
        const double seconds = static_cast<double>(w->b.received.back().when - begin - 10_ns) * 1e-12;
        CHECK(bytes / seconds ==
              Approx(static_cast<double>(lane_rate(p.rate).bytes_per_second * lanes_of(p.width))).epsilon(1e-6));
        for (unsigned i = 0; i < packets; ++i) CHECK(w->b.received[i].psn == i);
    }
}

TEST_CASE("a lane without credits waits, and holds up no other") {
    auto& w = all().full;
    w.b.keeps = true;
    // A datagram of 4096 takes 4130 bytes, 65 blocks of 128.
    for (unsigned i = 0; i < 3; ++i) w.a.send(make_datagram(2, 4096, i));
    run_all();
    CHECK(w.b.received.size() == 1);
    w.a.send(make_datagram(2, 100, 7, 1));
    run_all();
    REQUIRE(w.b.received.size() == 2);
    CHECK(w.b.received[1].lane == 1);
    const auto freed = time();
    w.b.release_all();
    run_all();
    REQUIRE(w.b.received.size() == 1);
    CHECK(w.b.received[0].psn == 1);
    CHECK(w.b.received[0].when == freed + 50_ns + 10_ns + 4132 * 80_ps + 10_ns);
    w.b.release_all();
    run_all();
    CHECK(w.b.received.at(0).psn == 2);
}

TEST_CASE("management goes without credits before all others, and is dropped where there is no room") {
    auto& w = all().managed;
    w.b.keeps = true;
    for (unsigned i = 0; i < 3; ++i) w.a.send(make_datagram(2, 4096, i));
    for (unsigned i = 0; i < 3; ++i) {
        auto smp = make_datagram(2, 256, 10 + i);
        smp->bth.destination_qp = 0;
        w.a.send(smp);
    }
    run_all();
    std::vector<std::uint32_t> order;
    for (const auto& h : w.b.received) order.push_back(h.psn);
    CHECK(order == std::vector<std::uint32_t>{0, 10, 11, 1, 2});
    CHECK(w.b.received[1].lane == management_lane);
    CHECK(w.b.link.dropped(drop_reason::management_full).total() == 1);
    w.b.release_all();
    auto smp = make_datagram(2, 256, 20);
    smp->bth.destination_qp = 0;
    w.a.send(smp);
    run_all();
    CHECK(w.b.received.at(0).psn == 20);
}

TEST_CASE("data whose service level leads to the lane of management is discarded") {
    auto& w = all().managed;
    w.b.received.clear();
    const auto discards = w.a.link.errors.transmit_discards, inactive = w.a.link.dropped(drop_reason::inactive).total();
    w.a.link.sl_to_vl[3] = management_lane;
    w.a.send(make_datagram(2, 256, 1, 3));
    w.a.send(make_datagram(2, 256, 2));
    auto gmp = make_datagram(2, 256, 3, 3);
    gmp->bth.destination_qp = 1;
    w.a.send(gmp);
    auto smp = make_datagram(2, 256, 4, 3);
    smp->bth.destination_qp = 0;
    w.a.send(smp);
    run_all();
    std::vector<std::uint32_t> arrived;
    for (const auto& h : w.b.received) arrived.push_back(h.psn);
    std::sort(arrived.begin(), arrived.end());
    CHECK(arrived == std::vector<std::uint32_t>{2, 4});
    CHECK(w.a.link.errors.transmit_discards == discards + 2);
    CHECK(w.a.link.dropped(drop_reason::inactive).total() == inactive + 2);
    w.b.release_all();
    w.a.link.sl_to_vl[3] = 3;
}

TEST_CASE("only active ports send data, only armed and active ones take it") {
    auto &a = all().fresh_a, &b = all().fresh_b;
    CHECK(a.link.state() == port_state::initialize);
    a.send(make_datagram(2, 8));
    CHECK(a.link.dropped(drop_reason::inactive).total() == 1);
    a.link.set_state(port_state::active);
    a.send(make_datagram(2, 8));
    run_all();
    CHECK(b.link.dropped(drop_reason::inactive).total() == 1);
    b.link.set_state(port_state::armed);
    a.send(make_datagram(2, 8));
    run_all();
    CHECK(b.received.size() == 1);
    auto smp = make_datagram(2, 256);
    smp->bth.destination_qp = 0;
    b.send(smp);
    run_all();
    CHECK(a.received.size() == 1);
}

TEST_CASE("a link that goes down loses what is under way, and has all credits when it is up again") {
    auto& w = all().flapping;
    w.b.keeps = true;
    for (unsigned i = 0; i < 3; ++i) w.a.send(make_datagram(2, 4096, i));
    run_all();
    REQUIRE(w.b.received.size() == 1);
    const auto cut = time();
    w.b.link.hold_down();
    run_all();
    CHECK_FALSE(w.a.link.up());
    CHECK(time() == cut + 10_ns);
    CHECK(w.a.link.dropped(drop_reason::link_down).total() == 2);
    w.a.send(make_datagram(2, 8));
    CHECK(w.a.link.dropped(drop_reason::link_down).total() == 3);
    w.b.link.start_training();
    run_all();
    CHECK(time() == cut + 10_ns + 10_us + 10_ns);
    CHECK(w.a.states ==
          std::vector<port_state>{port_state::initialize, port_state::active, port_state::down, port_state::active});
    w.b.release_all();  // of the time before: no credits come of it
    for (unsigned i = 0; i < 2; ++i) w.a.send(make_datagram(2, 4096, i));
    run_all();
    CHECK(w.b.received.size() == 1);
    w.b.release_all();
    run_all();
    CHECK(w.b.received.size() == 1);
}

TEST_CASE("a flap within a flap") {
    auto& w = all().twice;
    w.a.link.hold_down();
    w.a.link.start_training();
    all().timeline.run_until(time() + 10_us + 5_ns);  // trained, but not reported yet
    w.a.link.hold_down();
    run_all();
    CHECK_FALSE(w.a.link.up());
    CHECK_FALSE(w.b.link.up());
    w.b.link.hold_down();
    w.a.link.start_training();
    run_all();
    CHECK_FALSE(w.a.link.up());
    w.b.link.start_training();
    run_all();
    CHECK(w.a.link.up());
    CHECK(w.b.link.up());
}

TEST_CASE("a reset of one end is a flap for the other") {
    auto& w = all().restarted;
    w.b.keeps = true;
    w.a.send(make_datagram(2, 4096));
    run_all();
    w.b.reset();
    w.b.received.clear();
    run_all();
    CHECK(w.a.link.up());
    CHECK(w.a.link.link_downs.total() == 1);
    for (unsigned i = 0; i < 7; ++i) w.a.send(make_datagram(2, 4096, i));
    run_all();
    CHECK(w.b.received.size() == 7);  // 32 KiB
}

TEST_CASE("faults of a cable outlive resets of its ends") {
    auto& w = all().faulty;
    w.a.link.faults.drop.defaults.count = 2;
    w.a.link.faults.drop.order()->apply();
    w.a.reset();
    run_all();
    REQUIRE(w.a.link.up());
    for (unsigned i = 0; i < 3; ++i) w.a.send(make_datagram(2, 64, i));
    run_all();
    CHECK(w.b.received.size() == 1);
    w.a.link.faults.loss.defaults.rate = 1;
    w.a.link.faults.loss.defaults.lasting = duration{1_ms};
    w.a.link.faults.loss.order()->apply();
    w.a.reset();
    all().timeline.run_until(time() + 100_us);
    REQUIRE(w.a.link.up());
    w.a.send(make_datagram(2, 64));
    run_all();
    CHECK(w.b.received.size() == 1);
    CHECK(time() >= 1_ms);
    w.a.send(make_datagram(2, 64));
    run_all();
    CHECK(w.b.received.size() == 2);

    w.a.link.faults.down.defaults.lasting = duration{1_ms};
    const auto cut = time();
    w.a.link.faults.down.order()->apply();
    w.a.reset();
    w.b.reset();
    all().timeline.run_until(cut + 900_us);
    CHECK_FALSE(w.a.link.up());
    CHECK_FALSE(w.b.link.up());
    run_all();
    CHECK(w.a.link.up());
    CHECK(time() > cut + 1_ms);
    CHECK(w.a.link.faults.loss.injected.total() == 1);
    CHECK(w.a.link.faults.down.injected.total() == 1);
}

TEST_CASE("packets that are sent twice arrive twice, and in order") {
    auto& w = all().faulty;
    w.b.received.clear();
    const auto before = w.a.link.packets_sent.total();
    w.a.link.faults.duplicate.defaults.count = 2;
    w.a.link.faults.duplicate.order()->apply();
    for (unsigned i = 0; i < 3; ++i) w.a.send(make_datagram(2, 64, i));
    run_all();
    std::vector<std::uint32_t> order;
    for (const auto& r : w.b.received) order.push_back(r.psn);
    CHECK(order == std::vector<std::uint32_t>{0, 0, 1, 1, 2});
    CHECK(w.a.link.duplicated.total() == 2);
    CHECK(w.a.link.packets_sent.total() == before + 5);
}

TEST_CASE("the queue of a lane that is stuck waits for the end of that, and holds up no other") {
    auto& w = all().faulty;
    w.b.received.clear();
    auto& stuck = w.a.link.faults.stuck;
    stuck.defaults.lane = 1;
    stuck.defaults.lasting = duration{1_ms};
    const auto begin = time();
    stuck.order()->apply();
    w.a.send(make_datagram(2, 64, 0, 1));
    w.a.send(make_datagram(2, 64, 1, 0));
    all().timeline.run_until(begin + 900_us);
    REQUIRE(w.b.received.size() == 1);
    CHECK(w.b.received[0].psn == 1);
    REQUIRE(w.a.link.waits());
    CHECK_THAT(w.a.link.waits()->what, Catch::StartsWith("a queue that is stuck, with credits of virtual lane 1 of "));
    run_all();
    REQUIRE(w.b.received.size() == 2);
    CHECK(w.b.received[1].when > begin + 1_ms);
    CHECK_FALSE(w.a.link.waits());
}

TEST_CASE("arbitration of lanes") {
    lane_arbiter a;
    SECTION("by weight, in turns") {
        a.configure({}, {{0, 1}, {1, 3}});
        std::vector<unsigned> sent(2);
        for (int i = 0; i < 400; ++i) {
            const auto lane = a.choose(0b11);
            a.charge(1);
            ++sent[lane];
        }
        CHECK(sent == std::vector<unsigned>{100, 300});
    }
    SECTION("a lane alone goes whatever its weight") {
        a.configure({}, {{0, 1}, {1, 3}});
        for (int i = 0; i < 5; ++i) {
            CHECK(a.choose(0b01) == 0);
            a.charge(64);
        }
    }
    SECTION("high before low, as long as the limit allows") {
        a.configure({{2, 10}}, {{0, 10}}, 1);  // 4096 bytes, 64 blocks
        std::vector<unsigned> order;
        for (int i = 0; i < 10; ++i) {
            order.push_back(a.choose(0b101));
            a.charge(32);
        }
        CHECK(order == std::vector<unsigned>{2, 2, 0, 2, 2, 0, 2, 2, 0, 2});
    }
    SECTION("lanes without an entry or a weight do not go") {
        a.configure({}, {{0, 1}, {3, 0}});
        CHECK(a.choose(0b1010) == lane_arbiter::no_lane);
        CHECK(a.choose(0b1011) == 0);
    }
}
