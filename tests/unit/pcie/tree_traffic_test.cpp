// SPDX-License-Identifier: Apache-2.0
// Traffic on a whole tree: rates, contention, conservation.
#include <catch2/catch.hpp>

#include <random>

#include "cs_storm_bench.h"

using namespace fabricvp;
using namespace fabricvp::pcie;
using test::cs_storm_bench;

namespace {

port_params gen3() {
    port_params p;
    p.max_payload = 128;
    return p;
}

}  // namespace

TEST_CASE("eight engines on a tree") {
    calendar timeline;
    cs_storm_bench bench("bench", gen3(), 64);
    constexpr std::uint64_t message = 1 << 20;
    std::mt19937 random(1);
    for (auto& e : bench.engines)
        for (std::uint64_t i = 0; i < message; ++i) e->memory.data()[i] = static_cast<std::uint8_t>(random());

    const std::vector<std::pair<unsigned, unsigned>> example{{0, 2}, {1, 4}, {3, 2}, {6, 4}};
    std::vector<double> finished(example.size());
    for (std::size_t i = 0; i < example.size(); ++i) {
        const auto [s, d] = example[i];
        bench.engines[s]->push(0, cs_storm_bench::engine_base(d) + (i + 1) * message, message,
                               [&, i] { finished[i] = timeline.now() * 1e-6; });
    }
    timeline.run_until(10'000'000'000);
    for (std::size_t i = 0; i < example.size(); ++i) {
        const auto [s, d] = example[i];
        CHECK(std::memcmp(bench.engines[s]->memory.data(), bench.engines[d]->memory.data() + (i + 1) * message,
                          message) == 0);
        REQUIRE(finished[i] > 0);
    }
    const auto rate = [&](std::size_t i) { return message / finished[i] * 1e-3; };  // GB/s
    // 0 -> 2 waits behind 1 -> 4 in its board's uplink: they keep pace.
    CHECK(rate(0) == Approx(rate(1)).epsilon(0.01));
    // 3 -> 2 takes what 0 -> 2 leaves, and 6 -> 4 wins against the smaller TLPs of 1 -> 4 that crossed the root
    // complex.
    CHECK(rate(2) > rate(3));
    CHECK(rate(3) > 1.5 * rate(1));
    // No destination receives more than its link carries: 128 of 152 bytes at 15.75 GB/s.
    CHECK(rate(0) + rate(2) < 13.27 * finished[0] / finished[2]);

    std::uint64_t hops = 0;
    for (const auto* stat : all_statistics())
        if (const auto* c = dynamic_cast<const counter*>(stat); c && c->path().find(".tlps_sent") != std::string::npos)
            hops += c->value();
    CHECK(bench.root.peer_to_peer.value() == message / 128);
    CHECK(hops >= 4 * message / 128 * 3);
    CHECK(static_cast<double>(timeline.executed()) / static_cast<double>(hops) < 3.0);
}
