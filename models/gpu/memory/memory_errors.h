// SPDX-License-Identifier: Apache-2.0
// Bits of a GPU's memory that have flipped, and the code that protects it. Flipped bits are in the memory's cells: they
// are met when the L2 fetches their line, and are gone when the L2 writes the line back. With ECC, a word of 64 bits
// has a code that corrects one wrong bit and detects two (SECDED). What is beyond repair stays poisoned until it is
// overwritten: requests for it end with memory_fault::poisoned.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "base/fault.h"
#include "base/statistics.h"
#include "gpu/memory/gpu_memory.h"
#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

/// Bytes of its line that a request reads, and those that it only writes.
struct reached_bytes {
    std::uint64_t read = 0, written = 0;
};
reached_bytes bytes_reached(const line_request& request);

class memory_errors {
public:
    struct flip_arguments {
        std::uint64_t offset = 0, bit = 0, bits = 1;
        std::uint64_t capacity = std::uint64_t{1} << 40;  ///< bytes of the memory
        void describe(parameter_visitor& v);
    };

    counter corrected, uncorrected;
    fault_kind<flip_arguments> flip;

    /// \param owner whose statistics and faults these are \param ecc whether words are protected
    memory_errors(const sc_core::sc_object& owner, bool ecc);

    /// Whether there is anything that fetched(), written_back() and allows() are to hear of.
    bool any() const { return !m_flipped.empty() || !m_poisoned.empty(); }
    /// The L2 takes a line out of the memory.
    void fetched(std::uint64_t line, gpu_memory& memory);
    /// A word of a line cannot be read any more.
    void poison(std::uint64_t line, unsigned word) { m_poisoned[line] |= std::uint64_t{0xff} << 8 * word; }
    /// The L2 has written the line back.
    void written_back(std::uint64_t line) { m_flipped.erase(line); }
    /// A request for a line of device memory is about to be performed. \returns false, with its fault set, if it
    /// reaches a poisoned word
    bool allows(line_request& request);

private:
    static constexpr unsigned words = line_bytes / 8;
    using line_flips = std::array<std::uint64_t, words>;

    bool m_ecc;
    std::map<std::uint64_t, line_flips> m_flipped;      // by line
    std::map<std::uint64_t, std::uint64_t> m_poisoned;  // bytes, by line
};

}  // namespace fabricvp::gpu
