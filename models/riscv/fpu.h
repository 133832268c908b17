// SPDX-License-Identifier: Apache-2.0
// RISC-V F and D arithmetic (unprivileged specification, chapters "F" and "D") as pure functions over bit patterns.
//
// Every function takes and returns raw bits, rounds by `rm` (0…4: RNE RTZ RDN RUP RMM; resolve DYN before) and ORs the
// exceptions into `flags` in fcsr layout. NaN results are canonical. Tininess is detected after rounding.
//
// Speed: fflags are sticky, so once NX is set an operation that can raise nothing but NX needs no flags at all. The
// inline part therefore computes with the host's arithmetic and keeps the result if its exponent proves that neither
// overflow, underflow nor a NaN is about. Out of line, rounding to nearest tries error-free transformations, which tell
// exact results from inexact ones; the rest is integer arithmetic. Lane loops can do the same on vectors.
// The host must be in its default floating-point environment, which host_environment guarantees for a scope.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/host_environment.h"

namespace fabricvp::riscv::fpu {

enum flag : std::uint32_t { inexact = 1, underflow = 2, overflow = 4, divide_by_zero = 8, invalid = 16 };
enum rounding : unsigned { nearest_even = 0, toward_zero = 1, down = 2, up = 3, nearest_away = 4 };

struct binary32 {
    using bits = std::uint32_t;
    using native = float;
    static constexpr int width = 32, precision = 24, bias = 127;
};
struct binary64 {
    using bits = std::uint64_t;
    using native = double;
    static constexpr int width = 64, precision = 53, bias = 1023;
};

/// Constants and predicates of a format.
template <class F>
struct format : F {
    using bits = typename F::bits;
    using native = typename F::native;
    static constexpr int fraction_bits = F::precision - 1;
    static constexpr bits one = 1;
    static constexpr bits sign = one << (F::width - 1);
    static constexpr bits infinity = ((one << (F::width - F::precision)) - 1) << fraction_bits;
    static constexpr bits canonical_nan = infinity | one << (fraction_bits - 1);
    static constexpr bits largest = infinity - 1;

    static constexpr bits magnitude(bits a) { return a & ~sign; }
    static constexpr bool is_nan(bits a) { return magnitude(a) > infinity; }
    static constexpr bool is_signaling(bits a) { return is_nan(a) && !(a & (one << (fraction_bits - 1))); }
    static constexpr bool is_negative(bits a) { return (a & sign) != 0; }
    static constexpr bool is_finite(bits a) { return magnitude(a) < infinity; }
    /// Normal, and not the smallest one, to which a tiny result may have been rounded.
    static constexpr bool is_safely_normal(bits a) {
        return magnitude(a) - (one << (fraction_bits + 1)) < infinity - (one << (fraction_bits + 1));
    }

