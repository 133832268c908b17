// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <catch2/catch.hpp>

#include "riscv/fpu.h"

namespace {

namespace fpu = fabricvp::riscv::fpu;
using fpu::divide_by_zero;
using fpu::inexact;
using fpu::invalid;
using fpu::overflow;
using fpu::underflow;

constexpr std::uint64_t one = 0x3ff0000000000000, minus_one = 0xbff0000000000000, infinity = 0x7ff0000000000000,
                        minus_infinity = 0xfff0000000000000, quiet = 0x7ff8000000000000, signaling = 0x7ff0000000000001,
                        minus_zero = 0x8000000000000000, smallest_normal = 0x0010000000000000,
                        largest = 0x7fefffffffffffff, half = 0x3fe0000000000000, two = 0x4000000000000000;

struct outcome {
    std::uint64_t bits;
    std::uint32_t flags;
    bool operator==(const outcome& o) const { return bits == o.bits && flags == o.flags; }
};
std::ostream& operator<<(std::ostream& out, const outcome& o) {
    return out << std::hex << "0x" << o.bits << " flags 0x" << o.flags;
}

template <class Function, class... Operands>
outcome of(Function function, Operands... operands) {
    std::uint32_t flags = 0;
    const auto bits = static_cast<std::uint64_t>(function(operands..., flags));
    return {bits, flags};
}

}  // namespace

TEST_CASE("NaNs are canonical and only signaling ones are invalid") {
    for (unsigned rm = 0; rm < 5; ++rm) {
        CHECK(of(fpu::add_d, quiet | 1, one, rm) == outcome{quiet, 0});
        CHECK(of(fpu::add_d, one, std::uint64_t(0xfff8000000000123), rm) == outcome{quiet, 0});
        CHECK(of(fpu::mul_d, signaling, one, rm) == outcome{quiet, invalid});
        CHECK(of(fpu::sqrt_d, signaling, rm) == outcome{quiet, invalid});
        CHECK(of(fpu::add_s, 0x7f800001u, 0x3f800000u, rm) == outcome{0x7fc00000, invalid});
        CHECK(of(fpu::d_to_s, signaling, rm) == outcome{0x7fc00000, invalid});
    }
    CHECK(of(fpu::s_to_d, 0xffc00001u) == outcome{quiet, 0});
    CHECK(of(fpu::s_to_d, 0xff800001u) == outcome{quiet, invalid});
}

TEST_CASE("undefined operations are invalid") {
    CHECK(of(fpu::sub_d, infinity, infinity, 0u) == outcome{quiet, invalid});
    CHECK(of(fpu::add_d, infinity, infinity, 0u) == outcome{infinity, 0});
    CHECK(of(fpu::mul_d, std::uint64_t(0), minus_infinity, 0u) == outcome{quiet, invalid});
    CHECK(of(fpu::div_d, std::uint64_t(0), minus_zero, 0u) == outcome{quiet, invalid});
    CHECK(of(fpu::div_d, infinity, infinity, 0u) == outcome{quiet, invalid});
    CHECK(of(fpu::div_d, minus_one, std::uint64_t(0), 0u) == outcome{minus_infinity, divide_by_zero});
    CHECK(of(fpu::div_d, infinity, minus_zero, 0u) == outcome{minus_infinity, 0});
    CHECK(of(fpu::sqrt_d, minus_one, 0u) == outcome{quiet, invalid});
    CHECK(of(fpu::sqrt_d, minus_zero, 0u) == outcome{minus_zero, 0});
    CHECK(of(fpu::sqrt_d, infinity, 0u) == outcome{infinity, 0});
}

TEST_CASE("infinity times zero is invalid even when a quiet NaN is added") {
    CHECK(of(fpu::fmadd_d, infinity, std::uint64_t(0), quiet, 0u) == outcome{quiet, invalid});
    CHECK(of(fpu::fmadd_d, infinity, one, quiet, 0u) == outcome{quiet, 0});
    CHECK(of(fpu::fmadd_d, infinity, one, minus_infinity, 0u) == outcome{quiet, invalid});
    CHECK(of(fpu::fnmadd_s, 0x7f800000u, 0u, 0x7fc00000u, 1u) == outcome{0x7fc00000, invalid});
}

