// SPDX-License-Identifier: Apache-2.0
// When lanes of a link turn, and how many: decided once a sample from how busy both directions were. Each policy is a
// file of its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/parameters.h"
#include "link/duplex_link.h"

namespace fabricvp::link {

enum class lane_policy_kind { none, milic2017, symmetric, predictive };

/// What happened to a link in a sample.
struct lane_sample {
    struct direction {
        double busy = 0;            ///< share of the sample in which its lanes carried something, 0 to 1
        std::uint64_t bytes = 0;    ///< sent in the sample
        std::uint64_t lanes = 0;    ///< that serve it now
        std::int64_t reversed = 0;  ///< how many more it has than it was configured with
    };
    std::array<direction, 2> directions;  ///< by side
    std::uint64_t reversing = 0;          ///< lanes that serve neither direction now
    ticks length = 0;
    const direction& of(side s) const { return directions[static_cast<unsigned>(s)]; }
};

class lane_policy {
public:
    struct decision {
        side to = side::a;
        std::uint64_t lanes = 0;  ///< to turn to it; 0: none
    };
    virtual ~lane_policy() = default;
    virtual decision decide(const lane_sample& s) = 0;
    /// The lanes are as configured again: a kernel has been launched.
    virtual void restart() {}
};

/// \param threshold share of a sample from which on a direction counts as saturated
std::unique_ptr<lane_policy> make_lane_policy(lane_policy_kind kind, double threshold);

/// As published for NUMA-aware GPUs (Milic et al., MICRO 2017): one lane reverses to a direction that is saturated from
/// one that is not.
std::unique_ptr<lane_policy> make_milic2017_policy(double threshold);
/// The same, and one lane reverses back while both are saturated and the lanes are not as configured.
std::unique_ptr<lane_policy> make_symmetric_policy(double threshold);
/// Works out how many lanes both directions need, and turns all of them at once.
std::unique_ptr<lane_policy> make_predictive_policy(double threshold);

/// The direction that is saturated while the other is not. \returns false if there is none
inline bool one_saturated(const lane_sample& s, double threshold, side& which) {
    const bool a = s.of(side::a).busy >= threshold, b = s.of(side::b).busy >= threshold;
    which = a ? side::a : side::b;
    return a != b;
}

}  // namespace fabricvp::link

namespace fabricvp {
template <>
struct choice_traits<link::lane_policy_kind> {
    static constexpr std::pair<link::lane_policy_kind, const char*> names[] = {
        {link::lane_policy_kind::none, "none"},
        {link::lane_policy_kind::milic2017, "milic2017"},
        {link::lane_policy_kind::symmetric, "symmetric"},
        {link::lane_policy_kind::predictive, "predictive"}};
};
}  // namespace fabricvp
