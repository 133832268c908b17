// SPDX-License-Identifier: Apache-2.0
#include "platform/console/console_backend.h"

#include <algorithm>

#include <fmt/format.h>

#include "platform/common/input_error.h"
#include "platform/console/file_console.h"
#include "platform/console/stdio_console.h"
#include "platform/console/tcp_console.h"

namespace fabricvp {
namespace {

std::uint16_t parse_port(const std::string& text) {
    const bool digits = !text.empty() && text.size() <= 5 &&
                        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    const auto port = digits ? std::stoul(text) : 65536;
    if (port > 65535)
        throw input_error(fmt::format("console tcp:{}: a port is a number from 0 to 65535", quoted(text)));
    return static_cast<std::uint16_t>(port);
}

bool starts_with(const std::string& text, const std::string& prefix) {
    return text.compare(0, prefix.size(), prefix) == 0;
}

}  // namespace

std::unique_ptr<console_backend> make_console_backend(const std::string& where, const std::string& so_far,
                                                      const console_options& options) {
    std::unique_ptr<console_backend> backend;
    if (where == "none") return nullptr;
    if (where == "stdio") {
        backend = std::make_unique<stdio_console>(options.interrupt_key);
    } else if (starts_with(where, "file:") && where.size() > 5) {
        backend = std::make_unique<file_console>(where.substr(5), options.max_file_bytes);
    } else if (starts_with(where, "tcp:")) {
        return std::make_unique<tcp_console>(parse_port(where.substr(4)), so_far);
    } else {
        throw input_error(fmt::format("console {}: must be stdio, file:PATH, tcp:PORT or none", quoted(where)));
    }
    backend->write(so_far);
    return backend;
}

}  // namespace fabricvp
