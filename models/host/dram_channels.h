// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/parameters.h"
#include "base/statistics.h"

namespace fabricvp::host {

struct dram_channels_params {
    std::uint64_t channels = 8;
    bandwidth rate{17'066'666'667};  ///< DDR4-2133, 64 bits wide
    duration latency{45'000};
    byte_size interleave{256};
    void describe(parameter_visitor& v);
};

/// Time of memory: each channel serves one line after the other at its rate; the latency comes on top and is pipelined.
class dram_channels {
public:
    explicit dram_channels(const dram_channels_params& params);

    /// Claims the channel for a transfer of `bytes` that is ready at `at`. \returns when its last byte has passed
    ticks transfer(std::uint64_t address, std::uint64_t bytes, ticks at);
    std::uint64_t channel_of(std::uint64_t address) const { return address / m_params.interleave % m_params.channels; }
    void clear();

private:
    dram_channels_params m_params;
    std::vector<ticks> m_free;  // by channel: when it is done with what it has
};

}  // namespace fabricvp::host
