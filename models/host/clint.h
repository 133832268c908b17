// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "base/clock_domain.h"
#include "base/parameters.h"
#include "base/wire.h"
#include "host/register_target.h"
#include "riscv/timebase.h"

namespace fabricvp::host {

struct clint_params {
    frequency timebase{10'000'000};
    void describe(parameter_visitor& v);
};

/// Core-local interruptor: software interrupts (MSIP), the real-time counter and its comparators, for up to 4095 harts.
/// The counter starts at zero at reset. Timer interrupts come at the exact time at which the counter reaches MTIMECMP.
class clint final : public register_target, public riscv::timebase {
public:
    const clint_params params;

    device_register msip;
    device_register mtimecmp;
    device_register mtime;

    std::vector<wire> software_interrupt;  ///< by hart
    std::vector<wire> timer_interrupt;     ///< by hart

    /// Called after software has set the counter.
    std::function<void()> on_time_set;

    clint(const sc_core::sc_module_name& name, const clint_params& params, std::size_t harts);

    void reset() override;

    std::uint64_t time_at(ticks at) const override;
    ticks when(std::uint64_t value) const override;

private:
    struct comparator {
        comparator(clint& owner, std::size_t hart) : owner(owner), hart(hart) {}
        void update() { owner.update(hart); }
        clint& owner;
        std::size_t hart;
        calendar_event event{method<&comparator::update>, this};
    };

    outcome access(bus_payload& payload, ticks& latency) override;
    void set_time(std::uint64_t value);
    void update(std::size_t hart);

    clock_domain m_clock;
    std::uint64_t m_offset = 0;  // mtime = cycles of the clock since time zero + offset, modulo 2^64
    std::deque<comparator> m_comparators;
};

}  // namespace fabricvp::host
