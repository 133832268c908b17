// SPDX-License-Identifier: Apache-2.0
#include "platform/apps.h"

#include <algorithm>

#include <fmt/format.h>

#include "abi/apps.h"
#include "platform/config/config_tree.h"
#include "platform/config/nearest.h"

namespace fabricvp {

const std::vector<gpu_app>& gpu_apps() {
    static const std::vector<gpu_app> apps = {
#define FABRICVP_ROW(name, size, unit, bytes, help) {#name, size, unit, [](double n) { return bytes; }(size), help},
        GPU_APPS(FABRICVP_ROW)
#undef FABRICVP_ROW
    };
    return apps;
}

// As firmware/host/gpu/placement.c and grid.c name them.
const std::vector<std::string>& app_placements() {
    static const std::vector<std::string> names = {"contiguous", "interleaved", "lasp", "first_touch"};
    return names;
}

const std::vector<std::string>& app_dispatches() {
    static const std::vector<std::string> names = {"contiguous", "round_robin", "lasp"};
    return names;
}

namespace {
void add_policy(std::string& append, const char* key, const std::string& value, const std::vector<std::string>& known) {
    if (value.empty()) return;
    if (std::find(known.begin(), known.end(), value) == known.end())
        throw input_error(fmt::format("--{} {}: there is no such policy (allowed: {})", key, quoted(value), fmt::join(known, ", ")));
    append += fmt::format(" {}={}", key, value);
}
}  // namespace

image_set images_of_app(const std::string& name, const app_options& options) {
    const auto& apps = gpu_apps();
    if (std::none_of(apps.begin(), apps.end(), [&](const gpu_app& a) { return a.name == name; })) {
        std::vector<std::string> names;
        for (const auto& a : apps) names.push_back(a.name);
        const auto hint = nearest_name(name, names);
        throw input_error(fmt::format("--app {}: there is no such application{} (applications: {})", quoted(name),
                                      hint.empty() ? "" : fmt::format(", did you mean '{}'?", hint), fmt::join(names, ", ")));
    }
    image_set images;
    images.firmware = "firmware:gpu_apps.elf";
    images.app = name;
    images.append = "app=" + name;
    if (options.size) images.append += fmt::format(" size={}", options.size);
    if (options.gpus) images.append += fmt::format(" gpus={}", options.gpus);
    add_policy(images.append, "placement", options.placement, app_placements());
    add_policy(images.append, "dispatch", options.dispatch, app_dispatches());
    return images;
}

}  // namespace fabricvp
