// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fabricvp::gdb {

/// Value of a hexadecimal digit, or -1.
int hex_digit(char c);
/// Two lower-case digits a byte.
std::string to_hex(std::string_view bytes);
/// \returns false, with `bytes` unspecified, unless `digits` is an even number of hexadecimal digits.
bool from_hex(std::string_view digits, std::string& bytes);
/// A number without leading zeros.
std::string hex_number(std::uint64_t value);
/// `size` (1 to 8) bytes of a register in target order, least significant first.
std::string hex_little_endian(std::uint64_t value, unsigned size);
/// \returns false unless `digits` is 1 to 8 bytes.
bool parse_little_endian(std::string_view digits, std::uint64_t& value);

}  // namespace fabricvp::gdb
