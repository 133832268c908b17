// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "base/sparse_memory.h"
#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

/// The bytes of a GPU's memory. Every offset must lie inside.
class gpu_memory {
public:
    /// \param size bytes, a multiple of 4 KiB
    explicit gpu_memory(std::uint64_t size) : bytes(size) {}

    sparse_memory bytes;

    std::uint64_t size() const { return bytes.size(); }
    void prefetch(std::uint64_t line) const { __builtin_prefetch(bytes.data() + line); }
    void read_line(std::uint64_t line, std::uint8_t* to) const { std::memcpy(to, bytes.data() + line, line_bytes); }
    /// Writes the bytes of a line whose bits are set in `mask`.
    void write_line(std::uint64_t line, const std::uint8_t* from, std::uint64_t mask);
    /// \returns the old value, zero-extended
    std::uint64_t atomic(std::uint64_t offset, unsigned size, atomic_extension::operation operation,
                         std::uint64_t operand, std::uint64_t compare);
    std::uint64_t load(std::uint64_t offset, unsigned size) const;
    void store(std::uint64_t offset, unsigned size, std::uint64_t value) { bytes.write(offset, &value, size); }
};

}  // namespace fabricvp::gpu
