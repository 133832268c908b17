// SPDX-License-Identifier: Apache-2.0
// A small machine for the tests of what a run leaves behind.
#pragma once

#include "base/model.h"
#include "base/statistics.h"

namespace fabricvp {

struct results_top : model {
    struct part : model {
        using model::model;
    };
    using model::model;
    part left{"left"}, left2{"left2"};

    /// Advances simulated time.
    void run_for(ticks span) {
        schedule(m_end, timeline().now() + span);
        timeline().run_until(timeline().now() + span);
    }

private:
    void end() {}
    calendar_event m_end{method<&results_top::end>, this};
};

inline results_top& results_bench() {
    static calendar timeline;
    static results_top top{"top"};
    return top;
}

}  // namespace fabricvp
