// SPDX-License-Identifier: Apache-2.0
// Random operands against exact arithmetic, in all rounding modes, with and without flags raised before.
#include <random>

#include <catch2/catch.hpp>

#include "reference.h"

namespace {

namespace fpu = fabricvp::riscv::fpu;
using reference::cpp_int;

/// Operands that meet the corners: special values, short significands, neighbouring exponents, the subnormal range.
template <class F>
class operand_source {
public:
    using bits = typename F::bits;
    explicit operand_source(unsigned seed) : m_random(seed) {}

    bits next() {
        using f = fpu::format<F>;
        constexpr int fraction = F::precision - 1;
        const bits raw = static_cast<bits>(m_random());
        const auto choice = m_random() % 16;
        bits exponent, significand;
        if (choice == 0) {
            static constexpr bits special[] = {0,
                                               1,
                                               2,
                                               f::one << fraction,
                                               (f::one << fraction) - 1,
                                               f::infinity,
                                               f::largest,
                                               f::canonical_nan,
                                               f::infinity + 1,
                                               bits(F::bias) << fraction};
            return special[m_random() % 10] | (raw & f::sign);
        }
        if (choice < 3)
            exponent = m_random() % 4;
        else if (choice < 5)
            exponent = (f::infinity >> fraction) - m_random() % 4;
        else if (choice < 12)
            exponent = m_last + m_random() % 5 - 2;
        else
            exponent = static_cast<bits>(m_random());
        if (m_random() % 8 == 0) m_last = F::bias + m_random() % 130 - 65;
        significand = static_cast<bits>(m_random());
        if (m_random() % 3 == 0) significand &= static_cast<bits>(m_random()) & static_cast<bits>(m_random());
        if (m_random() % 3 == 0) significand &= ~bits(0) << (m_random() % fraction);
        if (m_random() % 8 == 0) significand = ~significand;
        return (raw & f::sign) | ((exponent << fraction) & f::infinity) | (significand & ((f::one << fraction) - 1));
    }
    std::uint64_t integer() {
        const auto v = m_random() >> (m_random() % 64);
        return m_random() % 2 ? v : m_random() % 2 ? 0 - v : v & (~std::uint64_t(0) << (m_random() % 64));
    }
    unsigned below(unsigned n) { return static_cast<unsigned>(m_random() % n); }

private:
    std::mt19937_64 m_random;
    bits m_last = F::bias;
};

/// Checks one operation from clear flags and from NX set, where the inline path is taken.
template <class Operation>
void compare(const reference::result& expected, Operation operation) {
    for (const std::uint32_t before : {0u, 1u}) {
        std::uint32_t flags = before;
        const auto got = static_cast<std::uint64_t>(operation(flags));
        if (got == expected.bits && flags == (expected.flags | before)) continue;
        INFO("flags before " << before << std::hex << ": got " << got << " flags " << flags << ", expected "
                             << expected.bits << " flags " << expected.flags);
        CHECK(got == expected.bits);
        CHECK(flags == (expected.flags | before));
    }
}

template <class F>
void check_arithmetic(unsigned seed, int rounds) {
    using ref = reference::arithmetic<F>;
    const fabricvp::host_environment environment;
    operand_source<F> source(seed);
    for (int i = 0; i < rounds; ++i) {
        const auto a = source.next(), b = source.next(), c = source.next();
        const unsigned rm = static_cast<unsigned>(i) % 5;
        INFO(std::hex << "a " << a << " b " << b << " c " << c << " rm " << rm);
        compare(ref::add(a, b, rm), [&](auto& flags) { return fpu::add<F>(a, b, rm, flags); });
        compare(ref::add(a, b ^ fpu::format<F>::sign, rm), [&](auto& flags) {
            // a − b negates b even if it is a NaN, which no result shows
            return fpu::sub<F>(a, b, rm, flags);
        });
        compare(ref::mul(a, b, rm), [&](auto& flags) { return fpu::mul<F>(a, b, rm, flags); });
        compare(ref::div(a, b, rm), [&](auto& flags) { return fpu::div<F>(a, b, rm, flags); });
        compare(ref::sqrt(a, rm), [&](auto& flags) { return fpu::sqrt<F>(a, rm, flags); });
        const auto minus = fpu::format<F>::sign;
        compare(ref::fma(a, b, c, rm), [&](auto& flags) { return fpu::fmadd<F>(a, b, c, rm, flags); });
        compare(ref::fma(a, b, c ^ minus, rm), [&](auto& flags) { return fpu::fmsub<F>(a, b, c, rm, flags); });
        compare(ref::fma(a ^ minus, b, c, rm), [&](auto& flags) { return fpu::fnmsub<F>(a, b, c, rm, flags); });
        compare(ref::fma(a ^ minus, b, c ^ minus, rm), [&](auto& flags) { return fpu::fnmadd<F>(a, b, c, rm, flags); });
        // A product that nearly cancels against the addend.
        std::uint32_t ignored = 0;
        const auto near = static_cast<typename F::bits>(fpu::mul<F>(a, b ^ minus, rm, ignored) + source.below(3) - 1);
        compare(ref::fma(a, b, near, rm), [&](auto& flags) { return fpu::fmadd<F>(a, b, near, rm, flags); });
    }
}

/// The integer arithmetic by itself, which the inline functions use only where the host's does not do.
template <class F>
void check_general(unsigned seed, int rounds) {
    using ref = reference::arithmetic<F>;
    using general = fpu::general<F>;
    operand_source<F> source(seed);
    for (int i = 0; i < rounds; ++i) {
        const auto a = source.next(), b = source.next(), c = source.next();
        const unsigned rm = i % 2 ? fpu::nearest_even : static_cast<unsigned>(i / 2) % 5;
        INFO(std::hex << "a " << a << " b " << b << " c " << c << " rm " << rm);
        compare(ref::add(a, b, rm), [&](auto& flags) { return general::add(a, b, rm, flags); });
        compare(ref::mul(a, b, rm), [&](auto& flags) { return general::multiply(a, b, rm, flags); });
        compare(ref::div(a, b, rm), [&](auto& flags) { return general::divide(a, b, rm, flags); });
        compare(ref::sqrt(a, rm), [&](auto& flags) { return general::square_root(a, rm, flags); });
        compare(ref::fma(a, b, c, rm), [&](auto& flags) { return general::multiply_add(a, b, c, rm, flags); });
    }
}

template <class F>
void check_conversions(unsigned seed, int rounds) {
    using ref = reference::arithmetic<F>;
    const fabricvp::host_environment environment;
    operand_source<F> source(seed);
    const cpp_int one = 1;
    for (int i = 0; i < rounds; ++i) {
        const auto a = source.next();
        const auto x = source.integer();
        const unsigned rm = static_cast<unsigned>(i) % 5;
        INFO(std::hex << "a " << a << " x " << x << " rm " << rm);
        const auto extended = [](reference::result r) {
            r.bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(r.bits)));
            return r;
        };
        const auto to = [&](int low_bit, int high_bit) {
            return ref::to_integer(a, low_bit < 0 ? cpp_int(0) : -(one << low_bit), (one << high_bit) - 1, rm);
        };
        compare(extended(to(31, 31)), [&](auto& flags) { return fpu::to_w<F>(a, rm, flags); });
        compare(extended(to(-1, 32)), [&](auto& flags) { return fpu::to_wu<F>(a, rm, flags); });
        compare(to(63, 63), [&](auto& flags) { return fpu::to_l<F>(a, rm, flags); });
        compare(to(-1, 64), [&](auto& flags) { return fpu::to_lu<F>(a, rm, flags); });
        compare(ref::from_integer(static_cast<std::int32_t>(x), rm),
                [&](auto& flags) { return fpu::from_w<F>(x, rm, flags); });
        compare(ref::from_integer(static_cast<std::uint32_t>(x), rm),
                [&](auto& flags) { return fpu::from_wu<F>(x, rm, flags); });
        compare(ref::from_integer(static_cast<std::int64_t>(x), rm),
                [&](auto& flags) { return fpu::from_l<F>(x, rm, flags); });
        compare(ref::from_integer(x, rm), [&](auto& flags) { return fpu::from_lu<F>(x, rm, flags); });
    }
}

}  // namespace

