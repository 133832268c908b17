// SPDX-License-Identifier: Apache-2.0
#include "platform/gdb/hex.h"

#include <fmt/format.h>

namespace fabricvp::gdb {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string to_hex(std::string_view bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const char c : bytes) {
        text.push_back(digits[static_cast<std::uint8_t>(c) >> 4]);
        text.push_back(digits[static_cast<std::uint8_t>(c) & 0xf]);
    }
    return text;
}

bool from_hex(std::string_view digits, std::string& bytes) {
    if (digits.size() % 2) return false;
    bytes.clear();
    bytes.reserve(digits.size() / 2);
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        const int high = hex_digit(digits[i]), low = hex_digit(digits[i + 1]);
        if (high < 0 || low < 0) return false;
        bytes.push_back(static_cast<char>(high << 4 | low));
    }
    return true;
}

std::string hex_number(std::uint64_t value) { return fmt::format("{:x}", value); }

std::string hex_little_endian(std::uint64_t value, unsigned size) {
    std::string bytes;
    for (unsigned i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
    return to_hex(bytes);
}

bool parse_little_endian(std::string_view digits, std::uint64_t& value) {
    std::string bytes;
    if (digits.empty() || digits.size() > 16 || !from_hex(digits, bytes)) return false;
    value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
    return true;
}

}  // namespace fabricvp::gdb
