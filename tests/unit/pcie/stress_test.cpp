// SPDX-License-Identifier: Apache-2.0
// All engines write to and read from all others, through buffers that hold a TLP or two: nothing may deadlock, nothing
// may be lost, and the buffers must matter.
#include <catch2/catch.hpp>

#include "cs_storm_bench.h"

using namespace fabricvp;
using namespace fabricvp::pcie;
using test::cs_storm_bench;

namespace {

/// All to all, writes first, then reads of the same data back. \returns the time it took
ticks all_to_all(calendar& timeline, cs_storm_bench& bench, std::uint64_t bytes) {
    constexpr std::uint64_t slot = 256 << 10;
    const auto begin = timeline.now();
    const auto pattern = [](unsigned s, unsigned d, std::uint64_t i) {
        return static_cast<std::uint8_t>(31 * s + 7 * d + i * 3 + 1);
    };
    unsigned reads_left = 0, failed = 0;
    std::vector<buffer_slice> read_back;
    ticks last = begin;
    for (unsigned s = 0; s < 8; ++s)
        for (unsigned d = 0; d < 8; ++d) {
            if (s == d) continue;
            for (std::uint64_t i = 0; i < bytes; ++i) bench.engines[s]->memory.data()[d * slot + i] = pattern(s, d, i);
            bench.engines[s]->push(d * slot, cs_storm_bench::engine_base(d) + (8 + s) * slot, bytes,
                                   [&] { last = timeline.now(); });
            read_back.push_back(allocate_slice(bytes));
            ++reads_left;
            // Reads of the sender's own original, by the receiver, cross the writes on their way.
            bench.engines[d]->dma.read(cs_storm_bench::engine_base(s) + d * slot, read_back.back(),
                                       [&](request_status status) {
                                           --reads_left;
                                           failed += status != request_status::ok;
                                           last = timeline.now();
                                       });
        }
    timeline.run_until(begin + 40'000'000'000);
    CHECK(reads_left == 0);
    CHECK(failed == 0);
    std::size_t k = 0;
    for (unsigned s = 0; s < 8; ++s)
        for (unsigned d = 0; d < 8; ++d) {
            if (s == d) continue;
            const auto* sent = bench.engines[s]->memory.data() + d * slot;
            CHECK(std::memcmp(sent, bench.engines[d]->memory.data() + (8 + s) * slot, bytes) == 0);
            CHECK(std::memcmp(sent, read_back[k++].data(), bytes) == 0);
        }
    return last - begin;
}

}  // namespace

TEST_CASE("all to all through tiny, small and ample buffers") {
    calendar timeline;
    const auto ports = [](std::uint64_t buffer, std::uint64_t headers) {
        port_params p;
        p.max_payload = 128;
        p.posted_buffer = p.completion_buffer = {buffer};
        p.non_posted_buffer = {16};
        p.posted_headers = p.non_posted_headers = p.completion_headers = headers;
        return p;
    };
    cs_storm_bench tiny("tiny", ports(128, 1), 64), small("small", ports(1024, 8), 64),
        half("half", ports(4096, 32), 64), ample("ample", ports(8192, 64), 64);
    constexpr std::uint64_t bytes = 16 << 10;
    const auto t_tiny = all_to_all(timeline, tiny, bytes), t_small = all_to_all(timeline, small, bytes),
               t_half = all_to_all(timeline, half, bytes), t_ample = all_to_all(timeline, ample, bytes);
    INFO("us: tiny " << t_tiny / 1000000 << ", small " << t_small / 1000000 << ", half " << t_half / 1000000
                     << ", ample " << t_ample / 1000000);
    // A link's round trip holds about 2 KB: below that, buffers bound the rate; above, they hardly do.
    CHECK(t_tiny > 2 * t_small);
    CHECK(t_small > t_half);
    CHECK(t_half < 1.2 * t_ample);
}