    static native value(bits a) {
        native v;
        std::memcpy(&v, &a, sizeof v);
        return v;
    }
    static bits pattern(native v) {
        bits a;
        std::memcpy(&a, &v, sizeof a);
        return a;
    }
};

/// A single-precision operand from a 64-bit register: the canonical NaN unless it is NaN-boxed.
constexpr std::uint32_t unbox_s(std::uint64_t f) {
    return f >> 32 == 0xffffffffu ? static_cast<std::uint32_t>(f) : format<binary32>::canonical_nan;
}
constexpr std::uint64_t box_s(std::uint32_t s) { return 0xffffffff00000000u | s; }

/// The general versions, right for all operands, modes and flags.
template <class F>
struct general {
    using bits = typename F::bits;
    static bits add(bits a, bits b, unsigned rm, std::uint32_t& flags);
    static bits multiply(bits a, bits b, unsigned rm, std::uint32_t& flags);
    static bits divide(bits a, bits b, unsigned rm, std::uint32_t& flags);
    static bits square_root(bits a, unsigned rm, std::uint32_t& flags);
    static bits multiply_add(bits a, bits b, bits c, unsigned rm, std::uint32_t& flags);
    static bits from_integer(bool negative, std::uint64_t magnitude, unsigned rm, std::uint32_t& flags);
    /// Integer of `width` bits, saturated; NaN gives the largest.
    static std::uint64_t to_integer(bits a, int width, bool is_signed, unsigned rm, std::uint32_t& flags);
};
extern template struct general<binary32>;
extern template struct general<binary64>;

/// The same five, which try the host's arithmetic first when rounding to nearest.
template <class F>
struct checked {
    using bits = typename F::bits;
    static bits add(bits a, bits b, unsigned rm, std::uint32_t& flags);
    static bits multiply(bits a, bits b, unsigned rm, std::uint32_t& flags);
    static bits divide(bits a, bits b, unsigned rm, std::uint32_t& flags);
    static bits square_root(bits a, unsigned rm, std::uint32_t& flags);
    static bits multiply_add(bits a, bits b, bits c, unsigned rm, std::uint32_t& flags);
};
extern template struct checked<binary32>;
extern template struct checked<binary64>;

inline bool only_inexact_matters(unsigned rm, std::uint32_t flags) { return rm == nearest_even && (flags & inexact); }

template <class F>
inline typename F::bits add(typename F::bits a, typename F::bits b, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    if (only_inexact_matters(rm, flags)) {
        const auto r = f::pattern(f::value(a) + f::value(b));
        if (f::is_finite(r)) return r;  // a subnormal sum is exact
    }
    return checked<F>::add(a, b, rm, flags);
}

template <class F>
inline typename F::bits sub(typename F::bits a, typename F::bits b, unsigned rm, std::uint32_t& flags) {
    return add<F>(a, b ^ format<F>::sign, rm, flags);
}

template <class F>
inline typename F::bits mul(typename F::bits a, typename F::bits b, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    if (only_inexact_matters(rm, flags)) {
        const auto r = f::pattern(f::value(a) * f::value(b));
        if (f::is_safely_normal(r)) return r;
    }
    return checked<F>::multiply(a, b, rm, flags);
}

template <class F>
inline typename F::bits div(typename F::bits a, typename F::bits b, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    if (only_inexact_matters(rm, flags)) {
        const auto r = f::pattern(f::value(a) / f::value(b));
        if (f::is_safely_normal(r)) return r;
    }
    return checked<F>::divide(a, b, rm, flags);
}

template <class F>
inline typename F::bits sqrt(typename F::bits a, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    if (only_inexact_matters(rm, flags) && a - 1 < f::infinity - 1) return f::pattern(std::sqrt(f::value(a)));
    return checked<F>::square_root(a, rm, flags);
}

/// a × b + c with one rounding.
template <class F>
inline typename F::bits fmadd(typename F::bits a, typename F::bits b, typename F::bits c, unsigned rm,
                              std::uint32_t& flags) {
    using f = format<F>;
    if (only_inexact_matters(rm, flags)) {
        const auto r = f::pattern(std::fma(f::value(a), f::value(b), f::value(c)));
        if (f::is_safely_normal(r)) return r;
    }
    return checked<F>::multiply_add(a, b, c, rm, flags);
}
/// a × b − c
template <class F>
inline typename F::bits fmsub(typename F::bits a, typename F::bits b, typename F::bits c, unsigned rm,
                              std::uint32_t& flags) {
    return fmadd<F>(a, b, c ^ format<F>::sign, rm, flags);
}
/// −(a × b) + c
template <class F>
inline typename F::bits fnmsub(typename F::bits a, typename F::bits b, typename F::bits c, unsigned rm,
                               std::uint32_t& flags) {
    return fmadd<F>(a ^ format<F>::sign, b, c, rm, flags);
}
/// −(a × b) − c
template <class F>
inline typename F::bits fnmadd(typename F::bits a, typename F::bits b, typename F::bits c, unsigned rm,
                               std::uint32_t& flags) {
    return fmadd<F>(a ^ format<F>::sign, b, c ^ format<F>::sign, rm, flags);
}

template <class F>
constexpr typename F::bits sgnj(typename F::bits a, typename F::bits b) {
    return format<F>::magnitude(a) | (b & format<F>::sign);
}
template <class F>
constexpr typename F::bits sgnjn(typename F::bits a, typename F::bits b) {
    return format<F>::magnitude(a) | (~b & format<F>::sign);
}
template <class F>
constexpr typename F::bits sgnjx(typename F::bits a, typename F::bits b) {
    return a ^ (b & format<F>::sign);
}

/// a < b of two numbers, with −0 < +0.
template <class F>
constexpr bool ordered_below(typename F::bits a, typename F::bits b) {
    using f = format<F>;
    if (f::is_negative(a) != f::is_negative(b)) return f::is_negative(a);
    return a != b && (a < b) != f::is_negative(a);
}

template <class F>
inline typename F::bits min(typename F::bits a, typename F::bits b, std::uint32_t& flags) {
    using f = format<F>;
    if (f::is_nan(a) || f::is_nan(b)) {
        if (f::is_signaling(a) || f::is_signaling(b)) flags |= invalid;
        return !f::is_nan(a) ? a : !f::is_nan(b) ? b : f::canonical_nan;
    }
    return ordered_below<F>(b, a) ? b : a;
}
template <class F>
inline typename F::bits max(typename F::bits a, typename F::bits b, std::uint32_t& flags) {
    using f = format<F>;
    if (f::is_nan(a) || f::is_nan(b)) {
        if (f::is_signaling(a) || f::is_signaling(b)) flags |= invalid;
        return !f::is_nan(a) ? a : !f::is_nan(b) ? b : f::canonical_nan;
    }
    return ordered_below<F>(a, b) ? b : a;
}

/// Quiet comparison: only a signaling NaN is invalid.
template <class F>
inline bool eq(typename F::bits a, typename F::bits b, std::uint32_t& flags) {
    using f = format<F>;
    if (f::is_nan(a) || f::is_nan(b)) {
        if (f::is_signaling(a) || f::is_signaling(b)) flags |= invalid;
        return false;
    }
    return a == b || f::magnitude(a | b) == 0;
}
/// Signaling comparisons: any NaN is invalid.
template <class F>
inline bool lt(typename F::bits a, typename F::bits b, std::uint32_t& flags) {
    using f = format<F>;
    if (f::is_nan(a) || f::is_nan(b)) {
        flags |= invalid;
        return false;
    }
    return f::magnitude(a | b) != 0 && ordered_below<F>(a, b);
}
template <class F>
inline bool le(typename F::bits a, typename F::bits b, std::uint32_t& flags) {
    using f = format<F>;
    if (f::is_nan(a) || f::is_nan(b)) {
        flags |= invalid;
        return false;
    }
    return f::magnitude(a | b) == 0 || !ordered_below<F>(b, a);
}

/// The fclass mask: bit 0 −∞, −normal, −subnormal, −0, +0, +subnormal, +normal, +∞, 8 signaling NaN, 9 quiet NaN.
template <class F>
constexpr std::uint64_t classify(typename F::bits a) {
    using f = format<F>;
    if (f::is_nan(a)) return f::is_signaling(a) ? 1u << 8 : 1u << 9;
    const auto m = f::magnitude(a);
    const unsigned rank = m == 0 ? 0 : m < (f::one << f::fraction_bits) ? 1 : m < f::infinity ? 2 : 3;
    return 1u << (f::is_negative(a) ? 3 - rank : 4 + rank);
}

// Conversions to integers return the value of the x register: the 32-bit ones are sign-extended, unsigned ones too.

template <class F>
inline std::uint64_t to_w(typename F::bits a, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    const auto v = f::value(a);
    if (rm == toward_zero && v > -2147483648.0 && v < 2147483648.0) {
        const auto i = static_cast<std::int32_t>(v);
        if (static_cast<typename F::native>(i) != v) flags |= inexact;
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(i));
    }
    return static_cast<std::uint64_t>(
        static_cast<std::int64_t>(static_cast<std::int32_t>(general<F>::to_integer(a, 32, true, rm, flags))));
}
template <class F>
inline std::uint64_t to_wu(typename F::bits a, unsigned rm, std::uint32_t& flags) {
    return static_cast<std::uint64_t>(
        static_cast<std::int64_t>(static_cast<std::int32_t>(general<F>::to_integer(a, 32, false, rm, flags))));
}
template <class F>
inline std::uint64_t to_l(typename F::bits a, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    const auto v = f::value(a);
    if (rm == toward_zero && v > -9223372036854775808.0 && v < 9223372036854775808.0) {
        const auto i = static_cast<std::int64_t>(v);
        if (static_cast<typename F::native>(i) != v) flags |= inexact;
        return static_cast<std::uint64_t>(i);
    }
    return general<F>::to_integer(a, 64, true, rm, flags);
}
template <class F>
inline std::uint64_t to_lu(typename F::bits a, unsigned rm, std::uint32_t& flags) {
    return general<F>::to_integer(a, 64, false, rm, flags);
}

