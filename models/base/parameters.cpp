// SPDX-License-Identifier: Apache-2.0
#include "base/parameters.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/quantity.h"

namespace fabricvp {

namespace {

std::string_view trim(std::string_view s) {
    const auto first = s.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return s.substr(first, s.find_last_not_of(" \t") - first + 1);
}

std::uint64_t read_integer(std::string_view text) {
    const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const std::string_view digits = hex ? text.substr(2) : text;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
    if (error == std::errc::result_out_of_range) throw std::invalid_argument(fmt::format("'{}' is too large", text));
    if (error != std::errc{} || end != digits.data() + digits.size())
        throw std::invalid_argument(fmt::format("'{}' is not a whole number", text));
    return value;
}

double read_real(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        throw std::invalid_argument(fmt::format("'{}' is not a number", text));
    return value;
}

bool needs_quotes(const std::string& item) {
    return item.empty() || item.find_first_of(",[]\"\\") != std::string::npos || trim(item).size() != item.size();
}

std::string quoted(const std::string& item) {
    if (!needs_quotes(item)) return item;
    std::string s = "\"";
    for (const char c : item) {
        if (c == '"' || c == '\\') s += '\\';
        s += c;
    }
    return s + '"';
}

/// Items between commas; brackets around the whole are optional, quotes protect commas and blanks.
std::vector<std::string> split_list(std::string_view text) {
    text = trim(text);
    if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = trim(text.substr(1, text.size() - 2));
    std::vector<std::string> items;
    while (!text.empty()) {
        std::string item;
        std::size_t i = 0;
        if (text[0] == '"') {
            for (i = 1; i < text.size() && text[i] != '"'; ++i) {
                if (text[i] == '\\' && i + 1 < text.size()) ++i;
                item += text[i];
            }
            if (i == text.size()) throw std::invalid_argument("a quoted item has no closing quote");
            const auto comma = text.find_first_not_of(" \t", i + 1);
            if (comma != std::string_view::npos && text[comma] != ',')
                throw std::invalid_argument("items of a list are separated by commas");
            i = comma == std::string_view::npos ? text.size() : comma;
        } else {
            i = std::min(text.find(','), text.size());
            item = trim(text.substr(0, i));
        }
        items.push_back(std::move(item));
        const bool more = i < text.size();
        text = more ? trim(text.substr(i + 1)) : std::string_view{};
        if (more && text.empty()) items.emplace_back();
    }
    return items;
}

std::uint64_t* quantity(const parameter::reference& value) {
    struct {
        std::uint64_t* operator()(duration* v) { return &v->value; }
        std::uint64_t* operator()(frequency* v) { return &v->hertz; }
        std::uint64_t* operator()(byte_size* v) { return &v->bytes; }
        std::uint64_t* operator()(bandwidth* v) { return &v->bytes_per_second; }
        std::uint64_t* operator()(cycles* v) { return &v->count; }
        std::uint64_t* operator()(std::uint64_t* v) { return v; }
        std::uint64_t* operator()(void*) { return nullptr; }
    } get;
    return std::visit([&](auto* v) { return get(v); }, value);
}

void check_range(const parameter& p, double value, std::string_view text) {
    if (value < p.minimum || value > p.maximum)
        throw std::invalid_argument(fmt::format("{} is out of range: give {}", text, p.allowed()));
}

}  // namespace

std::string parameter::text() const {
    switch (kind) {
        case parameter_kind::boolean: return *std::get<bool*>(value) ? "true" : "false";
        case parameter_kind::integer: return std::to_string(*std::get<std::uint64_t*>(value));
        case parameter_kind::real: return fmt::format("{}", *std::get<double*>(value));
        case parameter_kind::text:
        case parameter_kind::choice: return *std::get<std::string*>(value);
        case parameter_kind::text_list: {
            std::string s;
            for (const auto& item : *std::get<std::vector<std::string>*>(value))
                s += (s.empty() ? "" : ", ") + quoted(item);
            return '[' + s + ']';
        }
        default: return quantity_text(kind, *quantity(value));
    }
}

std::string parameter::text_of(double base_units) const {
    if (!has_unit(kind)) return fmt::format("{}", base_units);
    constexpr double max_value = 18'446'744'073'709'549'568.0;  // largest double below 2^64
    return quantity_text(kind, static_cast<std::uint64_t>(std::clamp(base_units, 0.0, max_value)));
}

void parameter::parse(std::string_view given) {
    const std::string_view text = trim(given);
    switch (kind) {
        case parameter_kind::boolean:
            if (text != "true" && text != "false")
                throw std::invalid_argument(fmt::format("'{}' is not {}", text, allowed()));
            *std::get<bool*>(value) = text == "true";
            return;
        case parameter_kind::integer: {
            const std::uint64_t n = read_integer(text);
            check_range(*this, static_cast<double>(n), text);
            *std::get<std::uint64_t*>(value) = n;
            return;
        }
        case parameter_kind::real: {
            const double x = read_real(text);
            check_range(*this, x, text);
            *std::get<double*>(value) = x;
            return;
        }
        case parameter_kind::text: *std::get<std::string*>(value) = given; return;
        case parameter_kind::choice:
            if (std::find(choices.begin(), choices.end(), text) == choices.end())
                throw std::invalid_argument(fmt::format("'{}' is not {}", text, allowed()));
            *std::get<std::string*>(value) = text;
            return;
        case parameter_kind::text_list: parse_list(split_list(text)); return;
        default: {
            const std::uint64_t n = parse_quantity(kind, text);
            check_range(*this, static_cast<double>(n), text);
            *quantity(value) = n;
        }
    }
}

void parameter::parse_list(const std::vector<std::string>& items) {
    auto* const* list = std::get_if<std::vector<std::string>*>(&value);
    if (!list) throw std::invalid_argument("a list is given where one value is needed: give " + allowed());
    **list = items;
}

std::string parameter::allowed() const {
    switch (kind) {
        case parameter_kind::boolean: return "true or false";
        case parameter_kind::text: return "a text";
        case parameter_kind::text_list: return "a list of texts";
        case parameter_kind::choice: {
            std::string s;
            for (const auto& c : choices) s += (s.empty() ? "one of " : ", ") + c;
            return s;
        }
        default: break;
    }
    const bool low = std::isfinite(minimum), high = std::isfinite(maximum);
    if (low && high) return fmt::format("{} … {}", text_of(minimum), text_of(maximum));
    if (low) return "at least " + text_of(minimum);
    if (high) return "at most " + text_of(maximum);
    if (kind == parameter_kind::integer) return "a whole number";
    if (kind == parameter_kind::real) return "a number";
    return quantity_help(kind);
}

std::optional<double> parameter::number() const {
    if (const auto* real = std::get_if<double*>(&value)) return **real;
    if (const auto* n = quantity(value)) return static_cast<double>(*n);
    return std::nullopt;
}

}  // namespace fabricvp
