// SPDX-License-Identifier: Apache-2.0
// Channels, rows and refreshes of memory, alone.
#include <catch2/catch.hpp>

#include <algorithm>

#include "base/calendar.h"
#include "gpu/memory/hbm.h"

using namespace fabricvp;
using namespace fabricvp::gpu;

namespace {

hbm_params small(bool hashed, ticks interval, ticks time) {
    hbm_params p;  // 16 channels; a line takes 4 ns of one
    p.hashed = hashed;
    p.refresh_interval = {interval};
    p.refresh_time = {time};
    return p;
}

/// Elaborated once: SystemC knows no second time.
struct bench {
    calendar cal{"calendar"};
    hbm plain{"plain", small(false, 0, 0)};
    hbm hashed{"hashed", small(true, 0, 0)};
    hbm refreshed{"refreshed", small(false, 3'900'000, 350'000)};
};
bench& all() {
    static bench b;
    b.plain.reset();
    b.hashed.reset();
    b.refreshed.reset();
    return b;
}

/// Reads `lines` lines that are `stride` bytes apart, all asked for at once. \returns bytes a second until the last one
double rate(hbm& m, std::uint64_t lines, std::uint64_t stride) {
    ticks last = 0;
    for (std::uint64_t n = 0; n < lines; ++n) last = std::max(last, m.access(n * stride, false, 0));
    return static_cast<double>(lines) * 64 * 1e12 / static_cast<double>(last);
}

}  // namespace

TEST_CASE("lines 2 KiB apart use one channel, or all if the channel is hashed") {
    auto& b = all();
    const double peak = b.plain.peak();
    CHECK(peak == Approx(256e9));
    CHECK(rate(b.plain, 4096, 2048) < 1.01 * peak / 16);
    CHECK(rate(b.hashed, 4096, 2048) > 0.8 * peak);
    CHECK(rate(all().plain, 4096, 64) > 0.9 * peak);
    CHECK(rate(all().hashed, 4096, 64) > 0.9 * peak);
}

TEST_CASE("refreshes take their share of the time, one channel after the other") {
    auto& b = all();
    const double all_of_it = rate(b.plain, 1 << 18, 64), rest = rate(b.refreshed, 1 << 18, 64);
    CHECK(rest < 1.005 * all_of_it * (3900 - 350) / 3900);
    CHECK(rest > 0.97 * all_of_it * (3900 - 350) / 3900);
}

TEST_CASE("an access waits for the refresh of its channel, which closes rows") {
    auto& m = all().refreshed;
    const auto hits = m.row_hits.value(), opens = m.row_opens.value(), conflicts = m.row_conflicts.value();
    const ticks open = m.access(0, false, 400'000) - 400'000;  // channel 0 refreshes from 0, 3,900, … ns on
    CHECK(open == 7 * 2000 + 7 * 2000 + 4000);                 // tRCD, tCL, four transfers
    CHECK(m.access(64, false, 3'000'000) - 3'000'000 == 7 * 2000 + 4000);
    CHECK(m.row_hits.value() - hits == 1);
    CHECK(m.access(0, false, 4'000'000) - 4'000'000 == 250'000 + open);  // refreshing since 3,900 ns
    CHECK(m.row_opens.value() - opens == 2);
    CHECK(m.row_conflicts.value() == conflicts);
    // Channel 8 refreshes half of the interval later.
    m.access(8 * 128, false, 4'000'000);
    CHECK(m.access(8 * 128, false, 5'900'000) - 5'900'000 == 300'000 + open);
}
