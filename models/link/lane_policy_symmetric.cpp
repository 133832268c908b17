// SPDX-License-Identifier: Apache-2.0
#include "link/lane_policy.h"

namespace fabricvp::link {

namespace {

class symmetric_policy final : public lane_policy {
public:
    explicit symmetric_policy(double threshold) : m_threshold(threshold) {}

    decision decide(const lane_sample& s) override {
        if (s.reversing) return {};
        side to;
        if (one_saturated(s, m_threshold, to)) return {to, 1};
        if (s.of(side::a).busy < m_threshold) return {};
        const auto reversed = s.of(side::a).reversed;
        if (reversed == 0) return {};
        return {reversed > 0 ? side::b : side::a, 1};
    }

private:
    double m_threshold;
};

}  // namespace

std::unique_ptr<lane_policy> make_symmetric_policy(double threshold) {
    return std::make_unique<symmetric_policy>(threshold);
}

}  // namespace fabricvp::link
