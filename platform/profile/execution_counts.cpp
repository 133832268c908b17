// SPDX-License-Identifier: Apache-2.0
#include "platform/profile/execution_counts.h"

#include <algorithm>

#include <fmt/format.h>

namespace fabricvp {
namespace {

struct source {
    std::map<unsigned, std::uint64_t> lines;
    std::map<std::pair<unsigned, std::string>, std::uint64_t> functions;  // by first line
};

}  // namespace

execution_table execution_counts::table() const {
    execution_table all;
    for (const auto& [path, program] : m_counts) all[path] = program.second;
    return all;
}

std::string execution_counts::tracefile() const {
    std::map<std::string, source> sources;
    for (const auto& [path, program] : m_counts) {
        const auto& [file, counts] = program;
        std::map<std::pair<std::string_view, unsigned>, std::uint64_t> lines;
        for (const auto& range : file->lines()) {
            auto& most = lines[{range.file, range.line}];
            for (auto at = counts.lower_bound(range.begin); at != counts.end() && at->first < range.end; ++at)
                most = std::max(most, at->second);
        }
        for (const auto& [where, times] : lines) sources[std::string(where.first)].lines[where.second] += times;
        for (const auto& f : file->functions()) {
            const auto at = counts.find(f.address);
            sources[std::string(f.file)].functions[{f.line, f.name}] += at == counts.end() ? 0 : at->second;
        }
    }
    std::string text;
    for (const auto& [path, s] : sources) {
        if (s.lines.empty()) continue;
        text += fmt::format("TN:\nSF:{}\n", path);
        std::size_t hit = 0;
        for (const auto& [f, times] : s.functions) text += fmt::format("FN:{},{}\n", f.first, f.second);
        for (const auto& [f, times] : s.functions) {
            text += fmt::format("FNDA:{},{}\n", times, f.second);
            hit += times != 0;
        }
        text += fmt::format("FNF:{}\nFNH:{}\n", s.functions.size(), hit);
        hit = 0;
        for (const auto& [line, times] : s.lines) {
            text += fmt::format("DA:{},{}\n", line, times);
            hit += times != 0;
        }
        text += fmt::format("LF:{}\nLH:{}\nend_of_record\n", s.lines.size(), hit);
    }
    return text;
}

}  // namespace fabricvp
