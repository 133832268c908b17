// SPDX-License-Identifier: Apache-2.0
// Warnings that a guest can cause again and again: the first of a place is logged, all are counted.
#pragma once

#include <utility>

#include "base/log.h"
#include "base/statistics.h"

namespace fabricvp {

/// Counts one more, and logs it if it is the first since construction. A guest in a loop thus writes one line, and the
/// statistic, which the line names, tells how often it happened.
template <class... Args>
void count_message(log_level level, counter& count, const sc_core::sc_object& source,
                   fmt::format_string<Args...> format, Args&&... args) {
    if (count.total() == 0 && log_enabled(level))
        log_message(level, source.name(),
                    fmt::format("{}; further ones are only counted ({})",
                                fmt::format(format, std::forward<Args>(args)...), count.path()));
    ++count;
}

template <class... Args>
void count_warning(counter& count, const sc_core::sc_object& source, fmt::format_string<Args...> format,
                   Args&&... args) {
    count_message<Args...>(log_level::warning, count, source, format, std::forward<Args>(args)...);
}

}  // namespace fabricvp
