// SPDX-License-Identifier: Apache-2.0
#include "unit/link/link_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

struct bench {
    calendar timeline;
    link::channel channel{"channel", wire()};  // 8 GB/s
    static bench& get() {
        static bench b;
        b.timeline.run_until(b.timeline.now() + us);
        b.channel.reset();
        return b;
    }
};

}  // namespace

TEST_CASE("a packet takes the lanes for its bytes, and the next one follows without a gap") {
    auto& b = bench::get();
    const auto now = b.timeline.now();
    const auto first = b.channel.send(now, now, 80, 16);
    CHECK(first.begin == now);
    CHECK(first.end == now + 10 * ns);
    CHECK(first.head_arrival == now + 2 * ns + 20 * ns);
    CHECK(first.tail_arrival == now + 10 * ns + 20 * ns);
    const auto second = b.channel.send(now, now, 8, 8);
    CHECK(second.begin == first.end);
    CHECK(second.end == first.end + 1 * ns);
    CHECK(b.channel.free_at() == second.end);
    // Cut-through: the last byte does not leave before it has come.
    const auto late = b.channel.send(now + 50 * ns, now + 90 * ns, 80, 16);
    CHECK(late.begin == now + 80 * ns);
    CHECK(late.end == now + 90 * ns);
}

TEST_CASE("busy time is what the lanes have carried by then, however early it was booked") {
    auto& b = bench::get();
    auto& c = b.channel;
    const auto now = b.timeline.now();
    const auto before = c.busy.booked();
    c.send(now, now, 800, 16);  // 100 ns
    CHECK(c.busy.booked() - before == 100 * ns);
    CHECK(c.busy.until(now) - before == 0);
    CHECK(c.busy.until(now + 30 * ns) - before == 30 * ns);
    CHECK(c.busy.until(now + 100 * ns) - before == 100 * ns);
    CHECK(c.busy.until(now + 500 * ns) - before == 100 * ns);
    // A packet that waits for its own end begins late.
    c.send(now + 200 * ns, now + 400 * ns, 800, 16);
    CHECK(c.busy.until(now + 250 * ns) - before == 100 * ns);
    CHECK(c.busy.until(now + 350 * ns) - before == 150 * ns);
    CHECK(c.busy.until(now + 400 * ns) - before == 200 * ns);
    // What follows at once belongs to the same stretch; a pause for training does not count.
    c.hold(now + 600 * ns);
    CHECK(c.busy.until(now + 500 * ns) - before == 200 * ns);
    c.send(now + 600 * ns, now, 800, 16);
    c.send(now + 700 * ns, now, 800, 16);
    CHECK(c.busy.until(now + 750 * ns) - before == 350 * ns);
}

TEST_CASE("link-layer packets take the lanes before the next packet, and count as busy") {
    auto& b = bench::get();
    auto& c = b.channel;
    const auto now = b.timeline.now();
    c.send(now, now, 80, 16);
    c.add_overhead(8);
    const auto before = c.busy.booked();
    const auto p = c.send(now + 10 * ns, now, 80, 16);
    CHECK(p.begin == now + 11 * ns);
    CHECK(c.busy.booked() - before == 11 * ns);
    CHECK(c.busy.until(now + 16 * ns) - before == 6 * ns);
}

TEST_CASE("without lanes nothing is sent, nothing is divided by zero, and what was sent ends") {
    auto& b = bench::get();
    auto& c = b.channel;
    const auto now = b.timeline.now();
    unsigned restarts = 0;
    c.on_restart([&] { ++restarts; });
    const auto p = c.send(now, now, 80, 16);
    c.set_lanes(0);
    CHECK_FALSE(c.up());
    CHECK(c.free_at() == never);
    CHECK(c.ends_at() == p.end);
    CHECK(c.bytes_per_second() == 0);
    CHECK(c.busy.until(now + 4 * ns) == c.busy.booked() - 6 * ns);
    CHECK_THROWS_AS(c.send(now, now, 80, 16), std::logic_error);
    c.set_down(true);
    c.set_lanes(4);
    CHECK_FALSE(c.up());  // each has its own reason
    CHECK(restarts == 0);
    c.set_down(false);
    CHECK(restarts == 1);
    CHECK(c.free_at() == p.end);
    CHECK(c.send(now + 20 * ns, now, 80, 16).end == now + 40 * ns);  // half the lanes
    c.on_restart({});
}

TEST_CASE("a packet ends at the rate that it began with") {
    auto& b = bench::get();
    auto& c = b.channel;
    const auto now = b.timeline.now();
    const auto p = c.send(now, now, 800, 16);
    c.set_lanes(16);
    CHECK(c.free_at() == p.end);
    CHECK(c.send(now + 100 * ns, now, 800, 16).end == now + 150 * ns);
}
