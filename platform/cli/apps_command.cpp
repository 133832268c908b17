// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <fmt/format.h>

#include "platform/apps.h"
#include "platform/cli/command.h"
#include "platform/common/terminal.h"

namespace fabricvp::cli {
namespace {

options::options_description apps_options() { return options::options_description(""); }

int apps(const options::variables_map&) {
    constexpr const char* app_row = "{:<15} {:>12}  {:<15} {:>10}  ";
    constexpr const char* option_row = "{:<15} {:<9} {:>7} {:>7} {:>8}  ";
    const auto print = [](const std::string& columns, const std::string& help) {
        fmt::print("{}\n", fitted(columns + help, columns.size()));
    };
    print(fmt::format(app_row, "name", "default size", "counts", "device MiB"), "what it does");
    for (const auto& a : gpu_apps())
        print(fmt::format(app_row, a.name, a.size, a.unit, fmt::format("{:.1f}", a.footprint() / (1 << 20))), a.help);
    fmt::print("\n");
    print(fmt::format(option_row, "--option of", "key", "min", "max", "default"), "what it does");
    for (const auto& o : gpu_app_options())
        print(fmt::format(option_row, o.app, o.key, o.min, o.max, o.default_value), o.help);
    return status::ok;
}

}  // namespace

command apps_command() {
    return {"apps",
            "",
            "Lists the GPU applications that `fabricvp run CONFIG --app NAME --size N` runs.",
            "fabricvp apps",
            apps_options,
            {},
            apps};
}

}  // namespace fabricvp::cli
