// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

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
        "tohost", "watch the program's `tohost` word (riscv-tests)");
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
    images.firmware = text_option(given, "firmware");
    images.kernel = text_option(given, "kernel");
    images.initrd = text_option(given, "initrd");
    images.append = text_option(given, "append");
    images.tohost = given.count("tohost") > 0;
    return images;
}

}  // namespace fabricvp::cli
