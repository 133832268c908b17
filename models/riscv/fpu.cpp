// SPDX-License-Identifier: Apache-2.0
#include "riscv/fpu.h"

#include <utility>

#include "riscv/fpu_round.h"

namespace fabricvp::riscv::fpu {

namespace {

template <class F>
typename F::bits invalid_result(std::uint32_t& flags) {
    flags |= invalid;
    return format<F>::canonical_nan;
}

template <class F>
typename F::bits nan_result(bool signaling, std::uint32_t& flags) {
    if (signaling) flags |= invalid;
    return format<F>::canonical_nan;
}

/// Zero that an exact sum of non-zero parts or of zeros of both signs gives.
template <class F>
typename F::bits cancelled_zero(unsigned rm) {
    return rm == down ? format<F>::sign : 0;
}

/// Sum of two non-zero values whose significands are at most 106 bits long.
template <class F>
typename F::bits add_exact(exact_value a, exact_value b, unsigned rm, std::uint32_t& flags) {
    a.normalise();
    b.normalise();
    if (b.exponent > a.exponent) std::swap(a, b);
    // One bit of room for the carry; operands are so short that nothing but a sticky bit can be lost when the
    // exponents differ by two or more, and nothing at all when cancellation is possible.
    a.significand >>= 1;
    ++a.exponent;
    b.significand = shift_right_sticky(b.significand, a.exponent - b.exponent);
    if (a.negative == b.negative) {
        a.significand += b.significand;
    } else if (a.significand > b.significand) {
        a.significand -= b.significand;
    } else if (a.significand < b.significand) {
        a.significand = b.significand - a.significand;
        a.negative = b.negative;
    } else {
        return cancelled_zero<F>(rm);
    }
    return round_pack<F>(a, rm, flags);
}

}  // namespace

template <class F>
typename F::bits general<F>::add(bits a, bits b, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    if (f::is_nan(a) || f::is_nan(b)) return nan_result<F>(f::is_signaling(a) || f::is_signaling(b), flags);
    if (!f::is_finite(a)) return !f::is_finite(b) && a != b ? invalid_result<F>(flags) : a;
    if (!f::is_finite(b)) return b;
    if (!f::magnitude(a)) return f::magnitude(b) || a == b ? b : cancelled_zero<F>(rm);
    if (!f::magnitude(b)) return a;
    return add_exact<F>(unpack<F>(a), unpack<F>(b), rm, flags);
}

template <class F>
typename F::bits general<F>::multiply(bits a, bits b, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    const bits sign = (a ^ b) & f::sign;
    if (f::is_nan(a) || f::is_nan(b)) return nan_result<F>(f::is_signaling(a) || f::is_signaling(b), flags);
    if (!f::is_finite(a) || !f::is_finite(b))
        return f::magnitude(a) && f::magnitude(b) ? sign | f::infinity : invalid_result<F>(flags);
    if (!f::magnitude(a) || !f::magnitude(b)) return sign;
    const auto x = unpack<F>(a), y = unpack<F>(b);
    return round_pack<F>({sign != 0, x.exponent + y.exponent, x.significand * y.significand}, rm, flags);
}

template <class F>
typename F::bits general<F>::divide(bits a, bits b, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    const bits sign = (a ^ b) & f::sign;
    if (f::is_nan(a) || f::is_nan(b)) return nan_result<F>(f::is_signaling(a) || f::is_signaling(b), flags);
    if (!f::is_finite(a)) return f::is_finite(b) ? sign | f::infinity : invalid_result<F>(flags);
    if (!f::is_finite(b)) return sign;
    if (!f::magnitude(b)) {
        if (!f::magnitude(a)) return invalid_result<F>(flags);
        flags |= divide_by_zero;
        return sign | f::infinity;
    }
    if (!f::magnitude(a)) return sign;
    auto x = unpack<F>(a);
    auto y = unpack<F>(b);
    x.normalise();
    y.normalise();
    y.significand >>= 64;  // leaves a quotient of 64 or 65 bits, and a sticky bit
    y.exponent += 64;
    const wide quotient = x.significand / y.significand;
    const bool remainder = quotient * y.significand != x.significand;
    return round_pack<F>({sign != 0, x.exponent - y.exponent - 1, quotient << 1 | remainder}, rm, flags);
}

template <class F>
typename F::bits general<F>::square_root(bits a, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    if (f::is_nan(a)) return nan_result<F>(f::is_signaling(a), flags);
    if (!f::magnitude(a)) return a;
    if (f::is_negative(a)) return invalid_result<F>(flags);
    if (!f::is_finite(a)) return a;
    auto x = unpack<F>(a);
    x.normalise();
    if (x.exponent & 1) {
        x.significand >>= 1;  // the last bits are zero
        ++x.exponent;
    }
    // Integer root of 127 or 128 bits, from a host estimate corrected to the floor.
    const double estimate =
        std::sqrt(static_cast<double>(static_cast<std::uint64_t>(x.significand >> 64))) * 4294967296.0;
    auto root = estimate < 18446744073709551616.0 ? static_cast<std::uint64_t>(estimate) : ~std::uint64_t(0);
    const wide improved = (root + x.significand / root) >> 1;
    root = improved >> 64 ? ~std::uint64_t(0) : static_cast<std::uint64_t>(improved);
    while (wide(root) * root > x.significand) --root;
    while (x.significand - wide(root) * root > wide(root) * 2) ++root;
    const bool remainder = wide(root) * root != x.significand;
    return round_pack<F>({false, x.exponent / 2 - 1, wide(root) << 1 | remainder}, rm, flags);
}

template <class F>
typename F::bits general<F>::multiply_add(bits a, bits b, bits c, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    const bits sign = (a ^ b) & f::sign;
    const bool undefined_product =
        (!f::magnitude(a) && f::magnitude(b) == f::infinity) || (!f::magnitude(b) && f::magnitude(a) == f::infinity);
    if (f::is_nan(a) || f::is_nan(b) || f::is_nan(c))  // infinity times zero is invalid even with a quiet NaN added
        return nan_result<F>(f::is_signaling(a) || f::is_signaling(b) || f::is_signaling(c) || undefined_product,
                             flags);
    if (undefined_product) return invalid_result<F>(flags);
    if (!f::is_finite(a) || !f::is_finite(b))
        return !f::is_finite(c) && (c & f::sign) != sign ? invalid_result<F>(flags) : sign | f::infinity;
    if (!f::is_finite(c)) return c;
    if (!f::magnitude(a) || !f::magnitude(b)) return f::magnitude(c) || c == sign ? c : cancelled_zero<F>(rm);
    const auto x = unpack<F>(a), y = unpack<F>(b);
    const exact_value product{sign != 0, x.exponent + y.exponent, x.significand * y.significand};
    if (!f::magnitude(c)) return round_pack<F>(product, rm, flags);
    return add_exact<F>(product, unpack<F>(c), rm, flags);
}

template <class F>
typename F::bits general<F>::from_integer(bool negative, std::uint64_t magnitude, unsigned rm, std::uint32_t& flags) {
    return magnitude ? round_pack<F>({negative, 0, magnitude}, rm, flags) : 0;
}

template <class F>
std::uint64_t general<F>::to_integer(bits a, int width, bool is_signed, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    const std::uint64_t max_value = ~std::uint64_t(0) >> (64 - width + is_signed);
    const std::uint64_t min_value = is_signed ? ~max_value : 0;
    const auto out_of_range = [&](bool low) {
        flags |= invalid;
        return low ? min_value : max_value;
    };
    if (f::is_nan(a)) return out_of_range(false);
    if (!f::magnitude(a)) return 0;
    if (!f::is_finite(a)) return out_of_range(f::is_negative(a));
    auto v = unpack<F>(a);
    v.normalise();
    const int drop = -v.exponent;  // to units
    if (drop < 64) return out_of_range(v.negative);
    auto s = split_at(v.significand, drop);
    if (rounds_up(rm, v.negative, s.kept & 1, s.half, s.rest)) ++s.kept;
    if (s.kept > (v.negative ? wide(0) + (0 - min_value) : wide(max_value))) return out_of_range(v.negative);
    if (s.half || s.rest) flags |= inexact;
    const auto magnitude = static_cast<std::uint64_t>(s.kept);
    return v.negative ? 0 - magnitude : magnitude;
}

namespace {

template <class F>
using native = typename F::native;

/// True if the rounding error of a product or quotient near `a` is a number of the format.
template <class F>
bool error_is_representable(typename F::bits a) {
    return format<F>::magnitude(a) >> format<F>::fraction_bits > 2 * F::precision && format<F>::is_finite(a);
}

/// x + y − r, exactly (Knuth's two-sum), where nothing overflows.
template <class T>
T sum_error(T x, T y, T r) {
    const T y_part = r - x;
    return (x - (r - y_part)) + (y - y_part);
}

}  // namespace

template <class F>
typename F::bits checked<F>::add(bits a, bits b, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    if (rm == nearest_even) {
        const native<F> x = f::value(a), y = f::value(b), r = x + y, error = sum_error(x, y, r);
        if (f::is_finite(f::pattern(error))) {
            if (error != 0) flags |= inexact;
            return f::pattern(r);
        }
    }
    return general<F>::add(a, b, rm, flags);
}

template <class F>
typename F::bits checked<F>::multiply(bits a, bits b, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    if (rm == nearest_even) {
        const native<F> x = f::value(a), y = f::value(b), r = x * y;
        if (error_is_representable<F>(f::pattern(r))) {
            if (std::fma(x, y, -r) != 0) flags |= inexact;
            return f::pattern(r);
        }
    }
    return general<F>::multiply(a, b, rm, flags);
}

template <class F>
typename F::bits checked<F>::divide(bits a, bits b, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    if (rm == nearest_even) {
        const native<F> x = f::value(a), y = f::value(b), r = x / y;
        if (error_is_representable<F>(a) && f::is_safely_normal(f::pattern(r))) {
            if (std::fma(r, y, -x) != 0) flags |= inexact;
            return f::pattern(r);
        }
    }
    return general<F>::divide(a, b, rm, flags);
}

template <class F>
typename F::bits checked<F>::square_root(bits a, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    if (rm == nearest_even && !f::is_negative(a) && error_is_representable<F>(a)) {
        const native<F> x = f::value(a), r = std::sqrt(x);
        if (std::fma(r, r, -x) != 0) flags |= inexact;
        return f::pattern(r);
    }
    return general<F>::square_root(a, rm, flags);
}

template <class F>
typename F::bits checked<F>::multiply_add(bits a, bits b, bits c, unsigned rm, std::uint32_t& flags) {
    using f = format<F>;
    if (rm == nearest_even) {
        const native<F> x = f::value(a), y = f::value(b), z = f::value(c), product = x * y;
        if (error_is_representable<F>(f::pattern(product)) && std::fma(x, y, -product) == 0) {  // an addition, then
            const native<F> r = product + z, error = sum_error(product, z, r);
            if (f::is_finite(f::pattern(error))) {
                if (error != 0) flags |= inexact;
                return f::pattern(r);
            }
        }
    }
    return general<F>::multiply_add(a, b, c, rm, flags);
}

template struct checked<binary32>;
template struct checked<binary64>;
template struct general<binary32>;
template struct general<binary64>;

std::uint32_t narrow(std::uint64_t a, unsigned rm, std::uint32_t& flags) {
    using d = format<binary64>;
    using s = format<binary32>;
    const std::uint32_t sign = d::is_negative(a) ? s::sign : 0;
    if (d::is_nan(a)) return nan_result<binary32>(d::is_signaling(a), flags);
    if (!d::is_finite(a)) return sign | s::infinity;
    if (!d::magnitude(a)) return sign;
    return round_pack<binary32>(unpack<binary64>(a), rm, flags);
}

}  // namespace fabricvp::riscv::fpu
