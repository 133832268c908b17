// SPDX-License-Identifier: Apache-2.0
// The 32-bit instructions of RV64GC, Zba, Zbb and Zbs, by shape (unprivileged specification, instruction set listings).
#pragma once

#include <cstdint>
#include <vector>

namespace differential {

/// Which operand fields a generator fills in.
enum class shape : std::uint8_t {
    r,
    i,
    shift6,
    shift5,
    u,
    unary,  // integer
    load,
    store,
    float_load,
    float_store,  // rs1 is a window register
    amo,          // rs1 is an address
    f_r,
    f_r_rm,
    f_unary_rm,
    f_fused,  // float to float
    f_compare,
    f_to_x_rm,
    f_to_x,
    x_to_f_rm,
    x_to_f
};

struct encoding {
    std::uint32_t bits;
    shape form;
};

/// All encodings; each class of instructions is a list of its own so that classes can be drawn by weight.
struct encodings {
    std::vector<encoding> arithmetic, multiply, bits, memory, atomic, floating;
    encodings();
};

}  // namespace differential
