// SPDX-License-Identifier: Apache-2.0
// Lanes that turn by policy, against what arithmetic says that they can gain. 8 and 8 lanes of 8 GB/s, as for
// NUMA-aware GPUs.
#include "unit/link/link_bench.h"

#include <memory>

#include "link/lane_controller.h"

using namespace fabricvp;
using namespace fabricvp::test;
using link::lane_policy_kind;
using link::side;

namespace {

constexpr std::uint64_t lane_rate = 8'000'000'000, lanes = 8, packet = 80, answer = 16;
constexpr desk::buffers large_buffers{{{1 << 20, 1 << 20}, {1 << 20, 1 << 20}}};

/// Sends packets at a rate, up to an end.
class paced_source {
public:
    explicit paced_source(desk& d) : m_desk(d) {}
    void start(double bytes_per_second, ticks until) {
        m_interval = packet * static_cast<double>(ticks_per_second) / bytes_per_second;
        m_begin = calendar::current().now();
        m_until = until;
        m_count = 0;
        tick();
    }

private:
    void tick() {
        auto& c = calendar::current();
        if (c.now() >= m_until) return;
        m_desk.send(make_note(0, packet));
        c.schedule(m_tick, m_begin + static_cast<ticks>(m_interval * static_cast<double>(++m_count)));
    }
    desk& m_desk;
    double m_interval = 0;
    ticks m_begin = 0, m_until = 0;
    std::uint64_t m_count = 0;
    calendar_event m_tick{method<&paced_source::tick>, this};
};

struct reversible_link {
    desk a, b;
    std::unique_ptr<link::lane_controller> controller;
    paced_source pace_a{a}, pace_b{b};

    reversible_link(const std::string& name, lane_policy_kind policy)
        : a((name + "_a").c_str(), wire(lanes, lane_rate)), b((name + "_b").c_str(), wire(lanes, lane_rate)) {
        link::join<desk_traits>(a, large_buffers, b, large_buffers);
        link::lane_controller_params p;
        p.policy = policy;
        controller = std::make_unique<link::lane_controller>((name + "_lanes").c_str(), p, a.duplex(), a.transmitter,
                                                             b.transmitter);
    }
    link::duplex_link& both() { return a.duplex(); }
    std::uint64_t lanes_of_a() const { return a.duplex().lanes(side::a); }
    std::uint64_t lanes_of_b() const { return a.duplex().lanes(side::b); }
    void saturate(desk& d) {
        d.more = [] { return make_note(0, packet); };
        d.pump();
    }
    void silence() {
        for (auto* d : {&a, &b}) d->more = {};
    }
    /// Ends what is under way and begins anew, with the lanes as configured.
    void restart() {
        silence();
        run_all();
        for (auto* d : {&a, &b}) {
            d->reset();
            d->clear();
            d->on_note = [](const note&) {};
        }
        controller->reset();
        restart_statistics();
    }
};

/// What a saturated direction carries with its configured lanes.
constexpr double full = static_cast<double>(lanes * lane_rate);

double rate(std::uint64_t bytes, ticks time) {
    return static_cast<double>(bytes) * static_cast<double>(ticks_per_second) / static_cast<double>(time);
}

struct bench {
    calendar timeline;
    reversible_link milic2017{"milic2017", lane_policy_kind::milic2017};
    reversible_link symmetric{"symmetric", lane_policy_kind::symmetric};
    reversible_link predictive{"predictive", lane_policy_kind::predictive};
    static bench& get() {
        static bench b;
        return b;
    }
    std::array<reversible_link*, 3> all() { return {&milic2017, &symmetric, &predictive}; }
};

/// Bytes a second that direction a carries from now on.
double measure(reversible_link& l, ticks time) {
    const auto before = l.a.transmitter.bytes.total();
    run_for(time);
    return rate(l.a.transmitter.bytes.total() - before, time);
}

/// Writes from a that b acknowledges, `most` under way.
void write_with_acknowledgements(reversible_link& l, unsigned max_outstanding = 512) {
    auto under_way = std::make_shared<unsigned>(0);
    l.a.more = [under_way, max_outstanding]() -> note_ptr {
        if (*under_way >= max_outstanding) return nullptr;
        ++*under_way;
        return make_note(0, packet);
    };
    l.b.on_note = [&l](const note&) { l.b.send(make_note(0, answer, 1)); };
    l.a.on_note = [&l, under_way](const note&) {
        --*under_way;
        l.a.pump();
    };
    l.a.pump();
}

}  // namespace

