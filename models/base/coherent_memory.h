// SPDX-License-Identifier: Apache-2.0
// Memory of a host as a block sees it that shares it with the harts, behind their last level of caches (an APU). Bytes
// are read and written at the present time, which is the point of coherence; how long that takes is asked for apart, in
// closed form.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bus.h"
#include "base/time.h"

namespace fabricvp {

/// Who keeps copies of lines of a coherent memory, and must know when they have ended.
class snooper {
public:
    /// Another block writes these bytes, now.
    virtual void invalidate_copies(std::uint64_t address, std::uint64_t bytes) = 0;

protected:
    ~snooper() = default;
};

class coherent_memory {
public:
    /// Addresses are physical ones of the host. \returns whether all of these bytes are memory; the others below need
    /// that
    virtual bool holds(std::uint64_t address, std::uint64_t bytes) const = 0;
    virtual void read(std::uint64_t address, void* to, std::size_t bytes) = 0;
    virtual void write(std::uint64_t address, const void* from, std::size_t bytes, const snooper* writer) = 0;
    /// \param bytes 1, 2, 4 or 8, naturally aligned \returns the old value, zero-extended
    virtual std::uint64_t atomic(std::uint64_t address, unsigned bytes, atomic_extension::operation what,
                                 std::uint64_t operand, std::uint64_t compare, const snooper* writer) = 0;
    /// Claims caches and memory channels for an access that gets to the shared level at `at`. Harts' copies end if it
    /// writes, and are no newer than memory afterwards. \param bytes of one aligned 64-byte line \returns when it has
    /// been performed there
    virtual ticks access(std::uint64_t address, std::uint64_t bytes, bool writes, ticks at) = 0;
    virtual void add(snooper& holder) = 0;

protected:
    ~coherent_memory() = default;
};

}  // namespace fabricvp
