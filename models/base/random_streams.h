// SPDX-License-Identifier: Apache-2.0
// Everything random draws from a stream of its own, so that what one block draws never changes what another one sees.
#pragma once

#include <cstdint>
#include <string_view>

#include <systemc>

namespace fabricvp {

/// One step of SplitMix64's output function: a bijection whose results look unrelated.
constexpr std::uint64_t splitmix64(std::uint64_t z) {
    z += 0x9e37'79b9'7f4a'7c15;
    z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
    return z ^ z >> 31;
}

/// Seed of the stream of the block at `path` in a simulation with `seed`; never 0.
constexpr std::uint64_t stream_seed(std::uint64_t seed, std::string_view path) {
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325;  // FNV-1a
    for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01b3;
    const auto mixed = splitmix64(splitmix64(seed) ^ hash);
    return mixed ? mixed : 1;
}

/// Seed of the simulation of this process, 1 unless set before models are constructed.
std::uint64_t simulation_seed();
void set_simulation_seed(std::uint64_t seed);

/// Seed of a block's random numbers: follows from its path, and from `given` or, where that is 0, the simulation's
/// seed.
inline std::uint64_t block_seed(const sc_core::sc_object& block, std::uint64_t given = 0) {
    return stream_seed(given ? given : simulation_seed(), block.name());
}

}  // namespace fabricvp
