// SPDX-License-Identifier: Apache-2.0
// Models report state edges and guest mistakes here; the platform decides where lines go. Models never print.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <systemc>

namespace fabricvp {

enum class log_level { error, warning, info, debug };

using log_sink = std::function<void(log_level, const std::string& source, const std::string& message)>;

/// Replaces the sink (default: warnings and errors to standard error with simulated time) and returns the old one.
log_sink set_log_sink(log_sink sink);
void set_log_threshold(log_level threshold_level);
bool log_enabled(log_level level);
void log_message(log_level level, const std::string& source, const std::string& message);

template <class... Args>
void log(log_level level, const sc_core::sc_object& source, fmt::format_string<Args...> format, Args&&... args) {
    if (log_enabled(level)) log_message(level, source.name(), fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace fabricvp
