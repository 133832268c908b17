// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.h"
#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

/// Hears of the end of transfers.
class transfer_client {
public:
    virtual void transfer_done(std::uint64_t cookie, memory_fault fault) = 0;

protected:
    ~transfer_client() = default;
};

/// Moves byte ranges of any length and alignment into and out of memory. Ranges must not be empty. The client hears
/// transfer_done() later, never inside the call; until then the port holds the buffer.
class transfer_port {
public:
    /// \param physical of the first byte (abi/gpu_apertures.h)
    virtual void read(std::uint64_t physical, const buffer_slice& data, transfer_client& client,
                      std::uint64_t cookie) = 0;
    virtual void write(std::uint64_t physical, const buffer_slice& data, transfer_client& client,
                       std::uint64_t cookie) = 0;

protected:
    ~transfer_port() = default;
};

}  // namespace fabricvp::gpu