TEST_CASE("the four fused forms differ in signs only") {
    const std::uint64_t three = 0x4008000000000000, five = 0x4014000000000000;
    CHECK(of(fpu::fmadd_d, two, three, five, 0u) == outcome{0x4026000000000000, 0});   // 11
    CHECK(of(fpu::fmsub_d, two, three, five, 0u) == outcome{one, 0});                  // 1
    CHECK(of(fpu::fnmsub_d, two, three, five, 0u) == outcome{minus_one, 0});           // −1
    CHECK(of(fpu::fnmadd_d, two, three, five, 0u) == outcome{0xc026000000000000, 0});  // −11
}

TEST_CASE("sums of zeros and cancellation take the sign of the rounding mode") {
    for (unsigned rm = 0; rm < 5; ++rm) {
        const std::uint64_t zero = rm == fpu::down ? minus_zero : 0;
        CHECK(of(fpu::sub_d, one, one, rm) == outcome{zero, 0});
        CHECK(of(fpu::add_d, std::uint64_t(0), minus_zero, rm) == outcome{zero, 0});
        CHECK(of(fpu::add_d, minus_zero, minus_zero, rm) == outcome{minus_zero, 0});
        CHECK(of(fpu::fmadd_d, one, one, minus_one, rm) == outcome{zero, 0});
        CHECK(of(fpu::fmadd_d, minus_zero, one, std::uint64_t(0), rm) == outcome{zero, 0});
    }
}

TEST_CASE("overflow gives infinity or the largest number, by rounding mode") {
    const std::uint64_t positive[] = {infinity, largest, largest, infinity, infinity};
    const std::uint64_t negative[] = {minus_infinity, largest | minus_zero, minus_infinity, largest | minus_zero,
                                      minus_infinity};
    for (unsigned rm = 0; rm < 5; ++rm) {
        CHECK(of(fpu::add_d, largest, largest, rm) == outcome{positive[rm], overflow | inexact});
        CHECK(of(fpu::mul_d, largest | minus_zero, two, rm) == outcome{negative[rm], overflow | inexact});
    }
    CHECK(of(fpu::d_to_s, largest, 1u) == outcome{0x7f7fffff, overflow | inexact});
    // 2^128 − 2^103 is the tie below the overflow threshold of singles; it goes to infinity when rounded to nearest.
    CHECK(of(fpu::d_to_s, std::uint64_t(0x47effffff0000000), 0u) == outcome{0x7f800000, overflow | inexact});
    CHECK(of(fpu::d_to_s, std::uint64_t(0x47efffffefffffff), 0u) == outcome{0x7f7fffff, inexact});
}

TEST_CASE("tininess is detected after rounding, and only inexact results underflow") {
    const std::uint64_t below_one = 0x3fefffffffffffff, quarter = 0x3fd0000000000000;
    CHECK(of(fpu::mul_d, smallest_normal, half, 0u) == outcome{smallest_normal / 2, 0});
    CHECK(of(fpu::mul_d, smallest_normal | 1, half, 0u) == outcome{smallest_normal / 2, underflow | inexact});
    // The smallest normal × (1 − 2^-53): 53-bit rounding stays below 2^-1022, so it is tiny although it rounds up to
    // it.
    CHECK(of(fpu::mul_d, smallest_normal, below_one, 0u) == outcome{smallest_normal, underflow | inexact});
    // (1 − 2^-54)-like: rounds to the smallest normal even with unbounded exponent, so it is not tiny.
    CHECK(of(fpu::fmadd_d, smallest_normal, one, std::uint64_t(0x8000000000000001), 0u) ==
          outcome{smallest_normal - 1, 0});
    CHECK(of(fpu::d_to_s, std::uint64_t(0x380fffffffffffff), 0u) == outcome{0x00800000, inexact});
    CHECK(of(fpu::d_to_s, std::uint64_t(0x380fffffe0000000), 0u) == outcome{0x00800000, underflow | inexact});
    CHECK(of(fpu::d_to_s, std::uint64_t(0x380fffffe0000000), 1u) == outcome{0x007fffff, underflow | inexact});
    CHECK(of(fpu::mul_d, std::uint64_t(1), quarter, 3u) == outcome{1, underflow | inexact});
    CHECK(of(fpu::mul_d, std::uint64_t(1), half, 4u) == outcome{1, underflow | inexact});
    CHECK(of(fpu::mul_d, std::uint64_t(1), half, 0u) == outcome{0, underflow | inexact});
    CHECK(of(fpu::div_d, std::uint64_t(1), two, 2u) == outcome{0, underflow | inexact});
}

