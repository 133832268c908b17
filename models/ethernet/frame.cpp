// SPDX-License-Identifier: Apache-2.0
#include "ethernet/frame.h"

#include <cctype>
#include <stdexcept>

#include <fmt/format.h>

namespace fabricvp::ethernet {

address parse_address(const std::string& text) {
    address a = 0;
    bool good = text.size() == 17;
    for (std::size_t i = 0; good && i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (i % 3 == 2)
            good = c == ':';
        else if ((good = std::isxdigit(c)))
            a = a << 4 | static_cast<unsigned>(std::isdigit(c) ? c - '0' : std::tolower(c) - 'a' + 10);
    }
    if (!good || is_group(a) || a == 0)
        throw std::invalid_argument(fmt::format(
            "'{}' is no address of a station: give six bytes such as 02:00:00:00:00:01, the first one even", text));
    return a;
}

std::string text_of(address a) {
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", a >> 40 & 255, a >> 32 & 255, a >> 24 & 255,
                       a >> 16 & 255, a >> 8 & 255, a & 255);
}

frame_ptr make_frame(const buffer_slice& bytes) {
    static pool<frame> frames;
    auto f = frames.make();
    f->bytes = bytes;
    return f;
}

}  // namespace fabricvp::ethernet
