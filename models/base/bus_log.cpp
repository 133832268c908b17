// SPDX-License-Identifier: Apache-2.0
#include "base/bus_log.h"

#include <cstdio>

#include "base/calendar.h"

namespace fabricvp::bus_log {

namespace detail {

bool hca = false;

namespace {
void to_standard_error(const std::string& source, const std::string& text) {
    const auto now = calendar::find() ? calendar::find()->now() : 0;
    fmt::print(stderr, "[{}.{:012} s] bus: {}: {}\n", now / ticks_per_second, now % ticks_per_second, source, text);
}
sink& present() {
    static sink s = to_standard_error;
    return s;
}
}  // namespace

void line(const sc_core::sc_object& source, const std::string& text) { present()(source.name(), text); }

}  // namespace detail

sink set_sink(sink s) {
    if (!s) s = detail::to_standard_error;
    std::swap(detail::present(), s);
    return s;
}

std::vector<std::string> kinds() { return {"hca"}; }

bool show(std::string_view kind, bool on) {
    if (kind != "hca") return false;
    detail::hca = on;
    return true;
}

}  // namespace fabricvp::bus_log
