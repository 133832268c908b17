// SPDX-License-Identifier: Apache-2.0
#include "platform/common/unmatched.h"

#include <map>
#include <set>

#include <fmt/format.h>
#include <fnmatch.h>

#include "platform/common/nearest.h"

namespace fabricvp {
namespace {

using name_set = std::set<std::string>;

std::vector<std::string> elements_of(const std::string& path) {
    std::vector<std::string> parts{""};
    for (const char c : path) {
        if (c == '.')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

/// Paths as a tree: what there is directly below each.
std::map<std::string, name_set> tree_of(const std::vector<std::string>& paths) {
    std::map<std::string, name_set> below;
    for (const auto& path : paths)
        for (std::size_t end = path.size(); end != std::string::npos && end != 0; end = path.rfind('.', end - 1)) {
            const auto dot = path.rfind('.', end - 1);
            const auto parent = dot == std::string::npos ? "" : path.substr(0, dot);
            const auto name = dot == std::string::npos ? path.substr(0, end) : path.substr(dot + 1, end - dot - 1);
            if (!below[parent].insert(name).second) break;
        }
    return below;
}

std::string comma_list(const name_set& all) {
    constexpr std::size_t max = 12;
    std::string text;
    std::size_t n = 0;
    for (const auto& name : all) {
        if (n) text += ", ";
        if (n++ == max) return text + "…";
        text += name;
    }
    return text;
}

std::string without_wildcards(const std::string& part) {
    std::string text;
    for (const char c : part)
        if (c != '*' && c != '?') text += c;
    return text;
}

std::string dotted(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ".")); }

/// With another name in the place of one part.
std::string suggestion(std::vector<std::string> parts, std::size_t at, const name_set& candidates) {
    const auto near = nearest_name(without_wildcards(parts[at]), {candidates.begin(), candidates.end()});
    if (near.empty()) return {};
    parts[at] = near;
    return fmt::format("did you mean '{}'?", dotted(parts));
}

}  // namespace

std::string why_unmatched(const std::string& pattern, const std::vector<std::string>& paths) {
    const auto below = tree_of(paths);
    if (below.empty()) return "there are none";
    const auto parts = elements_of(pattern);
    name_set matched{""};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        name_set next, there;
        for (const auto& parent : matched) {
            const auto found = below.find(parent);
            if (found == below.end()) continue;
            for (const auto& name : found->second) {
                there.insert(name);
                if (fnmatch(parts[i].c_str(), name.c_str(), 0) == 0)
                    next.insert(parent.empty() ? name : parent + "." + name);
            }
        }
        if (!next.empty()) {
            matched = std::move(next);
            continue;
        }
        if (auto text = suggestion(parts, i, there); !text.empty()) return text;
        const auto parent = dotted({parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(i)});
        if (without_wildcards(parent) != parent || parent.empty()) break;
        return there.empty() ? fmt::format("{} has nothing below it", parent)
                             : fmt::format("{} has {}", parent, comma_list(there));
    }
    // It does not begin at the top: the first part that is no part of any name.
    name_set all;
    for (const auto& [parent, children] : below) all.insert(children.begin(), children.end());
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto glob = "*" + parts[i] + "*";
        bool known = false;
        for (const auto& name : all) known = known || fnmatch(glob.c_str(), name.c_str(), 0) == 0;
        if (known) continue;
        if (auto text = suggestion(parts, i, all); !text.empty()) return text;
        break;
    }
    return fmt::format("names begin with {}", comma_list(below.at("")));
}

}  // namespace fabricvp
