// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/parameters.h"

namespace fabricvp::hca {

/// What QUERY_DEV_LIM tells software. Numbers log_… are powers of two.
struct limit_params {
    std::uint64_t log_qps = 16, log_cqs = 16, log_srqs = 10, log_mpts = 17, log_mtt_segments = 20, log_uars = 11,
                  log_gids = 3, log_pkeys = 5;
    std::uint64_t log_queue_entries = 14, log_cq_entries = 17;
    void describe(parameter_visitor& v);
};

}  // namespace fabricvp::hca
