// SPDX-License-Identifier: Apache-2.0
// Exact values as (sign, exponent, 128-bit significand with a sticky last bit), and their rounding into a format.
// Private to fpu*.cpp.
#pragma once

#include "riscv/fpu.h"

namespace fabricvp::riscv::fpu {

__extension__ using wide = unsigned __int128;

inline int leading_zeros(std::uint64_t v) { return v ? __builtin_clzll(v) : 64; }
inline int leading_zeros(wide v) {
    const auto high = static_cast<std::uint64_t>(v >> 64);
    return high ? leading_zeros(high) : 64 + leading_zeros(static_cast<std::uint64_t>(v));
}

/// Right shift that keeps a sticky one for what falls off.
inline wide shift_right_sticky(wide v, int by) {
    if (by <= 0) return v;
    if (by > 127) return v != 0;
    return v >> by | ((v << (128 - by)) != 0);
}

/// value = significand × 2^exponent, significand > 0
struct exact_value {
    bool negative;
    int exponent;
    wide significand;

    /// Moves the leading bit to bit 127.
    void normalise() {
        const int by = leading_zeros(significand);
        significand <<= by;
        exponent -= by;
    }
};

/// A finite, non-zero operand.
template <class F>
exact_value unpack(typename F::bits a) {
    using f = format<F>;
    const auto m = f::magnitude(a);
    const int e = static_cast<int>(m >> f::fraction_bits);
    const auto fraction = m & ((f::one << f::fraction_bits) - 1);
    const auto significand = e ? fraction | f::one << f::fraction_bits : fraction;
    return {f::is_negative(a), (e ? e : 1) - F::bias - f::fraction_bits, significand};
}

/// True if a magnitude whose discarded part is `half` (the first bit) and `rest` rounds up.
inline bool rounds_up(unsigned rm, bool negative, bool odd, bool half, bool rest) {
    switch (rm) {
        case nearest_even: return half && (rest || odd);
        case toward_zero: return false;
        case down: return negative && (half || rest);
        case up: return !negative && (half || rest);
        default: return half;
    }
}

struct split {
    wide kept;
    bool half, rest;
};
inline split split_at(wide v, int drop) {
    if (drop == 0) return {v, false, false};
    if (drop > 128) return {0, false, v != 0};
    const bool half = (v >> (drop - 1)) & 1;
    const bool rest = drop > 1 && (v << (129 - drop)) != 0;
    return {drop == 128 ? 0 : v >> drop, half, rest};
}

template <class F>
typename F::bits round_pack(exact_value v, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    using bits = typename F::bits;
    constexpr int smallest = 1 - F::bias;  // exponent of the smallest normal number
    v.normalise();
    int e = v.exponent + 127;  // the value is 1.xxx × 2^e
    int drop = 128 - F::precision;
    bool tiny = false;
    if (e < smallest) {
        const auto s = split_at(v.significand, drop);
        const bool up = rounds_up(rm, v.negative, s.kept & 1, s.half, s.rest);
        tiny = !(e == smallest - 1 && up && s.kept + 1 == wide(1) << F::precision);
        drop += smallest - e;
    }
    const auto s = split_at(v.significand, drop);
    auto kept = static_cast<bits>(s.kept);
    if (s.half || s.rest) flags |= tiny ? inexact | underflow : inexact;
    if (rounds_up(rm, v.negative, kept & 1, s.half, s.rest)) ++kept;
    const bits sign = v.negative ? f::sign : 0;
    if (e < smallest) return sign | kept;  // a carry gives the smallest normal number
    if (kept >> F::precision) {
        kept >>= 1;
        ++e;
    }
    if (e > F::bias) {
        flags |= overflow | inexact;
        const bool to_infinity = rounds_up(rm, v.negative, true, true, true);
        return sign | (to_infinity ? f::infinity : f::largest);
    }
    return sign | ((static_cast<bits>(e + F::bias - 1) << f::fraction_bits) + kept);
}

}  // namespace fabricvp::riscv::fpu
