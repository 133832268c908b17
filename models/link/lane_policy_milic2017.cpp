// SPDX-License-Identifier: Apache-2.0
#include "link/lane_policy.h"

namespace fabricvp::link {

namespace {

class milic2017_policy final : public lane_policy {
public:
    explicit milic2017_policy(double threshold) : m_threshold(threshold) {}

    decision decide(const lane_sample& s) override {
        side to;
        if (s.reversing || !one_saturated(s, m_threshold, to)) return {};
        return {to, 1};
    }

private:
    double m_threshold;
};

}  // namespace

std::unique_ptr<lane_policy> make_milic2017_policy(double threshold) {
    return std::make_unique<milic2017_policy>(threshold);
}

}  // namespace fabricvp::link
