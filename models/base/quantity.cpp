// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.h"

#include <limits>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace fabricvp {

namespace {

struct unit {
    const char* name;
    std::uint64_t scale;        // base units of one
    std::uint64_t divisor = 1;  // 8 for bits
    bool canonical = true;      // used when printing
};

struct family {
    const char* example;
    const char* base_name;  // for "is not a whole number of …"
    std::vector<unit> units;
};

constexpr std::uint64_t k = 1'000, M = 1'000'000, G = 1'000'000'000, T = 1'000'000'000'000;
constexpr std::uint64_t Ki = 1ull << 10, Mi = 1ull << 20, Gi = 1ull << 30, Ti = 1ull << 40;

const family& family_of(parameter_kind kind) {
    static const family time{"a time such as 100 ns",
                             "picoseconds",
                             {{"ps", 1}, {"ns", k}, {"us", M}, {"ms", G}, {"s", T}, {"\u00b5s", M, 1, false}}};
    static const family rate{"a frequency such as 1.5 GHz", "hertz", {{"Hz", 1}, {"kHz", k}, {"MHz", M}, {"GHz", G}}};
    static const family size{
        "a size such as 4 MiB",
        "bytes",
        {{"B", 1}, {"kB", k}, {"MB", M}, {"GB", G}, {"TB", T}, {"KiB", Ki}, {"MiB", Mi}, {"GiB", Gi}, {"TiB", Ti}}};
    static const family speed{"a data rate such as 16 GB/s",
                              "bytes a second",
                              {{"B/s", 1},
                               {"kB/s", k},
                               {"MB/s", M},
                               {"GB/s", G},
                               {"TB/s", T},
                               {"KiB/s", Ki},
                               {"MiB/s", Mi},
                               {"GiB/s", Gi},
                               {"TiB/s", Ti},
                               {"bit/s", 1, 8, false},
                               {"kbit/s", k, 8, false},
                               {"Mbit/s", M, 8, false},
                               {"Gbit/s", G, 8, false},
                               {"Tbit/s", T, 8, false}}};
    static const family count{
        "a number of cycles such as 5000 cycles", "cycles", {{"cycles", 1}, {"cycle", 1, 1, false}}};
    switch (kind) {
        case parameter_kind::duration: return time;
        case parameter_kind::frequency: return rate;
        case parameter_kind::byte_size: return size;
        case parameter_kind::bandwidth: return speed;
        case parameter_kind::cycles: return count;
        default: throw std::logic_error("this kind of parameter has no unit");
    }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view s) {
    const auto first = s.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return s.substr(first, s.find_last_not_of(" \t") - first + 1);
}

constexpr unsigned __int128 max_digits = static_cast<unsigned __int128>(1'000'000'000'000) * 1'000'000'000'000;

/// A decimal number, exactly: digits * 10^exponent.
struct decimal {
    unsigned __int128 digits = 0;
    int exponent = 0;
    std::size_t length = 0;  // characters read; 0: not a number
    bool too_long = false;
};

decimal read_decimal(std::string_view s) {
    decimal d;
    std::size_t i = 0;
    int zeros = 0;  // held back, so that trailing zeros cost no digits
    bool any = false, point = false;
    for (; i < s.size() && (is_digit(s[i]) || (s[i] == '.' && !point)); ++i) {
        if (s[i] == '.') {
            point = true;
            continue;
        }
        any = true;
        if (point) --d.exponent;
        if (s[i] == '0') {
            ++zeros;
            continue;
        }
        for (; zeros >= 0; --zeros) {
            if (d.digits >= max_digits)
                d.too_long = true;
            else
                d.digits = d.digits * 10 + (zeros == 0 ? static_cast<unsigned>(s[i] - '0') : 0u);
        }
        zeros = 0;
    }
    if (!any) return d;
    d.exponent += zeros;
    if (i + 1 < s.size() && (s[i] == 'e' || s[i] == 'E')) {
        std::size_t j = i + 1;
        const bool negative = s[j] == '-';
        if (s[j] == '-' || s[j] == '+') ++j;
        if (j < s.size() && is_digit(s[j])) {
            int e = 0;
            for (; j < s.size() && is_digit(s[j]); ++j) e = e > 1000 ? e : e * 10 + (s[j] - '0');
            d.exponent += negative ? -e : e;
            i = j;
        }
    }
    d.length = i;
    return d;
}

/// value / scale as a decimal fraction; exact for the powers of ten and two in use.
std::string quotient(std::uint64_t value, std::uint64_t scale) {
    std::string s = std::to_string(value / scale);
    std::uint64_t rest = value % scale;
    if (!rest) return s;
    s += '.';
    while (rest) {
        const unsigned __int128 next = static_cast<unsigned __int128>(rest) * 10;
        s += static_cast<char>('0' + static_cast<int>(next / scale));
        rest = static_cast<std::uint64_t>(next % scale);
    }
    return s;
}

}  // namespace

bool has_unit(parameter_kind kind) {
    switch (kind) {
        case parameter_kind::duration:
        case parameter_kind::frequency:
        case parameter_kind::byte_size:
        case parameter_kind::bandwidth:
        case parameter_kind::cycles: return true;
        default: return false;
    }
}

std::string quantity_help(parameter_kind kind) {
    const family& f = family_of(kind);
    std::string units;
    for (const auto& u : f.units) units += (units.empty() ? "" : ", ") + std::string(u.name);
    return fmt::format("{} ({} {})", f.example, f.units.size() > 1 ? "units" : "unit", units);
}

std::uint64_t parse_quantity(parameter_kind kind, std::string_view text) {
    const family& f = family_of(kind);
    text = trim(text);
    const auto fail = [&](const std::string& why) { throw std::invalid_argument(fmt::format("'{}' {}", text, why)); };
    const decimal d = read_decimal(text);
    if (d.length == 0) fail("is not " + quantity_help(kind));
    const std::string_view name = trim(text.substr(d.length));
    if (name.empty()) fail("needs a unit: give " + quantity_help(kind));
    const unit* u = nullptr;
    for (const auto& candidate : f.units)
        if (name == candidate.name) u = &candidate;
    if (!u) fail(fmt::format("has an unknown unit '{}': give {}", name, quantity_help(kind)));
    if (d.too_long) fail("has too many digits");
    if (d.digits == 0) return 0;
    using wide = unsigned __int128;
    constexpr wide max_value = std::numeric_limits<std::uint64_t>::max();
    wide value = d.digits * u->scale;
    int exponent = d.exponent;
    for (; exponent > 0 && value / u->divisor <= max_value; --exponent) value *= 10;
    bool whole = value % u->divisor == 0;
    value /= u->divisor;
    for (; exponent < 0 && whole && value; ++exponent) {
        whole = value % 10 == 0;
        value /= 10;
    }
    if (!whole) fail(fmt::format("is not a whole number of {}", f.base_name));
    if (exponent > 0 || value > max_value) fail("is too large");
    return static_cast<std::uint64_t>(value);
}

std::string quantity_text(parameter_kind kind, std::uint64_t value) {
    const family& f = family_of(kind);
    // The unit that leaves the fewest digits; of equal ones the larger.
    std::string best;
    std::size_t best_digits = std::numeric_limits<std::size_t>::max();
    for (const auto& u : f.units) {
        if (!u.canonical || (u.scale > value && u.scale != 1)) continue;
        const std::string number = quotient(value, u.scale);
        const std::size_t digits = number.size() - (number.find('.') != std::string::npos);
        if (digits > best_digits) continue;
        best = number + ' ' + u.name;
        best_digits = digits;
    }
    return best;
}

}  // namespace fabricvp
