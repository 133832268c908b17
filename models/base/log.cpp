// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <array>
#include <cstdio>

#include "base/calendar.h"

namespace fabricvp {

namespace {

log_level threshold = log_level::warning;

void to_standard_error(log_level level, const std::string& source, const std::string& message) {
    static constexpr std::array<const char*, 4> names{"error", "warning", "info", "debug"};
    const double seconds = static_cast<double>(calendar::find() ? calendar::find()->now() : 0) / ticks_per_second;
    fmt::print(stderr, "[{:.9f} s] {}: {}: {}\n", seconds, names[static_cast<std::size_t>(level)], source, message);
}

log_sink& sink() {
    static log_sink s = to_standard_error;
    return s;
}

}  // namespace

log_sink set_log_sink(log_sink s) {
    if (!s) s = to_standard_error;
    std::swap(sink(), s);
    return s;
}

void set_log_threshold(log_level threshold_level) { threshold = threshold_level; }

bool log_enabled(log_level level) { return level <= threshold; }

void log_message(log_level level, const std::string& source, const std::string& message) {
    if (log_enabled(level)) sink()(level, source, message);
}

}  // namespace fabricvp
