// SPDX-License-Identifier: Apache-2.0
// Time and the other quantities that parameters carry. All are strong types: a bare number has no unit and is refused.
#pragma once

#include <cstdint>

namespace fabricvp {

/// A point in or a span of simulated time, in picoseconds (64 bits last for 213 days).
using ticks = std::uint64_t;
inline constexpr ticks never = ~ticks{0};
inline constexpr ticks ticks_per_second = 1'000'000'000'000;

namespace time_literals {
constexpr ticks operator""_ps(unsigned long long n) { return n; }
constexpr ticks operator""_ns(unsigned long long n) { return n * 1'000; }
constexpr ticks operator""_us(unsigned long long n) { return n * 1'000'000; }
constexpr ticks operator""_ms(unsigned long long n) { return n * 1'000'000'000; }
constexpr ticks operator""_s(unsigned long long n) { return n * ticks_per_second; }
}  // namespace time_literals

/// A span of time as a parameter ("100 ns").
struct duration {
    ticks value = 0;
    constexpr operator ticks() const { return value; }
};

/// A clock frequency as a parameter ("1.5 GHz"), in hertz.
struct frequency {
    std::uint64_t hertz = 0;
    constexpr operator std::uint64_t() const { return hertz; }
};

/// An amount of storage as a parameter ("4 MiB"), in bytes.
struct byte_size {
    std::uint64_t bytes = 0;
    constexpr operator std::uint64_t() const { return bytes; }
};

/// A data rate as a parameter ("16 GB/s"), in bytes a second.
struct bandwidth {
    std::uint64_t bytes_per_second = 0;
    constexpr operator std::uint64_t() const { return bytes_per_second; }
};

/// A number of cycles of the clock domain named beside it ("5000 cycles").
struct cycles {
    std::uint64_t count = 0;
    constexpr operator std::uint64_t() const { return count; }
};

}  // namespace fabricvp