template <class F>
inline typename F::bits from_l(std::uint64_t x, unsigned rm, std::uint32_t& flags) {
    const auto i = static_cast<std::int64_t>(x);
    if (only_inexact_matters(rm, flags)) return format<F>::pattern(static_cast<typename F::native>(i));
    return general<F>::from_integer(i < 0, i < 0 ? 0 - x : x, rm, flags);
}
template <class F>
inline typename F::bits from_lu(std::uint64_t x, unsigned rm, std::uint32_t& flags) {
    if (only_inexact_matters(rm, flags)) return format<F>::pattern(static_cast<typename F::native>(x));
    return general<F>::from_integer(false, x, rm, flags);
}
template <class F>
inline typename F::bits from_w(std::uint64_t x, unsigned rm, std::uint32_t& flags) {
    const auto i = static_cast<std::int32_t>(x);
    if constexpr (F::precision >= 32) return format<F>::pattern(i);
    return from_l<F>(static_cast<std::uint64_t>(static_cast<std::int64_t>(i)), rm, flags);
}
template <class F>
inline typename F::bits from_wu(std::uint64_t x, unsigned rm, std::uint32_t& flags) {
    const auto i = static_cast<std::uint32_t>(x);
    if constexpr (F::precision >= 32) return format<F>::pattern(i);
    return from_l<F>(i, rm, flags);
}