TEST_CASE("ties: to even, or away from zero") {
    const std::uint64_t odd = one | 1, ulp_half = 0x3ca0000000000000;  // 2^-53
    CHECK(of(fpu::add_d, one, ulp_half, 0u) == outcome{one, inexact});
    CHECK(of(fpu::add_d, one, ulp_half, 4u) == outcome{one | 1, inexact});
    CHECK(of(fpu::add_d, odd, ulp_half, 0u) == outcome{one | 2, inexact});
    CHECK(of(fpu::add_d, one, ulp_half, 3u) == outcome{one | 1, inexact});
    CHECK(of(fpu::add_d, one, ulp_half, 2u) == outcome{one, inexact});
    CHECK(of(fpu::l_to_s, std::uint64_t(0x1000001), 0u) == outcome{0x4b800000, inexact});
    CHECK(of(fpu::l_to_s, std::uint64_t(0x1000001), 4u) == outcome{0x4b800001, inexact});
}

TEST_CASE("minimum and maximum order zeros and drop NaNs") {
    CHECK(of(fpu::min_d, std::uint64_t(0), minus_zero) == outcome{minus_zero, 0});
    CHECK(of(fpu::min_d, minus_zero, std::uint64_t(0)) == outcome{minus_zero, 0});
    CHECK(of(fpu::max_d, minus_zero, std::uint64_t(0)) == outcome{0, 0});
    CHECK(of(fpu::max_d, std::uint64_t(0), minus_zero) == outcome{0, 0});
    CHECK(of(fpu::min_d, quiet, one) == outcome{one, 0});
    CHECK(of(fpu::max_d, one, signaling) == outcome{one, invalid});
    CHECK(of(fpu::max_d, quiet | 5, quiet | 7) == outcome{quiet, 0});
    CHECK(of(fpu::min_d, minus_one, minus_infinity) == outcome{minus_infinity, 0});
    CHECK(of(fpu::max_s, 0xbf800000u, 0xc0000000u) == outcome{0xbf800000, 0});
}

TEST_CASE("comparisons: quiet equality, signaling order") {
    CHECK(of(fpu::eq_d, quiet, quiet) == outcome{0, 0});
    CHECK(of(fpu::eq_d, signaling, one) == outcome{0, invalid});
    CHECK(of(fpu::lt_d, quiet, one) == outcome{0, invalid});
    CHECK(of(fpu::le_d, one, quiet) == outcome{0, invalid});
    CHECK(of(fpu::eq_d, std::uint64_t(0), minus_zero) == outcome{1, 0});
    CHECK(of(fpu::lt_d, minus_zero, std::uint64_t(0)) == outcome{0, 0});
    CHECK(of(fpu::le_d, std::uint64_t(0), minus_zero) == outcome{1, 0});
    const std::vector<std::uint64_t> ascending{
        minus_infinity, largest | minus_zero, minus_one, minus_zero | 1, 0, 1, smallest_normal, half, one, two, largest,
        infinity};
    for (std::size_t i = 0; i < ascending.size(); ++i)
        for (std::size_t j = 0; j < ascending.size(); ++j) {
            CHECK(of(fpu::lt_d, ascending[i], ascending[j]) == outcome{i < j, 0});
            CHECK(of(fpu::le_d, ascending[i], ascending[j]) == outcome{i <= j, 0});
            CHECK(of(fpu::eq_d, ascending[i], ascending[j]) == outcome{i == j, 0});
            CHECK(of(fpu::min_d, ascending[i], ascending[j]) == outcome{ascending[std::min(i, j)], 0});
            CHECK(of(fpu::max_d, ascending[i], ascending[j]) == outcome{ascending[std::max(i, j)], 0});
        }
}

