// SPDX-License-Identifier: Apache-2.0
// A cluster queue that gets one more destination while packets are in it, as after the failure of a link.
#include "netcrafter_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

/// Writes of five flits for the first cluster, as many as there is room for, 60 at most. \returns flits
unsigned fill(cluster_queue& q, sampler& s) {
    unsigned flits = 0;
    for (int i = 0; i < 60; ++i) {
        const auto p = s.make(sample::write);
        if (!q.has_room(0, p->channel(), p->flits)) break;
        q.push(0, q.queue_for(*p, false), p, 0);
        flits += p->flits;
    }
    return flits;
}

void drain(cluster_queue& q, sampler& s) {
    const auto queue = q.queue_for(*s.make(sample::write), false);
    while (q.filled(0)) q.pop(0, queue);
}

}  // namespace

TEST_CASE("what is in the queue counts against what its cluster has left") {
    sampler s;
    packet_format f;
    cluster_queue q(f, 1024, true, false), fresh(f, 1024, true, false);
    q.add_destination();
    CHECK(fill(q, s) == 300);
    q.add_destination();
    drain(q, s);
    CHECK(q.flits() == 0);
    for (int i = 0; i < 2; ++i) fresh.add_destination();
    for (const unsigned flits : {100u, 128u, 129u, 300u, 640u, 641u, 1000u})
        CHECK(q.has_room(0, virtual_channel::request, flits) == fresh.has_room(0, virtual_channel::request, flits));
    CHECK(q.has_room(0, virtual_channel::request, 300));
}

TEST_CASE("a queue that is too small for one more destination keeps room for a largest packet of each") {
    sampler s;
    packet_format f;
    cluster_queue q(f, 16, true, false);
    q.add_destination();
    CHECK(fill(q, s) == 10);
    q.add_destination();
    for (const unsigned cluster : {0u, 1u}) CHECK(q.has_room(cluster, virtual_channel::response, 5));
    CHECK(q.has_room(1, virtual_channel::request, 5));
    CHECK_FALSE(q.has_room(1, virtual_channel::request, 6));
    drain(q, s);
    CHECK(q.has_room(0, virtual_channel::request, 5));
}
