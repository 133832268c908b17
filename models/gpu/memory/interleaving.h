// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fabricvp::gpu {

/// How the addresses of a memory are spread over units that work side by side: banks of a cache, memory channels.
/// Chunks go to the units in turns. Then addresses a round apart meet in one unit. If hashed, the unit's number is the
/// remainder of the chunk's number by a primitive polynomial over GF(2) (B. R. Rau, "Pseudo-randomly interleaved
/// memory", ISCA 1991): chunks at the distance of any power of two use all units evenly. Which round of its unit a
/// chunk belongs to does not depend on the hash, so addresses map one-to-one.
class interleaving {
public:
    /// \param units a power of two up to 256
    /// \param chunk bytes of a chunk, a power of two
    interleaving(std::uint64_t units, std::uint64_t chunk, bool hashed);

    unsigned unit_of(std::uint64_t offset) const {
        const auto plain = static_cast<unsigned>(offset >> m_chunk_bits) & m_unit_mask;
        return m_hash.empty() ? plain : plain ^ hash(round_of(offset & address_mask));
    }
    /// The number of its chunk among those of its unit.
    std::uint64_t round_of(std::uint64_t offset) const { return offset >> m_round_bits; }
    /// Where a chunk of a unit begins.
    std::uint64_t begin_of(unsigned unit, std::uint64_t round) const {
        const std::uint64_t begin = round << m_round_bits;
        return begin | std::uint64_t{m_hash.empty() ? unit : unit ^ hash(round_of(begin & address_mask))}
                           << m_chunk_bits;
    }

private:
    static constexpr std::uint64_t address_mask = (std::uint64_t{1} << 48) - 1;
    using table = std::array<std::uint8_t, 256>;  // what a byte of a round's number contributes
    unsigned hash(std::uint64_t round) const {
        unsigned unit = 0;
        for (const auto& t : m_hash) {
            unit ^= t[round & 0xff];
            round >>= 8;
        }
        return unit;
    }

    unsigned m_chunk_bits, m_round_bits, m_unit_mask;
    std::vector<table> m_hash;  // empty: not hashed
};

}  // namespace fabricvp::gpu