TEST_CASE("no policy turns lanes while others still turn") {
    link::lane_sample s;
    s.directions[0] = {1.0, 1'000'000, lanes - 1, -1};
    s.directions[1] = {0.1, 100'000, lanes, 1};
    for (const auto kind : {lane_policy_kind::milic2017, lane_policy_kind::symmetric, lane_policy_kind::predictive}) {
        s.reversing = 1;
        CHECK(link::make_lane_policy(kind, 0.99)->decide(s).lanes == 0);
        s.reversing = 0;
        const auto d = link::make_lane_policy(kind, 0.99)->decide(s);
        CHECK(d.lanes > 0);
        CHECK(d.to == side::a);
    }
}

TEST_CASE("the predictive policy tries half as often what was wrong") {
    link::lane_sample one, both;
    one.directions[0] = {1.0, 1'000'000, lanes, 0};
    one.directions[1] = {0.1, 100'000, lanes, 0};
    both.directions[0] = {1.0, 1'000'000, lanes + 4, 4};
    both.directions[1] = {1.0, 1'000'000, lanes - 4, -4};
    const auto policy = link::make_lane_policy(lane_policy_kind::predictive, 0.99);
    for (const unsigned restore_after : {1u, 2u, 4u, 8u}) {
        CHECK(policy->decide(one).lanes > 0);  // after the first time: they turn again
        for (unsigned i = 1; i < restore_after; ++i) CHECK(policy->decide(both).lanes == 0);
        const auto back = policy->decide(both);
        CHECK(back.lanes == 2);  // half of those that have turned
        CHECK(back.to == side::b);
    }
}

TEST_CASE("an idle link costs no events, and a run ends") {
    auto& b = bench::get();
    auto& l = b.milic2017;
    l.restart();
    CHECK(b.timeline.next_event_time() == never);
    const auto events = b.timeline.executed();
    const auto begin = b.timeline.now();
    l.a.send(make_note(1, packet));
    run_all();
    // Its arrival, the end of the sample in which it was sent, and of one in which nothing was.
    CHECK(b.timeline.executed() - events == 3);
    CHECK(b.timeline.now() - begin <= 10 * us);
    CHECK(l.controller->samples.value() == 1);
}

TEST_CASE("one direction saturated: the other's lanes reverse, down to one, and 15 : 1 carry 1.875 times as much") {
    auto& b = bench::get();
    for (auto* l : b.all()) {
        INFO(l->controller->name());
        l->restart();
        l->saturate(l->a);
        run_for(50 * us);
        CHECK(l->lanes_of_a() == 15);
        CHECK(l->lanes_of_b() == 1);
        CHECK(l->controller->reversals.value() == 7);
        CHECK(l->controller->reversal_time.value() >= 7 * 100 * ns);
        CHECK(l->controller->reversal_time.value() <= 7 * 101 * ns);
        CHECK(measure(*l, 200 * us) / full == Approx(1.875).epsilon(0.001));
        l->restart();
        CHECK(l->lanes_of_a() == 8);
    }
}

TEST_CASE("the published policy turns one lane a sample, the predictive one all at once") {
    auto& b = bench::get();
    const auto after_samples = [](reversible_link& l, unsigned samples) {
        l.restart();
        l.saturate(l.a);
        run_for(samples * 5 * us + 200 * ns);
        const auto have = l.lanes_of_a();
        l.restart();
        return have;
    };
    for (unsigned samples = 1; samples < 8; ++samples) CHECK(after_samples(b.milic2017, samples) == 8 + samples);
    CHECK(after_samples(b.predictive, 1) == 15);
}

TEST_CASE("egress saturated, ingress at 6 of 8 lanes: a quarter more bandwidth") {
    auto& b = bench::get();
    for (auto* l : b.all()) {
        INFO(l->controller->name());
        l->restart();
        l->saturate(l->a);
        l->pace_b.start(6.0 * lane_rate, b.timeline.now() + 1000 * us);
        run_for(500 * us);
        const auto gain = measure(*l, 400 * us) / full;
        if (l == &b.milic2017) {
            CHECK(gain == Approx(1.25).epsilon(0.002));
            CHECK(l->lanes_of_a() == 10);
        } else {  // both directions are then saturated: a lane is given back now and then
            CHECK(gain > 1.17);
            CHECK(gain < 1.26);
        }
        l->restart();
    }
}

TEST_CASE("for half of the time: an eighth more in equal time, a ninth more of fixed work in a unit of time") {
    auto& b = bench::get();
    auto& l = b.milic2017;
    constexpr ticks half = 1000 * us;
    // In the first half direction a could carry more than it has lanes for, in the second as much as those carry.
    const auto first_half = [&](reversible_link& of, ticks time) {
        of.pace_b.start(6.0 * lane_rate, b.timeline.now() + time);
    };
    l.restart();
    const auto before = l.a.transmitter.bytes.total();
    first_half(l, half);
    l.saturate(l.a);
    run_for(half);
    l.silence();
    l.pace_a.start(full, b.timeline.now() + half);
    run_for(half);
    const auto in_equal_time = static_cast<double>(l.a.transmitter.bytes.total() - before);
    const double fixed = full * 2 * static_cast<double>(half) / static_cast<double>(ticks_per_second);
    CHECK(in_equal_time / fixed == Approx(1.125).epsilon(0.01));
    // The same work as without turning: the first half's is done sooner, the second half's takes its time.
    l.restart();
    const auto begin = b.timeline.now();
    auto left = static_cast<std::uint64_t>(fixed / 2 / packet);
    first_half(l, half);
    l.a.more = [&left]() -> note_ptr { return left && left-- ? make_note(0, packet) : nullptr; };
    l.a.pump();
    while (left) run_for(1 * us);
    l.pace_a.start(full, b.timeline.now() + half);
    run_for(half);
    CHECK(static_cast<double>(2 * half) / static_cast<double>(b.timeline.now() - begin) ==
          Approx(1.0 / 0.9).epsilon(0.01));
    l.restart();
}

TEST_CASE("writes with acknowledgements: at most 1.625; the published policy oscillates, the predictive one does not") {
    auto& b = bench::get();
    const auto run = [&](reversible_link& l) {
        l.restart();
        write_with_acknowledgements(l);
        run_for(200 * us);
        const auto reversals = l.controller->reversals.value();
        const auto gain = measure(l, 1000 * us) / full;
        const auto reversed = l.controller->reversals.value() - reversals;
        l.restart();
        return std::pair(gain, reversed);
    };
    // 13 : 3 carry 13 / 8; 14 : 2 only as many acknowledgements as 2 lanes can, 10 / 8.
    const auto [milic2017, milic_reversals] = run(b.milic2017);
    CHECK(milic2017 > 1.25);
    CHECK(milic2017 < 1.5);
    CHECK(milic_reversals >= 150);  // in 200 samples
    const auto [predictive, predictive_reversals] = run(b.predictive);
    CHECK(predictive == Approx(1.625).epsilon(0.005));
    CHECK(predictive_reversals == 0);
}

TEST_CASE(
    "both saturated: the published policy leaves the lanes as they are, the others return to the configured split") {
    auto& b = bench::get();
    const auto lanes_after = [&](reversible_link& l, ticks time) {
        l.restart();
        l.saturate(l.a);
        run_for(50 * us);
        REQUIRE(l.lanes_of_a() == 15);
        l.saturate(l.b);
        run_for(time);
        const auto have = l.lanes_of_a();
        l.restart();
        return have;
    };
    CHECK(lanes_after(b.milic2017, 500 * us) == 15);
    CHECK(lanes_after(b.symmetric, 18 * us) > 8);  // one lane a sample
    CHECK(lanes_after(b.symmetric, 500 * us) == 8);
    CHECK(lanes_after(b.predictive, 500 * us) == 8);
}

TEST_CASE("a kernel launch turns the lanes back to the configured split, at its cost, and begins a new sample") {
    auto& b = bench::get();
    auto& l = b.milic2017;
    l.restart();
    l.both().set_lanes(10, 6);  // configured so
    l.saturate(l.a);
    run_for(13 * us);
    REQUIRE(l.lanes_of_a() == 12);
    const auto launch = b.timeline.now();
    l.controller->kernel_launched();
    CHECK(l.lanes_of_a() == 10);
    CHECK(l.lanes_of_b() == 4);
    CHECK(l.controller->restored_lanes.value() == 2);
    run_for(101 * ns);  // and what was being sent
    CHECK(l.lanes_of_b() == 6);
    // The sample that had begun does not count.
    b.timeline.run_until(launch + 5 * us - 1);
    CHECK(l.lanes_of_b() == 6);
    run_for(101 * ns + 1);
    CHECK(l.lanes_of_a() == 11);
    l.restart();
    l.both().set_lanes(8, 8);
}

TEST_CASE("lanes over time, by direction") {
    auto& b = bench::get();
    auto& l = b.milic2017;
    l.restart();
    const auto begin = b.timeline.now();
    l.saturate(l.a);
    run_for(40 * us);
    const auto all = snapshot_statistics();
    const auto at = [&](const std::string& path) { return all.at(path); };
    // 8 lanes for a sample, then one more each; the last one for 100 ns less each time.
    CHECK(at("milic2017_a.transmitter.lanes.mean") ==
          Approx((8 + 9 + 10 + 11 + 12 + 13 + 14 + 15) / 8.0).epsilon(0.01));
    CHECK(at("milic2017_b.transmitter.lanes.mean") == Approx((8 + 7 + 6 + 5 + 4 + 3 + 2 + 1) / 8.0).epsilon(0.01));
    const auto time = static_cast<double>(b.timeline.now() - begin);
    const auto sum =
        at("milic2017_a.transmitter.lanes_over_time.sum") + at("milic2017_b.transmitter.lanes_over_time.sum");
    CHECK(sum == Approx(time * (at("milic2017_a.transmitter.lanes.mean") + at("milic2017_b.transmitter.lanes.mean"))));
    CHECK(sum + static_cast<double>(l.controller->reversal_time.value()) == Approx(16 * time).epsilon(1e-3));
    CHECK(at("milic2017_a.transmitter.lanes_over_time.peak") == 15e6);  // in a window of 1 us
    l.restart();
}

TEST_CASE("a direction that loses its last lane to a fault gets one back, and a repair undoes no turn") {
    auto& b = bench::get();
    auto& l = b.milic2017;
    l.restart();
    l.saturate(l.a);
    run_for(50 * us);
    REQUIRE(l.lanes_of_b() == 1);
    l.b.send(make_note(1, packet));
    l.both().fail_lanes(side::b, 1);
    CHECK(l.lanes_of_b() == 0);
    run_for(1 * us);
    CHECK(l.lanes_of_b() == 1);
    CHECK(l.lanes_of_a() == 14);
    CHECK(l.b.transmitter.packets.value() == 1);
    l.both().repair(side::b, 1);
    CHECK(l.lanes_of_b() == 2);
    CHECK(l.lanes_of_a() == 14);
    l.restart();
}
