// SPDX-License-Identifier: Apache-2.0
// NetCrafter on a link: its latency, pooling against the clock, and what faults do to flits that packets share.
#include "unit/fabric/fabric_bench.h"

#include "base/fault.h"
#include "fabric/netcrafter/controller.h"
#include "fabric/netcrafter/settings.h"

using namespace fabricvp;
using namespace fabricvp::test;
using netcrafter::controller;
using netcrafter::pooling_mode;
using netcrafter::sequencing_mode;
using netcrafter::window_start;

namespace {

interconnect_params with(const netcrafter::parameters& n) {
    auto p = quad();
    for (auto& s : p.switches) netcrafter::use(s.stage) = n;
    return p;
}

netcrafter::parameters sequencing() {
    netcrafter::parameters n;
    n.sequencing = sequencing_mode::page_tables;
    return n;
}

netcrafter::parameters pooling(pooling_mode m, std::uint64_t latency = 1, window_start from = window_start::arrival) {
    netcrafter::parameters n;
    n.stitching = true;
    n.pooling = m;
    n.latency = {latency};
    n.window_from = from;
    return n;
}

struct machines {
    calendar timeline;
    probed_fabric first{"first", with(sequencing())};
    probed_fabric pools{"pools", with(pooling(pooling_mode::plain))};
    probed_fabric selects{"selects", with(pooling(pooling_mode::selective, 7))};
    probed_fabric timers{"timers", with(pooling(pooling_mode::plain, 1, window_start::head))};
    probed_fabric stitches{"stitches", with(pooling(pooling_mode::none))};
    static machines& get() {
        static machines m;
        return m;
    }
};

constexpr ticks ns = 1000;
constexpr ticks wire = 1 * ns, pipeline = 30 * ns, device = 5 * ns;
constexpr ticks fast(unsigned bytes) { return bytes * 1000 / 128; }
constexpr ticks slow(unsigned bytes) { return bytes * 1000 / 16; }
/// Of a request alone, from cluster to cluster, without a controller.
constexpr ticks alone = fast(16) + wire + pipeline + slow(16) + wire + pipeline + fast(16) + wire + device;

ticks one_way(probed_fabric& f, unsigned from, unsigned to, bool page_table) {
    f.reset();
    f.probes[to]->responds = false;
    const auto begin = calendar::current().now();
    f.probes[from]->at.send(f.probes[from]->make(to, access_kind::read, page_table));
    run_all();
    REQUIRE(f.probes[to]->requests.size() == 1);
    return f.probes[to]->requests[0].when - begin;
}

const controller& controller_of(probed_fabric& f, unsigned cluster) {
    return dynamic_cast<const controller&>(f.net.switches[cluster]->egress_of(2));
}

void poison(const std::string& target) {
    for (auto* f : all_faults())
        if (f->target() == target && f->kind() == "poison") return f->order()->apply();
    FAIL("no fault");
}

}  // namespace

TEST_CASE("a packet without riders pays the controller's latency, and its window if it must wait") {
    auto& m = machines::get();
    CHECK(one_way(m.first, 0, 3, false) == alone + 1 * ns);
    CHECK(one_way(m.first, 0, 3, true) == alone + 1 * ns);
    CHECK(one_way(m.pools, 0, 3, false) == alone + 1 * ns + 32 * ns);
    CHECK(one_way(m.pools, 0, 3, true) == alone + 1 * ns + 32 * ns);
    CHECK(one_way(m.selects, 0, 3, false) == alone + 7 * ns + 32 * ns);
    CHECK(one_way(m.selects, 0, 3, true) == alone + 7 * ns);
    CHECK(controller_of(m.pools, 0).pooled.value() == 1);
    // Inside a cluster nothing changes.
    CHECK(one_way(m.pools, 0, 1, false) == fast(16) + wire + pipeline + fast(16) + wire + device);
}

