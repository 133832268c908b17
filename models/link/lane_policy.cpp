// SPDX-License-Identifier: Apache-2.0
#include "link/lane_policy.h"

namespace fabricvp::link {

std::unique_ptr<lane_policy> make_lane_policy(lane_policy_kind kind, double threshold) {
    switch (kind) {
        case lane_policy_kind::milic2017: return make_milic2017_policy(threshold);
        case lane_policy_kind::symmetric: return make_symmetric_policy(threshold);
        case lane_policy_kind::predictive: return make_predictive_policy(threshold);
        case lane_policy_kind::none: break;
    }
    return nullptr;
}

}  // namespace fabricvp::link
