// SPDX-License-Identifier: Apache-2.0
// Prompts stand at the start of a line: `=> ` is none in `==> `.
#pragma once

#include <cstddef>
#include <string_view>

namespace fabricvp {

/// Whether a line starts at a place of a console's output. Escape sequences of terminals before it, such as colours, do
/// not count.
bool starts_line(std::string_view output, std::size_t at);

}  // namespace fabricvp
