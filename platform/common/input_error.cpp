// SPDX-License-Identifier: Apache-2.0
#include "platform/common/input_error.h"

#include <fmt/format.h>

namespace fabricvp {

std::size_t utf8_length(const std::string& text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80) return 0;
    if (length < 3) return length;
    const auto second = static_cast<unsigned char>(text[at + 1]);
    const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
    const bool beyond = (lead == 0xed && second >= 0xa0) || (lead == 0xf4 && second >= 0x90);
    return overlong || beyond ? 0 : length;
}

namespace {

std::string one_line(const std::string& text) {
    constexpr std::size_t max = 2000;
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto length = byte < 0x20 || byte == 0x7f ? 0 : utf8_length(text, i);
        if (out.size() > max) return out + "…";
        out += length ? text.substr(i, length) : fmt::format("\\x{:02x}", byte);
        i += length ? length : 1;
    }
    return out;
}

}  // namespace

input_error::input_error(const std::string& message) : std::runtime_error(one_line(message)) {}

std::string quoted(const std::string& text) {
    constexpr std::size_t max = 60;
    std::string out = "'";
    for (const char c : text.substr(0, max)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte >= 0x7f)
            out += fmt::format("\\x{:02x}", byte);
        else
            out += c;
    }
    return out + (text.size() > max ? "…'" : "'");
}

}  // namespace fabricvp
