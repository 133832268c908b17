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

/// Images that run an application on a node; `size` 0 means its default. \throws input_error for an unknown name
image_set images_of_app(const std::string& name, std::uint64_t size);

}  // namespace fabricvp
