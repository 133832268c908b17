// SPDX-License-Identifier: Apache-2.0
// Two things make the published rule slow or unsteady: it turns one lane a sample, however far the balance is, and it
// turns the lane after which the other direction becomes the narrow one (acknowledgements of writes, say, which grow
// with the writes), so it turns it back and forth. This policy asks how many lanes the other direction will need once
// the saturated one has more, and turns as many as that leaves.
//
// What the other direction carries may follow from what the saturated one carries (answers, acknowledgements) or not.
// How much it does is learnt from what a turn did to both; until then it is taken to follow in full, which turns too
// few lanes rather than too many.
//
// If both directions are saturated and lanes have turned, half of them turn back. If that was wrong, because the lanes
// turn again, it is tried again half as often each time.
#include <algorithm>
#include <cmath>

#include "link/lane_policy.h"

namespace fabricvp::link {

namespace {

class predictive_policy final : public lane_policy {
public:
    explicit predictive_policy(double threshold) : m_threshold(threshold) {}

    void restart() override { *this = predictive_policy(m_threshold); }

    decision decide(const lane_sample& s) override {
        if (s.reversing) return {};
        side to;
        if (one_saturated(s, m_threshold, to)) return widen(s, to);
        if (s.of(side::a).busy >= m_threshold) return restore_half(s);
        m_reversed = m_both_saturated = 0;
        return {};
    }

private:
    static constexpr double tolerance = 1.02;   // what a direction may need beyond the lanes that it is left
    static constexpr double min_growth = 1.02;  // from which something can be learnt
    static constexpr unsigned max_backoff = 64;

    decision widen(const lane_sample& s, side to) {
        const auto &wide = s.of(to), &narrow = s.of(other(to));
        learn(to, wide.bytes, narrow.bytes);
        if (m_restored && to == m_restored_from) m_restore_backoff = std::min(2 * m_restore_backoff, max_backoff);
        m_restored = false;
        m_both_saturated = 0;
        const auto all = wide.lanes + narrow.lanes;
        const double needed = narrow.busy * static_cast<double>(narrow.lanes);  // lanes, at the present rate
        auto lanes = wide.lanes;
        while (lanes + 1 < all &&
               needed * std::pow(static_cast<double>(lanes + 1) / static_cast<double>(wide.lanes), m_coupling) <=
                   static_cast<double>(all - lanes - 1) * tolerance)
            ++lanes;
        m_reversed = lanes - wide.lanes;
        m_to = to;
        m_bytes = {wide.bytes, narrow.bytes};
        return {to, m_reversed};
    }

    decision restore_half(const lane_sample& s) {
        m_reversed = 0;
        const auto reversed = s.of(side::a).reversed;
        if (reversed == 0 || ++m_both_saturated < m_restore_backoff) return {};
        m_both_saturated = 0;
        m_restored = true;
        m_restored_from = reversed > 0 ? side::a : side::b;
        return {other(m_restored_from), static_cast<std::uint64_t>(std::abs(reversed) + 1) / 2};
    }

    /// What the last turn did: the other direction's bytes grew with a power of the saturated one's.
    void learn(side to, std::uint64_t wide, std::uint64_t narrow) {
        if (!m_reversed || to != m_to || !m_bytes[0] || !m_bytes[1] || !narrow) return;
        const auto growth = [](std::uint64_t now, std::uint64_t before) {
            return static_cast<double>(now) / static_cast<double>(before);
        };
        const auto wide_growth = growth(wide, m_bytes[0]);
        if (wide_growth < min_growth) return;
        m_coupling = std::clamp(std::log(growth(narrow, m_bytes[1])) / std::log(wide_growth), 0.0, 1.0);
    }

    double m_threshold;
    double m_coupling = 1.0;       // 1: the other direction carries in proportion; 0: the same whatever happens
    std::uint64_t m_reversed = 0;  // by the last sample
    side m_to = side::a;
    std::array<std::uint64_t, 2> m_bytes{};  // of that sample, in the direction that lanes reversed to and in the other
    unsigned m_both_saturated = 0;           // samples in which both were saturated, one after the other
    unsigned m_restore_backoff = 1;          // how many it takes to reverse lanes back
    bool m_restored = false;                 // the last turn was one back
    side m_restored_from = side::a;
};

}  // namespace

std::unique_ptr<lane_policy> make_predictive_policy(double threshold) {
    return std::make_unique<predictive_policy>(threshold);
}

}  // namespace fabricvp::link
