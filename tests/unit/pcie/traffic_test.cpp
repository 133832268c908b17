// SPDX-License-Identifier: Apache-2.0
// Messages between copy engines: several channels of one engine are concurrent streams.
#include <catch2/catch.hpp>

#include "cs_storm_bench.h"
#include "pcie/traffic.h"

using namespace fabricvp;
using namespace fabricvp::pcie;

namespace {

double us(ticks t) { return static_cast<double>(t) * 1e-6; }

}  // namespace

TEST_CASE("messages on a tree") {
    calendar timeline;
    port_params port;
    port.max_payload = 256;
    test::cs_storm_bench bench("bench", port, 64);
    std::vector<copy_engine*> engines;
    for (auto& e : bench.engines) engines.push_back(e.get());
    constexpr std::uint64_t size = 1 << 20;

    const auto finish = [&](const std::vector<message>& messages) {
        std::vector<double> end;
        for (const auto& d : run_traffic(engines, messages)) {
            CHECK(d.intact);
            CHECK(d.sent < d.arrived);
            end.push_back(us(d.arrived));
        }
        return end;
    };
    const auto alone = finish({{0, 1, size}})[0];
    // 256 of 280 bytes at 15.75 GB/s.
    CHECK(alone == Approx(size / (15.754 * 256 / 280) * 1e-3).epsilon(0.02));

    // A scatter through channels of their own: all streams end together, at the time that the link needs for all of
    // them.
    const auto scatter = finish({{0, 1, size}, {0, 3, size}, {0, 6, size}});
    CHECK(scatter[0] == Approx(3 * alone).epsilon(0.02));
    CHECK(scatter[1] == Approx(3 * alone).epsilon(0.02));
    CHECK(scatter[2] == Approx(3 * alone).epsilon(0.02));

    // Through one channel they follow each other.
    const auto queue = finish({{0, 1, size, 0, 2}, {0, 3, size, 0, 2}, {0, 6, size, 0, 2}});
    CHECK(queue[0] == Approx(alone).epsilon(0.02));
    CHECK(queue[1] == Approx(2 * alone).epsilon(0.02));
    // … the last one at the rate of 64-byte pieces, into which the root complex cuts it.
    CHECK(queue[2] == Approx(alone * (2 + 4 * 88. / 280)).epsilon(0.02));

    // A message half as long ends when it has had its half of the link.
    const auto uneven = finish({{0, 1, size}, {0, 3, size / 2}});
    CHECK(uneven[1] == Approx(alone).epsilon(0.02));
    CHECK(uneven[0] == Approx(1.5 * alone).epsilon(0.02));

    // Starts count from the call.
    const auto late = finish({{2, 3, size}, {5, 4, size, 30'000'000}});
    CHECK(late[0] == Approx(alone).epsilon(0.02));
    CHECK(late[1] == Approx(alone + 30).epsilon(0.02));

    // More messages than channels: the rest waits for its turn, and nothing is lost.
    std::vector<message> many;
    for (unsigned i = 0; i < 20; ++i) many.push_back({3, i % 3, 10'000u + 77 * i});
    finish(many);

    // A limit leaves what has not arrived undelivered, and does no harm later.
    const auto cut = run_traffic(engines, {{0, 1, size}, {2, 3, 4096}}, 20'000'000);
    CHECK(cut[0].arrived == never);
    CHECK_FALSE(cut[0].intact);
    CHECK(cut[1].intact);
    timeline.run_until(timeline.now() + 200'000'000);
    CHECK(finish({{0, 1, size}})[0] == Approx(alone).epsilon(0.001));

    CHECK_THROWS_WITH(run_traffic(engines, {{0, 8, 1}}), Catch::Contains("no endpoint 8"));
    CHECK_THROWS_WITH(run_traffic(engines, {{3, 3, 1}}), Catch::Contains("to itself"));
    CHECK_THROWS_WITH(run_traffic(engines, {{0, 1, 0}}), Catch::Contains("empty"));
    CHECK_THROWS_WITH(run_traffic(engines, {{0, 1, 4, 0, 8}}), Catch::Contains("no channel 8"));
    CHECK_THROWS_WITH(run_traffic(engines, {{0, 1, std::uint64_t{17} << 20}}), Catch::Contains("do not fit"));
    bench.engines[5]->config.space.set(0x04, 2, 0);
    CHECK_THROWS_WITH(run_traffic(engines, {{0, 5, 4}}), Catch::Contains("not been enumerated"));
}
