// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/adjacent_bits.h"
#include "base/parameters.h"

namespace fabricvp::gpu {

/// Bits of a cached line that flip.
struct cell_flip_arguments {
    std::uint64_t line = 0, word = 0, bit = 0, bits = 1;
    void describe(parameter_visitor& v) {
        v.field("line", line, between{0, 1 << 30},
                "which of the lines that are held, counted round where there are less; where none is, nothing happens");
        v.field("word", word, between{0, 7}, "word of 64 bits in the line");
        v.field("bit", bit, between{0, 63}, "first bit that flips");
        v.field("bits", bits, between{1, 2}, "how many flip, one beside the other in the word");
    }
    std::uint64_t mask() const { return adjacent_bits(bit, bits); }
};

}  // namespace fabricvp::gpu
