// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace fabricvp::hca {

/// Part of a list of a work queue entry.
struct data_segment {
    std::uint64_t address;
    std::uint32_t key, bytes;
};
using data_list = std::vector<data_segment>;

}  // namespace fabricvp::hca
