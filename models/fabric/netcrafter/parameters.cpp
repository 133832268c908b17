// SPDX-License-Identifier: Apache-2.0
#include "fabric/netcrafter/parameters.h"

namespace fabricvp::fabric::netcrafter {

void parameters::describe(parameter_visitor& v) {
    v.field("stitching", stitching,
            "small packets, and ends of larger ones, ride in the padding of a packet for the same cluster");
    v.field("partial", partial, "the end of a packet may ride ahead of the rest; otherwise only whole packets ride");
    v.field("candidates", candidates, between{1, 16},
            "most that ride in one flit; not published: the slides' loop goes on as long as something fits");
    v.field("partial_candidates", partial_candidates, between{1, 16},
            "most ends of packets among them; not published: the slides' loop has no bound");
    v.field("sub_header", sub_header, between{2, 4},
            "before the end of a packet that rides ahead: ID and size; not published: as long as a header");
    v.choice("pooling", pooling,
             "a packet with padding waits for others to ride: none, all, or all but page-table packets (selective)");
    v.field("window", window, between{0, 1e6}, "longest that it waits, in cycles of the switch; published: 32");
    v.choice(
        "window_from", window_from,
        "from when the window counts: from a packet's arrival at the controller, or from when it is offered as the "
        "head of its queue and finds no candidate (Algorithm 1 of the slides, read literally)");
    v.field("whole_window", whole_window, "it waits all of the window even if one to ride comes earlier");
    v.field("trimming", trimming,
            "read responses of which one sector of 16 bytes is needed leave with that sector alone");
    v.choice("sequencing", sequencing,
             "packets that go first: none, page-table packets (the slides), those of walks that a load or an "
             "instruction fetch waits for (the paper, as cited: on the read critical path), or as many data packets "
             "(a control)");
    v.field("entries", entries, between{2, 1e6}, "flits that the cluster queue holds; published: 1024");
    v.choice("reserved", reserved,
             "what each virtual channel of each destination cluster keeps of the cluster queue: an even part of one "
             "half, or room for one largest packet; not published");
    v.field("latency", latency, between{0, 100000},
            "from the pipeline to the cluster queue, and from a stitched flit's arrival to its packets, in cycles of "
            "the switch");
}

}  // namespace fabricvp::fabric::netcrafter
