// SPDX-License-Identifier: Apache-2.0
#include "platform/apps.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "abi/apps.h"
#include "platform/common/input_error.h"
#include "platform/common/nearest.h"
#include "platform/machine.h"

namespace fabricvp {

const std::vector<gpu_app>& gpu_apps() {
    static const std::vector<gpu_app> apps = {
#define FABRICVP_BYTES(bytes)                                                      \
    [](double n, [[maybe_unused]] double density, [[maybe_unused]] double columns, \
       [[maybe_unused]] double width) -> double { return bytes; }
#define FABRICVP_ROW(name, size, unit, bytes, help) {#name, size, unit, FABRICVP_BYTES(bytes), help},
        GPU_APPS(FABRICVP_ROW)
#undef FABRICVP_ROW
#define FABRICVP_ROW(name, size, unit, bytes, help) {#name, size, unit, FABRICVP_BYTES(bytes), help, true},
            GPU_DISTRIBUTED_APPS(FABRICVP_ROW)
#undef FABRICVP_ROW
#undef FABRICVP_BYTES
    };
    return apps;
}

const std::vector<gpu_app_option>& gpu_app_options() {
    static const std::vector<gpu_app_option> options = {
#define FABRICVP_ROW(app, key, min, max, default_value, help) {#app, #key, min, max, default_value, help},
        GPU_APP_OPTIONS(FABRICVP_ROW) GPU_DISTRIBUTED_APP_OPTIONS(FABRICVP_ROW)
#undef FABRICVP_ROW
    };
    return options;
}

double app_option_value(const std::string& app, const std::string& key, const std::string& line) {
    const auto& all = gpu_app_options();
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const gpu_app_option& o) { return o.app == app && o.key == key; });
    if (known == all.end()) return 0;
    std::istringstream words(line);
    for (std::string word; words >> word;)
        if (word.compare(0, key.size() + 1, key + "=") == 0) return std::strtod(word.c_str() + key.size() + 1, nullptr);
    return known->default_value;
}

double app_bytes(const gpu_app& app, std::uint64_t size, const std::string& line) {
    return app.bytes(static_cast<double>(size), app_option_value(app.name, "density", line),
                     app_option_value(app.name, "columns", line), app_option_value(app.name, "width", line));
}

double gpu_app::footprint() const { return app_bytes(*this, size, {}); }

// As firmware/drivers/gpu/placement.c and grid.c name them.
const std::vector<std::string>& app_placements() {
    static const std::vector<std::string> names = {"contiguous", "interleaved", "lasp", "first_touch",
                                                   "first_touch_recorded"};
    return names;
}

const std::vector<std::string>& app_dispatches() {
    static const std::vector<std::string> names = {"contiguous", "round_robin", "lasp", "fill"};
    return names;
}

namespace {
const std::string program = "firmware:gpu_apps.elf", distributed_program = "firmware:distributed_apps.elf";

const gpu_app& app_named(const std::string& name) {
    const auto& apps = gpu_apps();
    return *std::find_if(apps.begin(), apps.end(), [&](const gpu_app& a) { return a.name == name; });
}

void add_policy(std::string& append, const char* key, const std::string& value, const std::vector<std::string>& known) {
    if (value.empty()) return;
    app_policy(key, value, known);
    append += fmt::format(" {}={}", key, value);
}

/// Digits with or without a point among them; the firmware reads nothing else.
bool is_decimal(const std::string& text) {
    const auto point = text.find('.');
    const auto fraction = point == std::string::npos ? 0 : text.size() - point - 1;
    return text.find_first_not_of("0123456789.") == std::string::npos &&
           text.find_first_of("0123456789") != std::string::npos && std::count(text.begin(), text.end(), '.') <= 1 &&
           fraction <= 9 && text.size() - fraction <= 9;
}

void add_setting(std::string& append, const std::string& app, const std::string& pair) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos) throw input_error(fmt::format("--option {}: must be KEY=VALUE", quoted(pair)));
    const auto key = pair.substr(0, equals), value = pair.substr(equals + 1);
    const auto& all = gpu_app_options();
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const gpu_app_option& o) { return o.app == app && o.key == key; });
    if (known == all.end()) {
        std::vector<std::string> keys;
        for (const auto& o : all)
            if (o.app == app) keys.push_back(o.key);
        throw input_error(fmt::format("--option {}: {} has no such option (allowed: {})", quoted(key), app,
                                      keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", "))));
    }
    if (!is_decimal(value) || std::stod(value) < known->min || std::stod(value) > known->max)
        throw input_error(
            fmt::format("--option {}={}: must be a number from {} to {}", key, value, known->min, known->max));
    append += fmt::format(" {}={}", key, value);
}
}  // namespace

