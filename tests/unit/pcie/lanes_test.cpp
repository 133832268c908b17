// SPDX-License-Identifier: Apache-2.0
// Reversible lanes on PCIe-like links: the same pair, controller and policies as on links of a fabric.
#include <catch2/catch.hpp>

#include "cs_storm_bench.h"
#include "link/lane_controller.h"
#include "pcie/traffic.h"

using namespace fabricvp;
using namespace fabricvp::pcie;
using link::side;

TEST_CASE("a one-way stream of writes gets the lanes of the other direction, training puts them back") {
    calendar timeline;
    port_params port;  // Gen3 x16
    port.max_payload = 256;
    test::cs_storm_bench bench("bench", port, 256);
    std::vector<copy_engine*> engines;
    for (auto& e : bench.engines) engines.push_back(e.get());
    // Engines 0 and 1 share a board: a message passes the links of both, and no other.
    std::vector<std::unique_ptr<link::lane_controller>> controllers;
    link::lane_controller_params p;
    p.policy = link::lane_policy_kind::milic2017;
    p.threshold = 0.95;
    for (unsigned n = 0; n < 2; ++n) {
        auto& near = engines[n]->link;
        auto& both = near.duplex();
        REQUIRE(near.local_side() == side::b);  // the board's port is the other end
        controllers.push_back(std::make_unique<link::lane_controller>(fmt::format("lanes{}", n).c_str(), p, both,
                                                                      near.partner()->transmitter, near.transmitter));
    }
    constexpr std::uint64_t size = 8 << 20;
    const auto time = [&](unsigned from, unsigned to) {
        const auto d = run_traffic(engines, {{from, to, size}});
        REQUIRE(d[0].intact);
        return static_cast<double>(d[0].arrived);
    };
    const auto fixed = time(2, 3);
    const auto reversed = time(0, 1);
    INFO("gain " << fixed / reversed);
    CHECK(fixed / reversed > 1.3);
    CHECK(fixed / reversed < 31.0 / 16);
    auto& first = engines[0]->link.duplex();
    CHECK(first.lanes(side::b) > 16);
    CHECK(first.lanes(side::a) + first.lanes(side::b) == 32);
    CHECK(engines[0]->link.lanes() == 16);  // what configuration space shows is what was trained
    engines[0]->link.train();
    timeline.run_until(timeline.now() + 100'000'000);
    CHECK(first.lanes(side::a) == 16);
    CHECK(first.lanes(side::b) == 16);
    CHECK(engines[0]->link.up());
}
