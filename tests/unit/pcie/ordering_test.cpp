// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "cs_storm_bench.h"

using namespace fabricvp;
using namespace fabricvp::pcie;
using test::cs_storm_bench;

TEST_CASE("an engine's write is not passed by its later read, and a port may be favoured") {
    calendar timeline;
    port_params ports;
    cs_storm_bench bench("bench", ports, 64);
    // Posted writes of 64 KiB, then a read of the last byte written: it must see it, whatever waits on the way.
    std::memset(bench.engines[0]->memory.data(), 0xab, 64 << 10);
    for (unsigned rival = 1; rival < 8; ++rival)
        bench.engines[rival]->push(0, cs_storm_bench::engine_base(6) + 0x100000, 64 << 10, {});
    auto data = allocate_slice(64 << 10);
    std::memset(data.data(), 0xab, data.length);
    bench.engines[0]->dma.write(cs_storm_bench::engine_base(6), data);
    auto seen = allocate_slice(1);
    bool done = false;
    bench.engines[0]->dma.read(cs_storm_bench::engine_base(6) + (64 << 10) - 1, seen,
                               [&](request_status) { done = true; });
    timeline.run_until(timeline.now() + 5'000'000'000);
    REQUIRE(done);
    CHECK(*seen.data() == 0xab);

    // Two engines of a board to a third endpoint: equal by default, three to one when the board says so.
    ticks first = 0, second = 0;
    const auto race = [&] {
        first = second = 0;
        const auto begin = timeline.now();
        bench.engines[0]->push(0, cs_storm_bench::engine_base(2), 256 << 10,
                               [&, begin] { first = timeline.now() - begin; });
        bench.engines[1]->push(0, cs_storm_bench::engine_base(2) + 0x100000, 256 << 10,
                               [&, begin] { second = timeline.now() - begin; });
        timeline.run_until(timeline.now() + 5'000'000'000);
    };
    race();
    CHECK(static_cast<double>(first) == Approx(static_cast<double>(second)).epsilon(0.02));
    bench.boards[0]->set_weight(1, 3);
    race();
    // The favoured one has 3/4 of the link until it ends: 256 KiB take 4/3 of their time alone; the other one takes 2.
    CHECK(static_cast<double>(second) / static_cast<double>(first) == Approx(1.5).epsilon(0.05));
}
