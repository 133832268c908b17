// SPDX-License-Identifier: Apache-2.0
// IEEE 754 arithmetic by definition: the exact result as a rational number or an integer root, then the choice between
// its two neighbours. Slow, and written without a look at the implementation under test.
#pragma once

#include <cstdint>
#include <optional>

#include <boost/multiprecision/cpp_int.hpp>

#include "riscv/fpu.h"

namespace reference {

using boost::multiprecision::cpp_int;
using boost::multiprecision::msb;
namespace fpu = fabricvp::riscv::fpu;

/// numerator / denominator × 2^exponent; for roots the square of the value.
struct rational {
    bool negative = false;
    cpp_int numerator = 0;
    cpp_int denominator = 1;
    int exponent = 0;
};

struct result {
    std::uint64_t bits;
    std::uint32_t flags;
};

template <class F>
struct arithmetic {
    static constexpr int p = F::precision;
    static constexpr int most = F::bias;
    static constexpr int least = 1 - F::bias;
    static constexpr std::uint64_t sign_bit = std::uint64_t(1) << (F::width - 1);
    static constexpr std::uint64_t fraction_mask = (std::uint64_t(1) << (p - 1)) - 1;
    static constexpr std::uint64_t exponent_mask = (sign_bit - 1) & ~fraction_mask;
    static constexpr std::uint64_t quiet_bit = std::uint64_t(1) << (p - 2);
    static constexpr std::uint64_t default_nan = exponent_mask | quiet_bit;

    static bool nan(std::uint64_t a) { return (a & exponent_mask) == exponent_mask && (a & fraction_mask); }
    static bool signaling(std::uint64_t a) { return nan(a) && !(a & quiet_bit); }
    static bool infinite(std::uint64_t a) { return (a & ~sign_bit) == exponent_mask; }
    static bool zero(std::uint64_t a) { return (a & ~sign_bit) == 0; }
    static bool negative(std::uint64_t a) { return a & sign_bit; }

    static rational number(std::uint64_t a) {
        rational r;
        r.negative = negative(a);
        const int field = static_cast<int>((a & exponent_mask) >> (p - 1));
        r.numerator = a & fraction_mask;
        if (field) r.numerator += cpp_int(1) << (p - 1);
        r.exponent = (field ? field : 1) - F::bias - (p - 1);
        return r;
    }

    struct scaled {
        cpp_int units;
        int below;  // sign of (rest − half unit); −2 for no rest at all
    };
    /// |v| in units of 2^quantum, truncated.
    static scaled in_units(const rational& v, int quantum, bool root) {
        cpp_int n = v.numerator, d = v.denominator;
        const int shift = v.exponent - (root ? 2 : 1) * quantum;
        if (shift >= 0)
            n <<= shift;
        else
            d <<= -shift;
        scaled s;
        if (root) {
            cpp_int rest;
            s.units = boost::multiprecision::sqrt(cpp_int(n / d));
            const cpp_int exact = s.units * s.units * d;
            const cpp_int twice = (2 * s.units + 1) * (2 * s.units + 1) * d;  // (units + ½)² × 4
            s.below = exact == n ? -2 : 4 * n < twice ? -1 : 4 * n == twice ? 0 : 1;
        } else {
            s.units = n / d;
            const cpp_int rest = n - s.units * d;
            s.below = rest == 0 ? -2 : 2 * rest < d ? -1 : 2 * rest == d ? 0 : 1;
        }
        return s;
    }

    static bool away(const scaled& s, unsigned rm, bool negative) {
        if (s.below == -2) return false;
        if (rm == 0) return s.below == 1 || (s.below == 0 && (s.units & 1) != 0);
        if (rm == 1) return false;
        if (rm == 2) return negative;
        if (rm == 3) return !negative;
        return s.below >= 0;
    }

    static result round(const rational& v, unsigned rm, bool root = false) {
        // The quantum that makes p-bit significands, found by trial.
        int q = static_cast<int>(msb(v.numerator)) - static_cast<int>(msb(v.denominator)) + v.exponent;
        if (root) q = q / 2;
        q -= p + 1;
        auto s = in_units(v, q, root);
        while (s.units >> p != 0) s = in_units(v, ++q, root);
        cpp_int unbounded = s.units + away(s, rm, v.negative);
        int exponent = q + static_cast<int>(msb(unbounded));
        result r{v.negative ? sign_bit : 0, 0};
        if (exponent > most) {
            r.flags = 4 | 1;
            const bool infinity = rm == 0 || rm == 4 || (rm == 2 && v.negative) || (rm == 3 && !v.negative);
            r.bits |= infinity ? exponent_mask : exponent_mask - 1;
            return r;
        }
        const bool tiny = exponent < least;
        if (q < least - (p - 1)) {
            q = least - (p - 1);
            s = in_units(v, q, root);
            unbounded = s.units + away(s, rm, v.negative);
        }
        if (s.below != -2) r.flags |= tiny ? 1 | 2 : 1;
        if (unbounded >> p != 0) {
            unbounded >>= 1;
            ++q;
        }
        const auto significand = static_cast<std::uint64_t>(unbounded);
        if (significand >> (p - 1))
            r.bits |= (static_cast<std::uint64_t>(q + (p - 1) + F::bias) << (p - 1)) | (significand & fraction_mask);
        else
            r.bits |= significand;
        return r;
    }

