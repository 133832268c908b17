// SPDX-License-Identifier: Apache-2.0
#include "base/bus_log.h"

#include <algorithm>
#include <cstdio>

#include <fnmatch.h>

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

channel::channel(const char* kind, const char* unit) : m_kind(kind), m_unit(unit) { channels().push_back(this); }

bool channel::wants(const sc_core::sc_object& source, const subject& about) {
    if (about.queue) m_seen.insert(*about.queue);
    return (!m_filter.queue || m_filter.queue == about.queue) && (!m_filter.errors || about.error) &&
           (m_filter.block == "*" || fnmatch(m_filter.block.c_str(), source.name(), 0) == 0);
}

void channel::write(const sc_core::sc_object& source, const std::string& text) {
    ++m_lines;
    present()(source.name(), text);
}

sink set_sink(sink s) {
    if (!s) s = to_standard_error;
    std::swap(present(), s);
    return s;
}

std::vector<std::string> kinds() {
    std::vector<std::string> names;
    for (const auto* c : channels()) names.emplace_back(c->kind());
    std::sort(names.begin(), names.end());
    return names;
}

const channel* find(std::string_view kind) {
    for (const auto* c : channels())
        if (c->kind() == kind) return c;
    return nullptr;
}

bool show(std::string_view kind, bool on, filter wanted) {
    bool found = false;
    for (auto* c : channels())
        if (c->m_kind == kind) {
            c->m_open = on;
            c->m_filter = std::move(wanted);
            c->m_lines = 0;
            c->m_seen.clear();
            found = true;
        }
    return found;
}

}  // namespace fabricvp::bus_log
