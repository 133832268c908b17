// SPDX-License-Identifier: Apache-2.0
// Boots U-Boot on an installed FabricVP for as long as it takes to see the firmware's banner.
#include <cstdio>
#include <string>

#include <systemc>

#include "base/time.h"
#include "platform/console/console.h"
#include "platform/platform.h"

int sc_main(int, char*[]) {
    auto platform = fabricvp::platform::from_config(CONFIGS "/uboot.yaml");
    std::string line;
    bool seen = false;
    platform->serial(0).on_output([&](char c) {
        line = c == '\n' ? std::string() : line + c;
        if (!seen && line.find("OpenSBI v") != std::string::npos) {
            seen = true;
            platform->stop_with_event("banner");
        }
    });
    const auto result = platform->run_until(fabricvp::ticks_per_second);
    std::printf("%s after %.6f s\n", seen ? "banner" : "no banner",
                static_cast<double>(platform->now()) / fabricvp::ticks_per_second);
    return seen && result.outcome == fabricvp::run_outcome::event ? 0 : 1;
}