std::uint32_t narrow(std::uint64_t a, unsigned rm, std::uint32_t& flags);

/// fcvt.s.d
inline std::uint32_t d_to_s(std::uint64_t a, unsigned rm, std::uint32_t& flags) {
    if (only_inexact_matters(rm, flags)) {
        const auto r = format<binary32>::pattern(static_cast<float>(format<binary64>::value(a)));
        if (format<binary32>::is_safely_normal(r)) return r;
    }
    return narrow(a, rm, flags);
}
/// fcvt.d.s, always exact
inline std::uint64_t s_to_d(std::uint32_t a, std::uint32_t& flags) {
    if (format<binary32>::is_nan(a)) {
        if (format<binary32>::is_signaling(a)) flags |= invalid;
        return format<binary64>::canonical_nan;
    }
    return format<binary64>::pattern(static_cast<double>(format<binary32>::value(a)));
}

inline constexpr auto &add_s = add<binary32>, &sub_s = sub<binary32>, &mul_s = mul<binary32>, &div_s = div<binary32>;
inline constexpr auto &add_d = add<binary64>, &sub_d = sub<binary64>, &mul_d = mul<binary64>, &div_d = div<binary64>;
inline constexpr auto& sqrt_s = sqrt<binary32>;
inline constexpr auto& sqrt_d = sqrt<binary64>;
inline constexpr auto &fmadd_s = fmadd<binary32>, &fmsub_s = fmsub<binary32>, &fnmsub_s = fnmsub<binary32>,
                      &fnmadd_s = fnmadd<binary32>;
inline constexpr auto &fmadd_d = fmadd<binary64>, &fmsub_d = fmsub<binary64>, &fnmsub_d = fnmsub<binary64>,
                      &fnmadd_d = fnmadd<binary64>;
inline constexpr auto &min_s = min<binary32>, &max_s = max<binary32>;
inline constexpr auto &min_d = min<binary64>, &max_d = max<binary64>;
inline constexpr auto &sgnj_s = sgnj<binary32>, &sgnjn_s = sgnjn<binary32>, &sgnjx_s = sgnjx<binary32>;
inline constexpr auto &sgnj_d = sgnj<binary64>, &sgnjn_d = sgnjn<binary64>, &sgnjx_d = sgnjx<binary64>;
inline constexpr auto &eq_s = eq<binary32>, &lt_s = lt<binary32>, &le_s = le<binary32>;
inline constexpr auto &eq_d = eq<binary64>, &lt_d = lt<binary64>, &le_d = le<binary64>;
inline constexpr auto& class_s = classify<binary32>;
inline constexpr auto& class_d = classify<binary64>;
inline constexpr auto &s_to_w = to_w<binary32>, &s_to_wu = to_wu<binary32>, &s_to_l = to_l<binary32>,
                      &s_to_lu = to_lu<binary32>;
inline constexpr auto &d_to_w = to_w<binary64>, &d_to_wu = to_wu<binary64>, &d_to_l = to_l<binary64>,
                      &d_to_lu = to_lu<binary64>;
inline constexpr auto &w_to_s = from_w<binary32>, &wu_to_s = from_wu<binary32>, &l_to_s = from_l<binary32>,
                      &lu_to_s = from_lu<binary32>;
inline constexpr auto &w_to_d = from_w<binary64>, &wu_to_d = from_wu<binary64>, &l_to_d = from_l<binary64>,
                      &lu_to_d = from_lu<binary64>;

}  // namespace fabricvp::riscv::fpu
