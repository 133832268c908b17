// SPDX-License-Identifier: Apache-2.0
// The command interface as a driver sees it: start-up, regions, translation, and what is refused.
#include "hca_bench.h"

using namespace fabricvp;
using namespace fabricvp::hca;
using test::driver;

TEST_CASE("commands of an HCA") {
    calendar timeline;
    hca_params unplugged;
    unplugged.network.plugged = false;
    test::computer host("host", 1, unplugged);
    driver d(host, 0, 1 << 20, 48 << 20);
    auto& hca = *host.adapters[0];

    // --- identity ---
    CHECK(hca.config.space.get(0x00, 4) == 0x627415b3);
    CHECK(hca.config.bar_size(0) == 1 << 20);
    for (auto id : {pcie::power_management_id, pcie::express_id, pcie::msi_x_id})
        CHECK(hca.config.space.find_capability(id) >= 0x60);

    // --- nothing goes before its time ---
    CHECK(d.command(HCA_RUN_FW) == HCA_BAD_SYSTEM_STATE);
    CHECK(d.command(HCA_INIT_HCA) == HCA_BAD_SYSTEM_STATE);
    CHECK(d.command(HCA_SW2HW_MPT, 16) == HCA_BAD_SYSTEM_STATE);
    CHECK(d.command(0x001) == HCA_BAD_OPCODE);
    CHECK(d.command(HCA_ENABLE_LAM) == HCA_NO_LOCAL_MEMORY);
    d.start();
    CHECK(d.command(HCA_INIT_HCA) == HCA_BAD_SYSTEM_STATE);
    CHECK(d.command(HCA_QUERY_DEV_LIM) == HCA_OK);
    CHECK(hca_get(d.out(), HCA_LIM_PORTS) == 1);
    CHECK(hca_get(d.out(), HCA_LIM_FLAGS) & HCA_FLAG_ATOMICS);
    CHECK(d.command(HCA_QUERY_ADAPTER) == HCA_OK);

    // --- regions ---
    const auto r = d.region(10'000, 7, local_read | local_write, 0x1234'5010);
    CHECK(d.add_region(1, r, 7, local_read) == HCA_BAD_OBJECT_STATE);  // there is one
    CHECK(d.add_region(0x1000, r, 7, local_read) == HCA_OK);           // index 0, generation 1
    CHECK(d.command(HCA_HW2SW_MPT, 0, 1) == HCA_OK);
    CHECK(d.command(HCA_HW2SW_MPT, 0, 1) == HCA_BAD_OBJECT_STATE);
    std::vector<std::pair<violation, bus_ranges>> got;
    const auto translate = [&](const region_access& a) {
        got.clear();
        hca.translation.translate(a, [&](violation v, const bus_ranges& where) { got.emplace_back(v, where); });
        d.run();
        REQUIRE(got.size() == 1);
        return got[0].first;
    };
    CHECK(translate({r.key, 7, r.address, 10'000, local_read}) == violation::none);
    CHECK(hca.translation.mtt_misses.total() == 1);
    REQUIRE(got[0].second.size() == 3);  // a page after the other, in falling order
    CHECK(got[0].second[0].address == r.pages[0] + 0x10);
    CHECK(got[0].second[0].bytes == 4080);
    CHECK(got[0].second[1].address == r.pages[1]);
    CHECK(got[0].second[2].bytes == 10'000 - 4080 - 4096);
    CHECK(translate({r.key, 7, r.address + 1, 10'000, local_read}) == violation::bounds);
    CHECK(translate({r.key, 7, r.address - 1, 1, local_read}) == violation::bounds);
    CHECK(translate({r.key, 8, r.address, 1, local_read}) == violation::domain);
    CHECK(translate({r.key, 7, r.address, 1, remote_read}) == violation::rights);
    CHECK(translate({r.key + 1, 7, r.address, 1, local_read}) == violation::key);
    CHECK(hca.translation.mtt_misses.total() == 1);
    hca_put64(d.icm_byte(r.mtt), 0);  // software takes a page away behind the HCA's back: the cache still knows it
    CHECK(translate({r.key, 7, r.address, 1, local_read}) == violation::none);
    CHECK(d.command(HCA_HW2SW_MPT, 1, 1) == HCA_OK);
    CHECK(translate({r.key, 7, r.address, 1, local_read}) == violation::key);
    CHECK(d.add_region(1, r, 7, local_read) == HCA_OK);
    CHECK(translate({r.key, 7, r.address, 1, local_read}) == violation::translation);
    CHECK(translate({r.key, 7, r.address + 4096, 1, local_read}) == violation::none);
    CHECK(d.command(HCA_UNMAP_ICM, 64, 0, driver::mtt_icm, 0).status == HCA_OK);  // 63 of these pages were not mapped
    CHECK(translate({r.key, 7, r.address + 4096, 1, local_read}) == violation::translation);
}
