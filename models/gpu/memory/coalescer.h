// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "gpu/memory/line_bytes.h"
#include "gpu/memory/memory_types.h"

namespace fabricvp::gpu {

/// One piece of one access, in a word: access states are aligned so that the index fits below the address.
using transaction_ref = std::uintptr_t;

/// What a vector access wants of one line.
struct alignas(32) access_transaction {
    std::uint64_t line;  ///< virtual address of the line, physical after translation
    lane_mask lanes;
    std::uint64_t bytes;       ///< bit n, byte n of the line
    transaction_ref next = 0;  ///< behind it in the queue in which it waits; it waits in one at most
};

/// Forms the distinct lines of 64 lane addresses, in the order of their first lanes. Lanes that follow each other (some
/// of them masked) and lanes that agree take a short path; others meet in a hash table.
class coalescer {
public:
    using transactions = std::array<access_transaction, wavefront_lanes>;

    /// \returns how many pieces. Every address must be aligned to `access.size`.
    unsigned split(vector_access& access, transactions& to);
    /// One piece a lane (load-reserved, store-conditional).
    static unsigned split_lanes(vector_access& access, transactions& to);
    /// Lanes on different words of a line share a piece; the nth lane on a word is in the nth piece of its line.
    unsigned split_atomics(vector_access& access, transactions& to);
    /// Cuts piece `piece` into one a lane, in lane order: that of the first stays, the others go behind all that have
    /// been `made`. There is room, since no lane is in two pieces. \returns how many there are now
    static unsigned split_by_lane(vector_access& access, transactions& to, unsigned transaction, unsigned total);

    /// Copies what the piece's lanes want out of a line into access.data.
    static void scatter(vector_access& access, const access_transaction& transaction, const std::uint8_t* line);
    /// Copies what the piece's lanes store into a line; of lanes that meet, the highest wins.
    static void gather(const vector_access& access, const access_transaction& transaction, std::uint8_t* line);

private:
    static unsigned split_sequence(const vector_access& access, transactions& to);
    std::uint32_t& slot_of(std::uint64_t line, const transactions& to);
    void begin_round();

    static constexpr unsigned slots = 128;
    std::array<std::uint32_t, slots> m_table{};  // round in the upper bits, index of the piece in the lower 8
    std::uint32_t m_round = 0;
};

}  // namespace fabricvp::gpu
