// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "platform/apps.h"
#include "platform/cli/command.h"
#include "platform/config/config_tree.h"

namespace fabricvp::cli {

options::options_description override_options() {
    options::options_description o("configuration");
    o.add_options()("set", options::value<arguments>()->value_name("KEY=VALUE"),
                    "override a parameter, e.g. node.host.harts=4 (all nodes), node0.host.memory=1GiB or node.gpus.*.compute_units=8 (all of a list); repeatable");
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
        "size", options::value<std::string>()->value_name("N"), "its problem size")(
        "gpus", options::value<std::string>()->value_name("N"), "it uses the first N GPUs (default: all)")(
        "placement", options::value<std::string>()->value_name("POLICY"),
        "where its pages go: contiguous (default), interleaved, lasp or first_touch")(
        "dispatch", options::value<std::string>()->value_name("POLICY"),
        "where its work-groups run: contiguous (default), round_robin or lasp");
    return o;
}

std::string text_option(const options::variables_map& given, const char* name) {
    return given.count(name) ? given[name].as<std::string>() : std::string();
}

namespace {
/// 0 if the option is absent.
std::uint64_t count_option(const options::variables_map& given, const char* name, std::uint64_t most) {
    if (!given.count(name)) return 0;
    const auto text = text_option(given, name);
    const bool digits = !text.empty() && text.size() < 13 && text.find_first_not_of("0123456789") == std::string::npos;
    const auto value = digits ? std::stoull(text) : 0;
    if (value == 0 || value > most) throw input_error(fmt::format("--{} {}: must be a number from 1 to {}", name, quoted(text), most));
    return value;
}
}  // namespace

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
    for (const char* option : {"size", "gpus", "placement", "dispatch"})
        if (given.count(option) && !given.count("app")) throw input_error(fmt::format("--{} needs --app", option));
    if (given.count("app")) {
        if (given.count("firmware") || given.count("append")) throw input_error("--app goes without --firmware and --append");
        return images_of_app(text_option(given, "app"), {count_option(given, "size", 999'999'999'999), count_option(given, "gpus", 16),
                                                         text_option(given, "placement"), text_option(given, "dispatch")});
    }
    images.firmware = text_option(given, "firmware");
    images.kernel = text_option(given, "kernel");
    images.initrd = text_option(given, "initrd");
    images.append = text_option(given, "append");
    images.tohost = given.count("tohost") > 0;
    return images;
}

}  // namespace fabricvp::cli
