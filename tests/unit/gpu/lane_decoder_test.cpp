// SPDX-License-Identifier: Apache-2.0
// Compute units whose SIMD units share a decoder, and whose wavefronts issue no oftener than every five cycles:
// MGPUSim's.
#include "lane_bench.h"

#include "../riscv/assembler.h"
#include "abi/gpu_isa.h"

using namespace fabricvp;
using namespace fabricvp::gpu;
using namespace assembler;

namespace {

constexpr int interval = 4, wavefront_interval = 5;

const bool set_up = [] {
    auto& p = lane_bench::unit_params();
    p.shared_decoder = true;
    p.wavefront_interval = wavefront_interval;
    return true;
}();

/// Cycles of an instruction of each of `wavefronts` on one compute unit, in a long chain.
double instruction_cycles(std::uint32_t wavefronts) {
    double times[2];
    for (const int length : {100, 300}) {
        auto& b = lane_bench::restart();
        program p(GPU_CODE_BASE);
        for (int i = 0; i < length; ++i) p << addi(t3, t3, 1);
        p << word{GPU_OPCODE};
        b.load(p.words());
        const auto begin = b.timeline.now();
        REQUIRE_FALSE(b.run(b.words(wavefronts * 64, wavefronts * 64)).aborted);
        times[length == 300] = static_cast<double>(b.timeline.now() - begin) / 1000;
    }
    return (times[1] - times[0]) / 200;
}

}  // namespace

TEST_CASE("a wavefront alone issues at its own interval") {
    CHECK(instruction_cycles(1) == Approx(wavefront_interval));
    CHECK(instruction_cycles(4) == Approx(wavefront_interval));  // one a SIMD unit
}

TEST_CASE("SIMD units with several ready wavefronts hold the decoder") {
    // Two a SIMD unit: two instructions in five cycles. Three and more: one in four, whatever the others have.
    CHECK(instruction_cycles(8) / 8 == Approx(2.5).margin(0.3));
    CHECK(instruction_cycles(16) / 16 == Approx(interval).margin(0.4));
}
