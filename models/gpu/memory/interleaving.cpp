// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory/interleaving.h"

namespace fabricvp::gpu {

namespace {

// Primitive polynomials over GF(2) of degree 1 to 8, bit n for the power n.
constexpr std::array<unsigned, 9> primitive = {0, 0x3, 0x7, 0xb, 0x13, 0x25, 0x43, 0x83, 0x11d};

unsigned bits_of(std::uint64_t n) { return static_cast<unsigned>(__builtin_ctzll(n)); }

}  // namespace

interleaving::interleaving(std::uint64_t units, std::uint64_t chunk, bool hashed)
    : m_chunk_bits(bits_of(chunk)),
      m_round_bits(m_chunk_bits + bits_of(units)),
      m_unit_mask(static_cast<unsigned>(units - 1)) {
    if (!hashed || units == 1) return;
    const unsigned degree = bits_of(units);
    m_hash.resize((48 - m_round_bits + 7) / 8, table{});
    unsigned power = 1;  // of x by the bit's place, modulo the polynomial; bits of the round follow those of the unit
    const auto next = [&] { power = power << 1 ^ (power >> (degree - 1) & 1 ? primitive.at(degree) : 0); };
    for (unsigned bit = 0; bit < degree; ++bit) next();
    for (auto& t : m_hash)
        for (unsigned bit = 0; bit < 8; ++bit, next())
            for (unsigned byte = 0; byte < t.size(); ++byte)
                if (byte >> bit & 1) t.at(byte) ^= static_cast<std::uint8_t>(power);
}

}  // namespace fabricvp::gpu
