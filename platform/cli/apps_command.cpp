// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <fmt/format.h>

#include "platform/apps.h"
#include "platform/cli/command.h"

namespace fabricvp::cli {
namespace {

options::options_description apps_options() { return options::options_description(""); }

int apps(const options::variables_map&) {
    fmt::print("{:<12} {:>12}  {:<14} {:>12}  {}\n", "name", "default size", "counts", "device MiB", "what it does");
    for (const auto& a : gpu_apps())
        fmt::print("{:<12} {:>12}  {:<14} {:>12.1f}  {}\n", a.name, a.size, a.unit, a.footprint() / (1 << 20), a.help);
    fmt::print("\n{:<12} {:<12} {:>12} {:>12} {:>12}  {}\n", "--option of", "key", "min", "max", "default",
               "what it does");
    for (const auto& o : gpu_app_options())
        fmt::print("{:<12} {:<12} {:>12} {:>12} {:>12}  {}\n", o.app, o.key, o.min, o.max, o.default_value, o.help);
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
