// SPDX-License-Identifier: Apache-2.0
// What ends in one line for the user, and exit status 2.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace fabricvp {

/// Bad user input. what() is the one line to print; the process exits with status 2.
class input_error : public std::runtime_error {
public:
    /// Control characters and bytes that are not UTF-8 are shown as `\xNN`, so the message stays one printable line.
    explicit input_error(const std::string& message);
};

/// Length of the well-formed UTF-8 sequence at `at`, 0 if there is none.
std::size_t utf8_length(const std::string& text, std::size_t at);

/// Text for a message: one line, printable, not too long, in quotes.
std::string quoted(const std::string& text);

}  // namespace fabricvp
