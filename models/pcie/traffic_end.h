// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "base/sparse_memory.h"

namespace fabricvp::pcie {

/// What sends and receives messages of run_traffic(): an endpoint with memory behind a BAR, and engines that read it.
class traffic_end {
public:
    virtual ~traffic_end() = default;
    virtual sparse_memory& memory() = 0;
    /// Where other devices reach the memory; 0: memory space or bus mastering is off.
    virtual std::uint64_t bus_address() const = 0;
    /// Streams that may be under way at once.
    virtual std::uint64_t channels() const = 0;
    /// Writes `bytes` of the memory to a bus address, in order with what else the channel has to do. \param handed_over
    /// called when the last byte has been given to the link
    virtual void push(std::uint64_t offset, std::uint64_t bus_address, std::uint64_t bytes,
                      std::function<void()> handed_over, unsigned channel) = 0;
    /// Calls `arrived` once, when so many more bytes have been written into [offset, offset + bytes) by others.
    virtual void watch(std::uint64_t offset, std::uint64_t bytes, std::function<void()> arrived) = 0;
};

}  // namespace fabricvp::pcie