    static result no_number(bool bad) { return {default_nan, bad ? 16u : 0u}; }

    static rational sum(const rational& a, const rational& b) {
        const int e = std::min(a.exponent, b.exponent);
        cpp_int x = a.numerator << (a.exponent - e), y = b.numerator << (b.exponent - e);
        if (a.negative) x = -x;
        if (b.negative) y = -y;
        cpp_int s = x + y;
        rational r;
        r.negative = s < 0;
        r.numerator = abs(s);
        r.exponent = e;
        return r;
    }

    static result fma(std::uint64_t a, std::uint64_t b, std::uint64_t c, unsigned rm) {
        const bool sign = negative(a) != negative(b);
        const bool bad = (zero(a) && infinite(b)) || (zero(b) && infinite(a));
        if (nan(a) || nan(b) || nan(c)) return no_number(bad || signaling(a) || signaling(b) || signaling(c));
        if (bad) return no_number(true);
        if (infinite(a) || infinite(b)) {
            if (infinite(c) && negative(c) != sign) return no_number(true);
            return {(sign ? sign_bit : 0) | exponent_mask, 0};
        }
        if (infinite(c)) return {c, 0};
        rational x = number(a), y = number(b), product;
        product.negative = sign;
        product.numerator = x.numerator * y.numerator;
        product.exponent = x.exponent + y.exponent;
        const auto total = sum(product, number(c));
        if (total.numerator == 0) {
            const bool exact_zeros = product.numerator == 0 && zero(c) && sign == negative(c);
            return {(exact_zeros ? sign : rm == 2) ? sign_bit : 0, 0};
        }
        return round(total, rm);
    }
    static result add(std::uint64_t a, std::uint64_t b, unsigned rm) {
        if (nan(a) || nan(b)) return no_number(signaling(a) || signaling(b));
        if (infinite(a) && infinite(b) && a != b) return no_number(true);
        if (infinite(a)) return {a, 0};
        if (infinite(b)) return {b, 0};
        const auto total = sum(number(a), number(b));
        if (total.numerator == 0) {
            if (zero(a) && a == b) return {a, 0};
            return {rm == 2 ? sign_bit : 0, 0};
        }
        return round(total, rm);
    }
    static result mul(std::uint64_t a, std::uint64_t b, unsigned rm) {
        const std::uint64_t sign = (a ^ b) & sign_bit;
        if (nan(a) || nan(b)) return no_number(signaling(a) || signaling(b));
        if ((zero(a) && infinite(b)) || (zero(b) && infinite(a))) return no_number(true);
        if (infinite(a) || infinite(b)) return {sign | exponent_mask, 0};
        if (zero(a) || zero(b)) return {sign, 0};
        rational x = number(a), y = number(b);
        x.negative = sign != 0;
        x.numerator *= y.numerator;
        x.exponent += y.exponent;
        return round(x, rm);
    }
    static result div(std::uint64_t a, std::uint64_t b, unsigned rm) {
        const std::uint64_t sign = (a ^ b) & sign_bit;
        if (nan(a) || nan(b)) return no_number(signaling(a) || signaling(b));
        if ((zero(a) && zero(b)) || (infinite(a) && infinite(b))) return no_number(true);
        if (infinite(a)) return {sign | exponent_mask, 0};
        if (zero(b)) return {sign | exponent_mask, 8};
        if (zero(a) || infinite(b)) return {sign, 0};
        rational x = number(a), y = number(b);
        x.negative = sign != 0;
        x.denominator = y.numerator;
        x.exponent -= y.exponent;
        return round(x, rm);
    }
    static result sqrt(std::uint64_t a, unsigned rm) {
        if (nan(a)) return no_number(signaling(a));
        if (zero(a)) return {a, 0};
        if (negative(a)) return no_number(true);
        if (infinite(a)) return {a, 0};
        return round(number(a), rm, true);
    }

    /// `low` and `high` bound the integer type.
    static result to_integer(std::uint64_t a, const cpp_int& low, const cpp_int& high, unsigned rm) {
        const auto saturated = [](const cpp_int& v) {
            return result{static_cast<std::uint64_t>(v < 0 ? v + (cpp_int(1) << 64) : v), 16};
        };
        if (nan(a)) return saturated(high);
        if (infinite(a)) return saturated(negative(a) ? low : high);
        const auto v = number(a);
        const auto s = in_units(v, 0, false);
        cpp_int i = s.units + away(s, rm, v.negative);
        if (v.negative) i = -i;
        if (i < low) return saturated(low);
        if (i > high) return saturated(high);
        return {saturated(i).bits, s.below == -2 ? 0u : 1u};
    }
    static result from_integer(const cpp_int& i, unsigned rm) {
        if (i == 0) return {0, 0};
        rational r;
        r.negative = i < 0;
        r.numerator = abs(i);
        return round(r, rm);
    }
};

inline result narrow(std::uint64_t a, unsigned rm) {
    using d = arithmetic<fpu::binary64>;
    using s = arithmetic<fpu::binary32>;
    const std::uint64_t sign = d::negative(a) ? s::sign_bit : 0;
    if (d::nan(a)) return s::no_number(d::signaling(a));
    if (d::infinite(a)) return {sign | s::exponent_mask, 0};
    if (d::zero(a)) return {sign, 0};
    return s::round(d::number(a), rm);
}

}  // namespace reference
