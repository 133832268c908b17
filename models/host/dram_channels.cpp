// SPDX-License-Identifier: Apache-2.0
#include "host/dram_channels.h"

#include <algorithm>

namespace fabricvp::host {

void dram_channels_params::describe(parameter_visitor& v) {
    v.field("channels", channels, between{1, 64}, "memory channels");
    v.field("rate", rate, between{1e6, 1e13}, "peak data rate of a channel");
    v.field("latency", latency, between{0, 1e9}, "time of an access to an idle channel, without the transfer");
    v.field("interleave", interleave, between{64, 1 << 30}, "bytes after which the next channel takes over");
}

dram_channels::dram_channels(const dram_channels_params& p) : m_params(p), m_free(p.channels) {}

ticks dram_channels::transfer(std::uint64_t address, std::uint64_t bytes, ticks at) {
    auto& free = m_free[channel_of(address)];
    const auto duration = static_cast<ticks>(static_cast<unsigned __int128>(bytes) * ticks_per_second / m_params.rate);
    free = std::max(free, at) + duration;
    return free + m_params.latency;
}

void dram_channels::clear() { std::fill(m_free.begin(), m_free.end(), 0); }

}  // namespace fabricvp::host