TEST_CASE("one after the other the heads of a queue wait for a window from their turn, or all of them from arrival") {
    auto& m = machines::get();
    const auto apart = [](probed_fabric& f) {
        f.reset();
        f.probes[3]->responds = false;
        for (unsigned i = 0; i < 2; ++i) f.probes[0]->at.send(f.probes[0]->make(3, access_kind::read));
        run_all();
        const auto& heard = f.probes[3]->requests;
        REQUIRE(heard.size() == 2);
        return heard[1].when - heard[0].when;
    };
    CHECK(one_way(m.timers, 0, 3, false) == alone + 1 * ns + 32 * ns);
    CHECK(apart(m.pools) == slow(16));
    CHECK(apart(m.timers) == slow(16) + 32 * ns);
}

TEST_CASE("a rider arrives with its carrier and is unstitched in the controller's latency") {
    auto& f = machines::get().pools;
    f.reset();
    auto &d0 = *f.probes[0], &d1 = *f.probes[1], &d2 = *f.probes[2];
    // Two writes of the other cluster end in responses of 4 bytes; they and two others share a flit.
    for (unsigned i = 0; i < 2; ++i) {
        d2.at.send(d2.make(0, access_kind::write));
        d2.at.send(d2.make(1, access_kind::write));
    }
    run_all();
    CHECK(d2.responses.size() == 4);
    const auto& c = controller_of(f, 0);
    CHECK(c.left.value() == 4);
    CHECK(c.units.value() < 4);
    CHECK(c.wire_flits.value() == c.units.value());
    CHECK(c.stitched.value() == 4 - c.units.value());
    const auto last = d2.responses.back().when;
    CHECK(std::count_if(d2.responses.begin(), d2.responses.end(),
                        [&](const auto& r) { return last - r.when < 2 * ns; }) >= 2);
    (void)d0;
    (void)d1;
}

TEST_CASE("page-table packets go first, but not before a packet under way") {
    auto& f = machines::get().first;
    f.reset();
    auto& d0 = *f.probes[0];
    for (unsigned i = 0; i < 50; ++i) d0.at.send(d0.make(2, access_kind::write));
    const auto begin = calendar::current().now();
    f.probes[1]->at.send(f.probes[1]->make(2, access_kind::read, true));
    run_all();
    const auto& heard = f.probes[2]->requests;
    REQUIRE(heard.size() == 51);
    const auto walk = std::find_if(heard.begin(), heard.end(),
                                   [](const auto& h) { return h.type == packet_class::page_table_request; });
    REQUIRE(walk != heard.end());
    CHECK(walk - heard.begin() >= 1);  // the first write had the lanes
    CHECK(walk - heard.begin() <= 2);
    CHECK(walk->when - begin < alone + 2 * slow(80));
    CHECK(controller_of(f, 0).prioritized.value() == 1);
}

TEST_CASE("a unit that is poisoned poisons all that is in it, and only that") {
    auto& f = machines::get().stitches;
    f.reset();
    constexpr unsigned packets = 400;
    for (unsigned i = 0; i < packets; ++i) {
        f.probes[0]->at.send(f.probes[0]->make(2, i % 2 ? access_kind::read : access_kind::write, i % 4 == 1));
        f.probes[3]->at.send(f.probes[3]->make(1, i % 2 ? access_kind::write : access_kind::read));
    }
    calendar::current().run_until(calendar::current().now() + 1000 * ns);
    const auto rode = controller_of(f, 1).stitched.value() + controller_of(f, 1).stitched_ends.value();
    CHECK(rode > 0);
    for (unsigned i = 0; i < 5; ++i) poison("stitches.cluster1.to_cluster0");
    run_all();
    unsigned poisoned = 0;
    for (const auto& p : f.probes)
        poisoned += static_cast<unsigned>(std::count_if(p->responses.begin(), p->responses.end(), [](const auto& r) {
            return r.status == access_status::poisoned;
        }));
    CHECK(f.probes[0]->responses.size() == packets);
    CHECK(f.probes[3]->responses.size() == packets);
    CHECK(poisoned >= 5);
    CHECK(poisoned <= 5 * 5);
    CHECK(stat("stitches.cluster0.malformed") == 0);
}
