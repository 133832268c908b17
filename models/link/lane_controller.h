// SPDX-License-Identifier: Apache-2.0
// Lets the lanes of a link turn: takes samples of how busy both directions are, and does what its policy says. Samples
// are taken only while something moves, so an idle link costs no events.
#pragma once

#include <array>
#include <memory>

#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "link/lane_meter.h"
#include "link/lane_policy.h"
#include "link/pair.h"

namespace fabricvp::link {

struct lane_controller_params {
    lane_policy_kind policy = lane_policy_kind::none;
    duration sample_time{5'000'000};  ///< 5,000 cycles of 1 GHz
    duration switch_time{100'000};    ///< 100 cycles of 1 GHz
    double threshold = 0.99;
    void describe(parameter_visitor& v);
};

class lane_controller final : public model {
public:
    const lane_controller_params params;

    counter samples{*this, "samples", "1", "samples taken; none while nothing moves"};
    counter turns{*this, "turns", "1", "lanes that samples have turned"};
    counter returns{*this, "returns", "1", "lanes that kernel launches have turned back"};
    counter turning_time{*this, "turning_time", "ps",
                         "time in which turning lanes served neither direction, summed over lanes"};

    /// \param lanes of both directions, whose channels are `a` and `b`
    lane_controller(const sc_core::sc_module_name& name, const lane_controller_params& params, pair& lanes, channel& a,
                    channel& b);

    /// A GPU behind the link launches a kernel: the lanes turn back to what was configured, and a new sample begins.
    void kernel_launched();

    void reset() override;

private:
    struct way {
        channel& lanes;
        lane_meter meter{lanes, "lanes"};
        ticks busy = 0;           // at the start of the sample
        std::uint64_t bytes = 0;  // the same
        explicit way(channel& c) : lanes(c) {}
    };
    void begin_sample();
    void take_sample();
    void wake();
    void sleep();
    void note_lanes();

    pair& m_pair;
    std::array<way, 2> m_ways;
    std::unique_ptr<lane_policy> m_policy;
    ticks m_since = 0;  // start of the sample
    calendar_event m_sample{method<&lane_controller::take_sample>, this};
};

}  // namespace fabricvp::link
