// SPDX-License-Identifier: Apache-2.0
#include "platform/console/line_start.h"

#include <cctype>

namespace fabricvp {

bool starts_line(std::string_view output, std::size_t at) {
    while (at != 0 && output[at - 1] != '\n' && output[at - 1] != '\r') {
        if (at < 3 || std::isalpha(static_cast<unsigned char>(output[at - 1])) == 0) return false;
        const auto bracket = output.find_last_not_of("0123456789;?", at - 2);
        if (bracket == std::string_view::npos || bracket == 0 || output.substr(bracket - 1, 2) != "\x1b[") return false;
        at = bracket - 1;
    }
    return true;
}

}  // namespace fabricvp
