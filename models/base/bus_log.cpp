// SPDX-License-Identifier: Apache-2.0
#include "base/bus_log.h"

#include <algorithm>
#include <cstdio>

#include "base/calendar.h"

namespace fabricvp::bus_log {

namespace {

/// All channels, which make themselves known before main().
std::vector<channel*>& channels() {
    static std::vector<channel*> all;
    return all;
}

void to_standard_error(const std::string& source, const std::string& text) {
    const auto now = calendar::find() ? calendar::find()->now() : 0;
    fmt::print(stderr, "[{}.{:012} s] bus: {}: {}\n", now / ticks_per_second, now % ticks_per_second, source, text);
}

sink& present() {
    static sink s = to_standard_error;
    return s;
}

}  // namespace

channel::channel(const char* kind) : m_kind(kind) { channels().push_back(this); }

void channel::write(const sc_core::sc_object& source, const std::string& text) { present()(source.name(), text); }

sink set_sink(sink s) {
    if (!s) s = to_standard_error;
    std::swap(present(), s);
    return s;
}

std::vector<std::string> kinds() {
    std::vector<std::string> names;
    for (const auto* c : channels()) names.emplace_back(c->m_kind);
    std::sort(names.begin(), names.end());
    return names;
}

bool show(std::string_view kind, bool on) {
    bool found = false;
    for (auto* c : channels())
        if (c->m_kind == kind) {
            c->m_open = on;
            found = true;
        }
    return found;
}

}  // namespace fabricvp::bus_log
