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

image_set images_of_app(const std::string& name, std::uint64_t size) {
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
    if (size) images.append += fmt::format(" size={}", size);
    return images;
}

}  // namespace fabricvp
