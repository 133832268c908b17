// SPDX-License-Identifier: Apache-2.0
#include "platform/renamed_statistics.h"

#include <algorithm>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <fnmatch.h>
#include <systemc>

#include "base/statistics.h"
#include "platform/common/unmatched.h"
#include "platform/config/renamed_names.h"

namespace fabricvp {
namespace {

bool is_statistic(const std::string& path) { return !snapshot_statistics(path).empty(); }

bool is_block(const std::string& glob, const std::vector<sc_core::sc_object*>& among) {
    return std::any_of(among.begin(), among.end(), [&](const auto* o) {
        return fnmatch(glob.c_str(), o->name(), 0) == 0 || is_block(glob, o->get_child_objects());
    });
}

void add_names(std::vector<std::string>& to, const std::vector<sc_core::sc_object*>& among) {
    for (const auto* o : among) {
        to.emplace_back(o->name());
        add_names(to, o->get_child_objects());
    }
}

/// \param what has such names, with an article ("no statistic starts with")
template <class Names>
std::string missing(const std::string& name, const char* what, const std::function<bool(const std::string&)>& exists,
                    Names names) {
    if (name.empty() || exists(name)) return {};
    if (const auto present = renamed_path(name, exists); !present.empty()) return now_called(name, present);
    return fmt::format("{} '{}': {}", what, name, why_unmatched(name, names()));
}

}  // namespace

std::string missing_statistic(const std::string& path) {
    return missing(path, "no statistic starts with", is_statistic, [] {
        std::vector<std::string> all;
        for (const auto* s : all_statistics()) all.push_back(s->path());
        return all;
    });
}

std::string missing_blocks(const std::string& name, std::string (*glob)(const std::string& name)) {
    const auto exists = [&](const std::string& each) {
        return is_block(glob(each), sc_core::sc_get_top_level_objects());
    };
    return missing(name, "no block has a name such as", exists, [] {
        std::vector<std::string> all;
        add_names(all, sc_core::sc_get_top_level_objects());
        return all;
    });
}

}  // namespace fabricvp
