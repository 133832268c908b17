// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "platform/apps.h"
#include "platform/cli/command.h"
#include "platform/config/config_tree.h"

namespace fabricvp::cli {

options::options_description override_options() {
    options::options_description o("configuration");
    o.add_options()("set", options::value<arguments>()->value_name("KEY=VALUE"),
                    "override a parameter, e.g. node.host.harts=4 (all nodes) or node0.host.memory=1GiB; repeatable");
    return o;
}

options::options_description image_options() {
    options::options_description o("images of node0 (instead of those in the configuration)");
    o.add_options()("firmware", options::value<std::string>()->value_name("FILE"), "ELF or raw binary the harts start with")(
        "kernel", options::value<std::string>()->value_name("FILE"), "ELF, or raw image the firmware jumps to")(
        "initrd", options::value<std::string>()->value_name("FILE"), "initial RAM disk")(
        "append", options::value<std::string>()->value_name("TEXT"), "kernel command line")(
        "tohost", "watch the program's `tohost` word (riscv-tests)")(
        "app", options::value<std::string>()->value_name("NAME"), "run this GPU application (`fabricvp apps` lists them)")(
        "size", options::value<std::string>()->value_name("N"), "its problem size");
    return o;
}

std::string text_option(const options::variables_map& given, const char* name) {
    return given.count(name) ? given[name].as<std::string>() : std::string();
}

std::unique_ptr<platform> make_platform(const options::variables_map& given) {
    platform::overrides set;
    if (given.count("set"))
        for (const auto& pair : given["set"].as<arguments>()) {
            const auto equals = pair.find('=');
            if (equals == std::string::npos) throw input_error(fmt::format("--set {}: must be KEY=VALUE", quoted(pair)));
            set.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
        }
    return platform::from_config(given["CONFIG"].as<std::string>(), set);
}

image_set images_of(const options::variables_map& given) {
    image_set images;
    if (given.count("size") && !given.count("app")) throw input_error("--size needs --app");
    if (given.count("app")) {
        if (given.count("firmware") || given.count("append")) throw input_error("--app goes without --firmware and --append");
        const auto size = text_option(given, "size");
        const bool digits = size.size() < 13 && size.find_first_not_of("0123456789") == std::string::npos;
        if (given.count("size") && (!digits || size.empty() || std::stoull(size) == 0))
            throw input_error(fmt::format("--size {}: must be a number from 1 to 999999999999", quoted(size)));
        return images_of_app(text_option(given, "app"), size.empty() ? 0 : std::stoull(size));
    }
    images.firmware = text_option(given, "firmware");
    images.kernel = text_option(given, "kernel");
    images.initrd = text_option(given, "initrd");
    images.append = text_option(given, "append");
    images.tohost = given.count("tohost") > 0;
    return images;
}

}  // namespace fabricvp::cli
