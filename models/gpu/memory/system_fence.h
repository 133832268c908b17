// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace fabricvp::gpu {

/// Who waits for a GPU's writes to system addresses.
class system_fence_client {
public:
    /// All of them before the call of flush() are performed: seen by the host.
    virtual void system_flushed(std::uint64_t cookie) = 0;

protected:
    ~system_fence_client() = default;
};

/// What a release of system scope waits for beyond the acknowledgements of stores, since posted writes on a bus have
/// none.
class system_fence {
public:
    /// \returns true if there is nothing to wait for; else the client hears system_flushed() later, never inside this
    /// call
    virtual bool flush(system_fence_client& client, std::uint64_t cookie) = 0;

protected:
    ~system_fence() = default;
};

}  // namespace fabricvp::gpu
