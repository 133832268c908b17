// SPDX-License-Identifier: Apache-2.0
#include "fabric/netcrafter/parameters.h"

namespace fabricvp::fabric::netcrafter {

void parameters::describe(parameter_visitor& v) {
    v.field("stitching", stitching,
            "small packets, and ends of larger ones, ride in the padding of a packet for the same cluster");
    v.field("partial", partial, "the end of a packet may ride ahead of the rest; otherwise only whole packets ride");
    v.field("candidates", candidates, between{1, 16}, "most that ride in one flit");
    v.field("sub_header", sub_header, between{2, 4}, "before the end of a packet that rides ahead: ID and size");
    v.choice("pooling", pooling,
             "a packet with padding waits for others to ride: none, all, or all but page-table packets (selective)");
    v.field("window", window, between{0, 1e6},
            "longest that it waits, from its arrival at the controller, in cycles of the switch");
    v.field("whole_window", whole_window, "it waits all of the window even if one to ride comes earlier");
    v.field("trimming", trimming,
            "read responses of which one sector of 16 bytes is needed leave with that sector alone");
    v.choice("sequencing", sequencing,
             "packets that go first: none, page-table packets, or as many data packets (a control)");
    v.field("entries", entries, between{2, 1e6}, "flits that the cluster queue holds");
    v.field("latency", latency, between{0, 100000},
            "from the pipeline to the cluster queue, and from a stitched flit's arrival to its packets, in cycles of "
            "the switch");
}

}  // namespace fabricvp::fabric::netcrafter