TEST_CASE("classes") {
    const std::uint64_t d[] = {minus_infinity,      minus_one,       minus_zero | 1, minus_zero, 0,
                               smallest_normal - 1, smallest_normal, infinity,       signaling,  quiet};
    const std::uint32_t s[] = {0xff800000, 0xff7fffff, 0x807fffff, 0x80000000, 0,
                               1,          0x00800000, 0x7f800000, 0xffbfffff, 0xffc00000};
    for (unsigned i = 0; i < 10; ++i) {
        CHECK(fpu::class_d(d[i]) == 1u << i);
        CHECK(fpu::class_s(s[i]) == 1u << i);
    }
}

TEST_CASE("sign injection touches nothing but the sign") {
    CHECK(fpu::sgnj_d(signaling, minus_one) == (signaling | minus_zero));
    CHECK(fpu::sgnjn_d(one, one) == minus_one);
    CHECK(fpu::sgnjx_d(minus_one, minus_one) == one);
    CHECK(fpu::sgnjn_s(0x7fc00001, 0) == 0xffc00001);
}

TEST_CASE("conversions to integers saturate") {
    const std::uint64_t big = 0x43f0000000000000;        // 2^64
    const std::uint64_t just_fits = 0x43efffffffffffff;  // 2^64 − 2048
    const std::uint64_t minus_half = 0xbfe0000000000000;
    CHECK(of(fpu::d_to_w, quiet, 1u) == outcome{0x7fffffff, invalid});
    CHECK(of(fpu::d_to_w, minus_infinity, 1u) == outcome{0xffffffff80000000, invalid});
    CHECK(of(fpu::d_to_wu, quiet | minus_zero, 1u) == outcome{~std::uint64_t(0), invalid});
    CHECK(of(fpu::d_to_wu, minus_one, 1u) == outcome{0, invalid});
    CHECK(of(fpu::d_to_wu, std::uint64_t(0x41e0000000000000), 1u) == outcome{0xffffffff80000000, 0});
    CHECK(of(fpu::d_to_wu, minus_half, 1u) == outcome{0, inexact});
    CHECK(of(fpu::d_to_wu, minus_half, 4u) == outcome{0, invalid});
    CHECK(of(fpu::d_to_wu, minus_half, 0u) == outcome{0, inexact});
    CHECK(of(fpu::d_to_w, minus_half, 2u) == outcome{~std::uint64_t(0), inexact});
    CHECK(of(fpu::d_to_l, big, 1u) == outcome{0x7fffffffffffffff, invalid});
    CHECK(of(fpu::d_to_lu, big, 1u) == outcome{~std::uint64_t(0), invalid});
    CHECK(of(fpu::d_to_lu, just_fits, 1u) == outcome{0xfffffffffffff800, 0});
    CHECK(of(fpu::d_to_w, std::uint64_t(0x41dfffffffe00000), 1u) == outcome{0x7fffffff, inexact});
    CHECK(of(fpu::d_to_w, std::uint64_t(0x41dfffffffe00000), 0u) == outcome{0x7fffffff, invalid});
    CHECK(of(fpu::d_to_w, std::uint64_t(0xc1e0000000000000), 1u) == outcome{0xffffffff80000000, 0});
    CHECK(of(fpu::d_to_w, std::uint64_t(0xc1e00000001fffff), 1u) == outcome{0xffffffff80000000, inexact});
    CHECK(of(fpu::s_to_l, 0xff800000u, 0u) == outcome{0x8000000000000000, invalid});
    CHECK(of(fpu::s_to_lu, 0x5f800000u, 0u) == outcome{~std::uint64_t(0), invalid});
}

TEST_CASE("singles live boxed in 64-bit registers") {
    CHECK(fpu::box_s(0x3f800000) == 0xffffffff3f800000);
    CHECK(fpu::unbox_s(0xffffffff3f800000) == 0x3f800000);
    CHECK(fpu::unbox_s(0x3f800000) == 0x7fc00000);
    CHECK(fpu::unbox_s(0xfffffffe3f800000) == 0x7fc00000);
}