namespace {
std::size_t gpus_of(const platform& machine, std::size_t node) {
    return machine.hardware().params.nodes.at(node).fabric.devices.size();
}

std::string in_gibibytes(double bytes) { return fmt::format("{:.3g} GiB", bytes / (1 << 30)); }

void check_size(platform& machine, std::size_t node, const std::string& name, const app_options& options,
                const std::string& line) {
    const auto& app = app_named(name);
    const auto size = options.size ? options.size : app.size;
    if (size > GPU_APP_MAX)
        throw input_error(fmt::format("--size {}: {} takes at most {} {}", size, name, GPU_APP_MAX, app.unit));
    const auto& params = machine.hardware().params.nodes.at(node);
    const auto room =
        params.devices.gpu_memory(options.gpus ? options.gpus : ~std::size_t{0}, params.host.memory.bytes);
    if (const auto wanted = app_bytes(app, size, line); wanted > room)
        throw input_error(fmt::format("--size {}: {} needs {} of device memory, its GPUs on node{} have {}", size, name,
                                      in_gibibytes(wanted), node, in_gibibytes(room)));
}
}  // namespace

bool is_distributed_app(const std::string& name) {
    const auto& apps = gpu_apps();
    return std::any_of(apps.begin(), apps.end(), [&](const gpu_app& a) { return a.distributed && a.name == name; });
}

std::string app_of(const image_set& images) {
    if (images.firmware != program && images.firmware != distributed_program) return {};
    std::istringstream words(images.append);
    for (std::string word; words >> word;)
        if (word.compare(0, 4, "app=") == 0) return word.substr(4);
    return {};
}

void check_images(std::size_t node, const image_set& images) {
    static const std::set<std::string> with_input = {"app=spmv", "app=kernel"};
    const auto own = images.firmware.compare(0, 9, "firmware:") == 0;  // bare-metal programs of this project
    const auto reject = [&](const char* what, const std::string& file, const std::string& why) {
        throw input_error(fmt::format("{} {} has no effect: {}", what, quoted(file), why));
    };
    if (own && !images.kernel.empty())
        reject("kernel", images.kernel, fmt::format("{} of node{} starts none", images.firmware, node));
    if (images.initrd.empty() || !images.kernel.empty()) return;
    if (images.firmware.empty())
        reject("initrd", images.initrd, fmt::format("node{} has neither firmware nor a kernel", node));
    if (!own) return;
    std::istringstream words(images.append);
    const auto reads = std::any_of(std::istream_iterator<std::string>(words), {},
                                   [](const std::string& word) { return with_input.count(word) != 0; });
    if (images.firmware != program || !reads)
        reject("initrd", images.initrd, fmt::format("{} of node{} reads none", images.firmware, node));
}

std::string append_with_seed(const image_set& images, std::uint64_t seed) {
    if (seed == 1 || app_of(images).empty()) return images.append;
    std::string text;
    std::istringstream words(images.append);
    for (std::string word; words >> word;) {
        text += (text.empty() ? "" : " ") + word;
        if (word.compare(0, 4, "app=") == 0) text += fmt::format(" seed={}", seed);
    }
    return text;
}

