// SPDX-License-Identifier: Apache-2.0
// Bits of lines in a bank of the L2 that have flipped. Without ECC what the L2 holds is wrong at once; the memory below
// is right, and a line that leaves clean is forgotten. With ECC one wrong bit of a word is corrected where a request
// reaches the word or its dirty line leaves, and two poison it (memory_errors).
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "gpu/memory/gpu_memory.h"
#include "gpu/memory/memory_errors.h"

namespace fabricvp::gpu {

class l2_errors {
public:
    l2_errors(const sc_core::sc_object& owner, bool ecc, gpu_memory& memory, memory_errors& below);

    counter corrected, uncorrected;

    bool any() const { return !m_lines.empty(); }
    void flip(std::uint64_t line, unsigned word, std::uint64_t bits);
    /// A request is about to be performed.
    void reached(const line_request& request);
    /// A line leaves the L2.
    void evicted(std::uint64_t line, bool dirty);
    void clear() { m_lines.clear(); }

private:
    void check(std::uint64_t line, unsigned word, std::uint64_t flips);

    bool m_ecc;
    gpu_memory& m_memory;
    memory_errors& m_below;
    std::map<std::uint64_t, std::array<std::uint64_t, line_bytes / 8>> m_lines;  // wrong bits, by line
};

}  // namespace fabricvp::gpu