TEST_CASE("single-precision arithmetic equals the exact result, rounded") { check_arithmetic<fpu::binary32>(1, 60000); }

TEST_CASE("double-precision arithmetic equals the exact result, rounded") { check_arithmetic<fpu::binary64>(2, 60000); }

TEST_CASE("the integer path alone equals the exact result, rounded") {
    check_general<fpu::binary32>(8, 30000);
    check_general<fpu::binary64>(9, 30000);
}

TEST_CASE("conversions between integers and floating point round and saturate") {
    check_conversions<fpu::binary32>(3, 60000);
    check_conversions<fpu::binary64>(4, 60000);
}

TEST_CASE("narrowing a double rounds once") {
    const fabricvp::host_environment environment;
    operand_source<fpu::binary64> wide(5);
    operand_source<fpu::binary32> slim(6);
    for (int i = 0; i < 200000; ++i) {
        const unsigned rm = static_cast<unsigned>(i) % 5;
        std::uint32_t ignored = 0;
        // Every other operand lies next to a single-precision number or a tie.
        auto a = wide.next();
        if (i % 2) a = fpu::s_to_d(slim.next(), ignored) + (std::uint64_t(wide.below(2)) << 28) + wide.below(3) - 1;
        INFO(std::hex << "a " << a << " rm " << rm);
        compare(reference::narrow(a, rm), [&](auto& flags) { return fpu::d_to_s(a, rm, flags); });
    }
}

TEST_CASE("widening a single is exact and reversible") {
    const fabricvp::host_environment environment;
    operand_source<fpu::binary32> source(7);
    for (int i = 0; i < 100000; ++i) {
        const auto a = source.next();
        std::uint32_t flags = 0;
        const auto d = fpu::s_to_d(a, flags);
        using s = fpu::format<fpu::binary32>;
        if (s::is_nan(a)) {
            REQUIRE(d == fpu::format<fpu::binary64>::canonical_nan);
            REQUIRE(flags == (s::is_signaling(a) ? fpu::invalid : 0u));
        } else {
            REQUIRE(fpu::d_to_s(d, fpu::toward_zero, flags) == a);
            REQUIRE(flags == 0);
        }
    }
}