image_set images_of_app(const std::string& name, const app_options& options) {
    const auto& apps = gpu_apps();
    if (std::none_of(apps.begin(), apps.end(), [&](const gpu_app& a) { return a.name == name; })) {
        std::vector<std::string> names;
        for (const auto& a : apps) names.push_back(a.name);
        const auto hint = nearest_name(name, names);
        throw input_error(fmt::format("--app {}: there is no such application{} (applications: {})", quoted(name),
                                      hint.empty() ? "" : fmt::format(", did you mean '{}'?", hint),
                                      fmt::join(names, ", ")));
    }
    if (!options.input.empty()) {
        if (name != "spmv")
            throw input_error(
                fmt::format("--initrd {} has no effect: {} makes its own input (spmv reads a Matrix Market file)",
                            quoted(options.input), name));
        if (options.size)
            throw input_error(fmt::format("--size {} has no effect: {} says how large the matrix is", options.size,
                                          quoted(options.input)));
    }
    const bool distributed = is_distributed_app(name);
    for (const auto& [option, given] : {std::pair{"gpus", options.gpus != 0},
                                        {"placement", !options.placement.empty()},
                                        {"dispatch", !options.dispatch.empty()}})
        if (distributed && given)
            throw input_error(
                fmt::format("--{} has no effect: {} runs on all GPUs, each with its own part", option, name));
    image_set images;
    images.firmware = distributed ? distributed_program : program;
    images.initrd = options.input;
    images.append = "app=" + name;
    if (options.size) images.append += fmt::format(" size={}", options.size);
    if (options.gpus) images.append += fmt::format(" gpus={}", options.gpus);
    add_policy(images.append, "placement", options.placement, app_placements());
    add_policy(images.append, "dispatch", options.dispatch, app_dispatches());
    std::istringstream pairs(options.settings);
    for (std::string pair; std::getline(pairs, pair, ',');) add_setting(images.append, name, pair);
    return images;
}

std::size_t app_policy(const char* key, const std::string& text, const std::vector<std::string>& known) {
    if (text == "first_touch_settled") throw input_error(fmt::format("--{} {} is now first_touch_recorded", key, text));
    const auto found = std::find(known.begin(), known.end(), text);
    if (found == known.end())
        throw input_error(
            fmt::format("--{} {}: there is no such policy (allowed: {})", key, quoted(text), fmt::join(known, ", ")));
    return static_cast<std::size_t>(found - known.begin());
}

void require_gpus(const platform& machine, std::size_t node, const std::string& what, std::uint64_t asked) {
    const auto there = gpus_of(machine, node);
    if (there == 0) throw input_error(fmt::format("{}: node{} has no GPU", what, node));
    if (there > max_app_gpus)
        throw input_error(fmt::format("{}: node{} has {} GPUs: applications run on nodes with at most {}", what, node,
                                      there, max_app_gpus));
    if (asked > there)
        throw input_error(fmt::format("--gpus {}: node{} has {} GPU{}", asked, node, there, there == 1 ? "" : "s"));
}

void load_app(platform& machine, std::size_t node, const std::string& name, const app_options& options) {
    const auto images = images_of_app(name, options);
    if (is_distributed_app(name)) {
        if (node)
            throw input_error(fmt::format("--app node{}={}: it runs on all nodes; give --app {}", node, name, name));
        return load_distributed_app(machine, name, options);
    }
    require_gpus(machine, node, "--app " + name, options.gpus);
    if (options.input.empty()) check_size(machine, node, name, options, images.append);
    machine.load_images(node, images);
}

void load_distributed_app(platform& machine, const std::string& name, const app_options& options) {
    const auto images = images_of_app(name, options);
    const auto& params = machine.hardware().params;
    const auto nodes = machine.node_count();
    const auto& app = app_named(name);
    const auto size = options.size ? options.size : app.size;
    if (size > GPU_APP_MAX)
        throw input_error(fmt::format("--size {}: {} takes at most {} {}", size, name, GPU_APP_MAX, app.unit));
    const auto wanted = app_bytes(app, size, images.append);
    for (std::size_t i = 0; i < nodes; ++i) {
        const auto& node = params.nodes.at(i);
        require_gpus(machine, i, "--app " + name);
        const auto gpus = gpus_of(machine, i);
        if (nodes > 1 && node.devices.hcas.empty())
            throw input_error(fmt::format("--app {}: node{} has no RDMA adapter to reach the other nodes", name, i));
        const auto room = node.devices.gpu_memory(~std::size_t{0}, node.host.memory.bytes) / static_cast<double>(gpus);
        if (wanted > room)
            throw input_error(fmt::format("--size {}: {} needs {} of each GPU, those of node{} have {}", size, name,
                                          in_gibibytes(wanted), i, in_gibibytes(room)));
    }
    for (std::size_t i = 0; i < nodes; ++i) machine.load_images(i, images);
}

}  // namespace fabricvp
