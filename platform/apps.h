// SPDX-License-Identifier: Apache-2.0
// The GPU applications that come with the project (firmware/host/apps, listed in abi/apps.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/platform.h"

namespace fabricvp {

struct gpu_app {
    std::string name;
    std::uint64_t size;        ///< default
    std::string unit;          ///< what the size counts
    double footprint;          ///< bytes of device memory at that size
    std::string help;
};

const std::vector<gpu_app>& gpu_apps();

/// How an application runs.
struct app_options {
    std::uint64_t size = 0;  ///< 0: its default
    std::uint64_t gpus = 0;  ///< 0: all that there are
    std::string placement;   ///< of pages: one of app_placements(), empty: contiguous
    std::string dispatch;    ///< of work-groups: one of app_dispatches(), empty: contiguous
};
const std::vector<std::string>& app_placements();
const std::vector<std::string>& app_dispatches();

/// Images that run an application on a node. \throws input_error for an unknown name or policy
image_set images_of_app(const std::string& name, const app_options& options);

}  // namespace fabricvp
