// SPDX-License-Identifier: Apache-2.0
#include "platform/renamed_statistics.h"

#include <algorithm>
#include <functional>
#include <vector>

#include <fnmatch.h>
#include <systemc>

#include "base/statistics.h"
#include "platform/config/renamed_names.h"

namespace fabricvp {
namespace {

bool is_statistic(const std::string& path) { return !snapshot_statistics(path).empty(); }

bool is_block(const std::string& glob, const std::vector<sc_core::sc_object*>& among) {
    return std::any_of(among.begin(), among.end(), [&](const auto* o) {
        return fnmatch(glob.c_str(), o->name(), 0) == 0 || is_block(glob, o->get_child_objects());
    });
}

std::string renamed(const std::string& name, const std::function<bool(const std::string&)>& exists) {
    return name.empty() || exists(name) ? "" : renamed_path(name, exists);
}

}  // namespace

std::string renamed_statistic(const std::string& path) { return renamed(path, is_statistic); }

std::string renamed_blocks(const std::string& name, std::string (*glob)(const std::string& name)) {
    return renamed(name,
                   [&](const std::string& each) { return is_block(glob(each), sc_core::sc_get_top_level_objects()); });
}

}  // namespace fabricvp
