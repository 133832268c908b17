// SPDX-License-Identifier: Apache-2.0
// Lets the lanes of a link turn: takes samples of how busy both directions are, and does what its policy says. Samples
// are taken only while something moves, so an idle link costs no events.
#pragma once

#include <array>

#include "base/model.h"
#include "base/parameters.h"
#include "base/statistics.h"
#include "link/duplex_link.h"
#include "link/lane_meter.h"
#include "link/programmable_policy.h"

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
    counter reversals{*this, "reversals", "1", "lanes reversed by samples"};
    counter restored_lanes{*this, "restored_lanes", "1", "lanes restored to the configured split at kernel launches"};
    counter reversal_time{*this, "reversal_time", "ps",
                          "time in which lanes under reversal served neither direction, summed over lanes"};

    /// \param lanes of both directions, whose channels are `a` and `b`
    lane_controller(const sc_core::sc_module_name& name, const lane_controller_params& params, duplex_link& lanes,
                    channel& a, channel& b);

    /// A GPU behind the link launches a kernel: the lanes reverse back to what was configured, and a new sample begins.
    void kernel_launched();

    /// Which policy decides; software may exchange it.
    programmable_policy& policy() { return m_policy; }

    void reset() override;

private:
    struct direction {
        channel& lanes;
        lane_meter meter{lanes, "lanes"};
        ticks busy = 0;           // at the start of the sample
        std::uint64_t bytes = 0;  // the same
        explicit direction(channel& c) : lanes(c) {}
    };
    void begin_sample();
    void take_sample();
    void wake();
    void sleep();
    void note_lanes();

    duplex_link& m_duplex_link;
    std::array<direction, 2> m_directions;
    programmable_policy m_policy;
    ticks m_since = 0;  // start of the sample
    calendar_event m_sample{method<&lane_controller::take_sample>, this};
};

}  // namespace fabricvp::link
