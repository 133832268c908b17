// SPDX-License-Identifier: Apache-2.0
// Kernels as the compiler makes them, on compute units.
#include <numeric>

#include "lane_bench.h"

#include "kernels/vectoradd.h"

using namespace fabricvp;
using namespace fabricvp::gpu;

static const std::string folder = FABRICVP_FIRMWARE_DIR;

static class_counts executed_by(const lane_bench& b) {
    class_counts sum{};
    for (const auto& u : b.units)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += u->executed()[i];
    return sum;
}

TEST_CASE("vectoradd adds, with whole and broken work-groups, on any memory") {
    const unsigned n = GENERATE(64u, 1000u, 4096u);
    const ticks longest = GENERATE(0u, 500'000u);
    auto& b = lane_bench::restart();
    b.memory.longest = longest;
    b.load_file(folder + "/vectoradd.elf");
    const auto a = b.data + 4096, c = a + 4 * n, sum = c + 4 * n;
    for (unsigned i = 0; i < n; ++i) {
        b.memory.at<float>(a + 4 * i) = 1.5f * static_cast<float>(i);
        b.memory.at<float>(c + 4 * i) = 1000.0f - static_cast<float>(i);
    }
    b.memory.at<std::uint64_t>(b.data) = a;
    b.memory.at<std::uint64_t>(b.data + 8) = c;
    b.memory.at<std::uint64_t>(b.data + 16) = sum;
    b.memory.at<std::uint64_t>(b.data + 24) = n;
    auto what = b.kernel("vectoradd", b.data);
    what.grid = {n, 1, 1};
    what.group = {256, 1, 1};
    const auto before = executed_by(b);
    const auto& run = b.run(what);
    CHECK_FALSE(run.aborted);
    unsigned wrong = 0;
    for (unsigned i = 0; i < n; ++i)
        wrong += b.memory.at<float>(sum + 4 * i) != 1.5f * static_cast<float>(i) + (1000.0f - static_cast<float>(i));
    CHECK(wrong == 0);
    CHECK(b.memory.at<float>(sum + 4 * n) == 0);
    CHECK(b.statistic(".wavefronts") == (n + 63) / 64);
    CHECK(b.statistic(".wavefront_instructions") == 18 * ((n + 63) / 64));
    auto executed = executed_by(b);
    for (std::size_t i = 0; i < executed.size(); ++i) executed[i] -= before[i];
    CHECK(std::accumulate(executed.begin(), executed.end(), std::uint64_t{0}) == 18 * ((n + 63) / 64));
    CHECK(executed[static_cast<unsigned>(issue_class::floating)] == (n + 63) / 64);
    CHECK(executed[static_cast<unsigned>(issue_class::load)] == 6 * ((n + 63) / 64));  // four are of arguments
    CHECK(executed[static_cast<unsigned>(issue_class::store)] == (n + 63) / 64);
    CHECK(b.memory.live() == 0);
}
