// SPDX-License-Identifier: Apache-2.0
// What benches of harts that sleep over polls share: random programs run twice, with and without sleep, disturbed from
// outside, and are looked at at random times. FABRICVP_POLL_PROGRAMS says how many programs (default: 150),
// FABRICVP_POLL_SEED the first one's seed.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "hart_bench.h"

namespace fabricvp::riscv {

/// Random numbers, the same for a seed.
class rng {
public:
    explicit rng(std::uint64_t seed) : m_engine(seed) {}
    int below(int n) { return static_cast<int>(m_engine() % static_cast<std::uint64_t>(n)); }
    int between(int low, int high) { return low + below(high - low + 1); }
    ticks below_ticks(ticks n) { return m_engine() % n; }

private:
    std::mt19937_64 m_engine;
};

/// What happens to harts from outside, at times of its own.
struct disturbance {
    std::function<void()> what;
    void happen() { what(); }
    calendar_event event{method<&disturbance::happen>, this};
};

/// Counts from the beginning of a run.
class own_timebase final : public timebase {
public:
    ticks begin = 0;
    std::uint64_t time_at(ticks at) const override { return at < begin ? 0 : (at - begin) / test_timebase::period; }
    ticks when(std::uint64_t value) const override {
        return value > (never - begin) / test_timebase::period ? never : begin + value * test_timebase::period;
    }
};

/// What one sees of a hart: its registers, and its counts since `base` instructions.
inline void look_at(const hart& h, std::uint64_t base, std::vector<std::uint64_t>& trace) {
    trace.push_back(h.pc());
    for (unsigned i = 1; i < 32; ++i) trace.push_back(h.x(i));
    trace.push_back(h.instructions.total() - base);
    for (const auto* c : {&h.active_cycles, &h.traps, &h.interrupts, &h.bus_accesses, &h.late_interrupts})
        trace.push_back(c->value());
}

/// A bench's `run(seed, skip)` gives what was seen, and adds to `skipped` and `instructions`.
template <class Bench>
void compare_with_and_without_sleep(Bench& b) {
    const auto number = [](const char* variable, std::uint64_t otherwise) {
        const char* const text = std::getenv(variable);
        return text ? std::strtoull(text, nullptr, 10) : otherwise;
    };
    const auto programs = number("FABRICVP_POLL_PROGRAMS", 150), first = number("FABRICVP_POLL_SEED", 1);
    for (auto seed = first; seed < first + programs; ++seed) {
        INFO("FABRICVP_POLL_SEED=" << seed << " FABRICVP_POLL_PROGRAMS=1");
        const auto skipped = b.skipped;
        const auto executed = b.run(seed, false);
        REQUIRE(b.skipped == skipped);
        const auto slept = b.run(seed, true);
        REQUIRE(slept.size() == executed.size());
        const auto differ = std::mismatch(executed.begin(), executed.end(), slept.begin()).first - executed.begin();
        REQUIRE(differ == static_cast<std::ptrdiff_t>(executed.size()));
    }
    if (programs >= 50) CHECK(b.skipped * 4 > b.instructions / 2);  // a quarter at least, of the runs that may
}

}  // namespace fabricvp::riscv
