// SPDX-License-Identifier: Apache-2.0
#include "platform/trace_recording.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/trace_format.h"
#include "platform/common/input_error.h"
#include "platform/platform.h"
#include "platform/renamed_statistics.h"

namespace fabricvp {
namespace {

std::string temporary_path(int& file) {
    std::error_code ignored;
    auto name = (std::filesystem::temp_directory_path(ignored) / "fabricvp-trace-XXXXXX").string();
    file = mkostemp(name.data(), O_CLOEXEC);
    if (file < 0) throw input_error(name + ": cannot make a temporary file for the trace");
    return name;
}

/// Plain text means names that contain it.
std::string glob_of(const std::string& part) {
    return part.find_first_of("*?[") == std::string::npos ? "*" + part + "*" : part;
}

std::vector<std::string> parts_of(const std::string& filter) {
    std::vector<std::string> parts{""};
    for (const char c : filter) {
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

/// With commas between several.
std::string globs_of(const std::string& filter) {
    std::string globs;
    for (const auto& part : parts_of(filter)) globs += (globs.empty() ? "" : ",") + glob_of(part);
    return globs;
}

}  // namespace

void trace_recording::check_names(const std::string& filter, const std::function<bool(const std::string&)>& is_known) {
    if (filter.empty()) return;
    for (const auto& part : parts_of(filter)) {
        if (part.empty()) throw input_error(fmt::format("trace: the filter '{}' has an empty part", filter));
        if (!is_known(part)) continue;
        if (const auto why = missing_blocks(part, glob_of); !why.empty()) throw input_error("trace: " + why);
    }
}

trace_file parse_trace_file(const std::string& text) {
    if (text == "json") return trace_file::json;
    if (text == "protobuf") return trace_file::protobuf;
    throw input_error(fmt::format("trace: the format '{}' is not known; there are json and protobuf", text));
}

trace_recording::trace_recording(trace::options what, trace_file form, int rank)
    : m_form(form), m_path(what.path.empty() ? temporary_path(m_temporary) : what.path) {
    trace::stop();
    try {
        what.path = m_path;
        what.filter = globs_of(what.filter);
        trace::start(what, form == trace_file::json ? trace::json_format() : trace::perfetto_format(rank));
        m_running = true;
        if (m_temporary >= 0) unlink(m_path.c_str());
        for (const auto* s : all_statistics()) {
            const auto* value = dynamic_cast<const counter*>(s);
            const auto dot = s->path().rfind('.');
            if (!value || dot == std::string::npos) continue;
            if (const auto* owner = sc_core::sc_find_object(s->path().substr(0, dot).c_str()))
                m_tracks.push_back({owner, value, s->path().substr(dot + 1), value->total(), 0});
        }
    } catch (const std::exception& e) {
        if (m_temporary >= 0) unlink(m_path.c_str()), close(m_temporary);
        throw input_error(std::string("trace: ") + e.what());
    }
}

void trace_recording::sample(ticks now) {
    if (!m_running) return;
    const bool recorded = trace::records(now);
    for (auto& t : m_tracks) {
        const auto total = t.value->total();
        const auto growth = total - t.seen;
        t.seen = total;
        if (growth == t.shown) continue;
        if (recorded) t.shown = growth;  // else a steady growth would be no change where the window begins
        trace::counter(*t.owner, t.name, now, static_cast<double>(growth));
    }
}

trace_recording::~trace_recording() {
    stop();
    if (m_temporary >= 0) close(m_temporary);
}

trace::summary trace_recording::stop() {
    if (!m_running) return {};
    m_running = false;
    return m_summary = trace::stop();
}

std::string trace_recording::finished() {
    stop();
    std::error_code ignored;
    const auto path = m_temporary >= 0 ? fmt::format("/proc/self/fd/{}", m_temporary) : m_path;
    if (const auto size = std::filesystem::file_size(path, ignored); size < m_summary.bytes)
        throw input_error(
            fmt::format("trace: only {} of {} bytes could be written into {}", size, m_summary.bytes,
                        m_temporary >= 0 ? std::filesystem::temp_directory_path(ignored).string() : m_path));
    return path;
}

}  // namespace fabricvp
