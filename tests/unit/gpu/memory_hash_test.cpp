// SPDX-License-Identifier: Apache-2.0
// An L2 whose banks are chosen by a hash.
#include "unit/gpu/memory_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

gpu_memory_system_params hashed() {
    gpu_memory_system_params p = four_banks();
    p.l2.hashed = true;
    return p;
}

memory_machine& fresh() { return after_reset<hashed, 1>(); }

void send(memory_machine& m, line_listener& client, access_kind kind, std::uint64_t lines, std::uint64_t stride) {
    for (std::uint64_t n = 0; n < lines; ++n) m.system.router.send(client.make(kind, m.base() + 0x200000 + n * stride));
    m.run();
    REQUIRE(client.responses.size() == lines);
}

}  // namespace

TEST_CASE("lines at any power of two as distance use all banks of a hashed L2") {
    for (std::uint64_t stride = 128; stride <= 1 << 16; stride *= 2) {
        auto& m = fresh();
        std::vector<std::uint64_t> before;
        for (const auto& bank : m.system.l2.banks) before.push_back(bank->reads.value());
        line_listener client;
        send(m, client, access_kind::read, 64, stride);
        for (unsigned b = 0; b < before.size(); ++b) {
            INFO("stride " << stride << ", bank " << b);
            CHECK(m.system.l2.banks[b]->reads.value() - before[b] == 16);
        }
    }
}

TEST_CASE("a hashed L2 keeps and writes back as many lines as any") {
    auto& m = fresh();
    line_listener writes;
    const std::uint64_t lines = 2 * m.system.l2.params.size / 64, written = m.system.hbm.writes.value();
    send(m, writes, access_kind::write, lines, 64);
    std::uint64_t kept = 0;
    for (std::uint64_t n = 0; n < lines; ++n) {
        const std::uint64_t offset = 0x200000 + n * 64;
        kept += m.system.l2.bank_of(offset).holds(offset);
    }
    CHECK(kept == lines / 2);  // a stream fills every set of every bank evenly
    CHECK(m.system.hbm.writes.value() - written == lines / 2);
}
