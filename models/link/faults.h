// SPDX-License-Identifier: Apache-2.0
// What faults of links of all kinds have in common.
#pragma once

#include "base/fault_duration.h"

namespace fabricvp::link {

struct bit_error_arguments : fault_duration_arguments {
    double rate = 1e-6;
    void describe(parameter_visitor& v) {
        v.field("rate", rate, between{0, 1e-3}, "chance that a bit arrives wrong");
        fault_duration_arguments::describe(v);
    }
};

}  // namespace fabricvp::link
