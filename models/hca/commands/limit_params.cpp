// SPDX-License-Identifier: Apache-2.0
#include "hca/commands/limit_params.h"

namespace fabricvp::hca {

void limit_params::describe(parameter_visitor& v) {
    v.field("log_qps", log_qps, between{5, 20}, "log2 of the queue pairs that there may be");
    v.field("log_cqs", log_cqs, between{8, 20}, "log2 of the completion queues, of which 128 are reserved");
    v.field("log_srqs", log_srqs, between{7, 16}, "log2 of the shared receive queues");
    v.field("log_mpts", log_mpts, between{8, 22}, "log2 of the regions (memory protection table)");
    v.field("log_mtt_segments", log_mtt_segments, between{10, 24}, "log2 of the segments of eight translation entries");
    v.field("log_uars", log_uars, between{8, 13}, "log2 of the user access regions, one page of BAR 2 each");
    v.field("log_gids", log_gids, between{0, 5}, "log2 of the port's GIDs");
    v.field("log_pkeys", log_pkeys, between{0, 7}, "log2 of the port's P_Keys");
    v.field("log_queue_entries", log_queue_entries, between{9, 14},
            "log2 of the entries of a send, receive or shared receive queue");
    v.field("log_cq_entries", log_cq_entries, between{10, 20}, "log2 of the entries of a completion queue");
}

}  // namespace fabricvp::hca
