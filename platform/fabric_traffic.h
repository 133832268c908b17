// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/machine.h"

namespace fabricvp {

/// What a fabric carried in some stretch of time, one way of each link apart.
struct fabric_traffic {
    struct direction {
        double bytes = 0;  ///< on the lanes, padding included
        double flits = 0;
        double busy = 0;  ///< share of the time, 0 to 1
    };
    struct link {
        direction there, back;  ///< `from` to `to` of the description, and the other way
    };
    std::string interval;  ///< what was measured, for people
    double seconds = 0;
    std::vector<link> links;  ///< in the order of their description
};

/// From statistics, which may be sums over several regions of interest that lasted `seconds` together.
fabric_traffic traffic_from(const fabric::interconnect& fabric, const statistics_snapshot& values, double seconds,
                            std::string interval);

/// Over the regions of interest that firmware has marked with one label: that which lasted longest in sum. Without any,
/// since statistics began to count.
fabric_traffic measured_traffic(const node& n);

}  // namespace fabricvp
