// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "platform/cli/command.h"
#include "platform/common/input_error.h"
#include "platform/config/config_tree.h"
#include "platform/config/renamed_names.h"
#include "platform/results/results.h"

namespace fabricvp::cli {
namespace {

void flatten(const config_tree& tree, const std::string& path, std::map<std::string, std::string>& to) {
    if (tree.kind == config_tree::shape::scalar) to[path] = tree.text;
    for (const auto& e : tree.entries) flatten(e.value, path.empty() ? e.key : path + "." + e.key, to);
    for (std::size_t i = 0; i < tree.items.size(); ++i) {
        flatten(tree.items[i], path == "nodes" ? fmt::format("node{}", i) : fmt::format("{}.{}", path, i),
                to);  // as their names are
    }
}

std::map<std::string, std::string> parameters_of(const std::string& run) {
    std::map<std::string, std::string> values;
    const auto file = std::filesystem::path(run) / "config.resolved.yaml";
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) flatten(read_config_file(file.string()), "", values);
    if (!is_earlier_run(run)) return values;
    std::map<std::string, std::string> renamed;
    for (auto& [path, value] : values) {
        const auto name = renamed_value(path.substr(path.rfind('.') + 1), value);
        renamed[current_path(path)] = name.empty() ? value : name;
    }
    return renamed;
}

/// Values of both maps where they differ; absent ones as "–".
template <class T, class Text, class Same>
std::size_t print_differences(const std::map<std::string, T>& a, const std::map<std::string, T>& b, Text text,
                              Same same) {
    std::set<std::string> names;
    for (const auto& [name, value] : a) names.insert(name);
    for (const auto& [name, value] : b) names.insert(name);
    std::size_t count = 0;
    for (const auto& name : names) {
        const auto left = a.find(name), right = b.find(name);
        const bool both = left != a.end() && right != b.end();
        if (both && same(left->second, right->second)) continue;
        ++count;
        fmt::print("  {}: {} → {}{}\n", name, left == a.end() ? "–" : text(left->second),
                   right == b.end() ? "–" : text(right->second), both ? text.change(left->second, right->second) : "");
    }
    return count;
}

struct number_words {
    std::string operator()(double v) const { return number_text(v); }
    std::string change(double a, double b) const {
        if (a == 0 || !std::isfinite(a) || !std::isfinite(b)) return "";
        return fmt::format(" ({:+.3g} %)", 100 * (b - a) / a);
    }
};

struct plain_words {
    std::string operator()(const std::string& v) const { return quoted(v); }
    std::string change(const std::string&, const std::string&) const { return ""; }
};

int diff(const options::variables_map& given) {
    const auto first = given["RUN1"].as<std::string>(), second = given["RUN2"].as<std::string>();
    auto a = read_statistics(first), b = read_statistics(second);
    a.erase("sim.wall_s");  // differs every time
    b.erase("sim.wall_s");
    const auto parameters_a = parameters_of(first), parameters_b = parameters_of(second);
    if (parameters_a != parameters_b) {
        fmt::print("parameters:\n");
        print_differences(parameters_a, parameters_b, plain_words(), std::equal_to<>());
    }
    const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    fmt::print("statistics:\n");
    const auto count = print_differences(a, b, number_words(), same);
    fmt::print("{} of {} statistics differ (wall-clock time left out)\n", count, std::max(a.size(), b.size()));
    return status::ok;
}

}  // namespace

command diff_command() {
    return {"diff",
            "RUN1 RUN2",
            "Shows what differs in the parameters and statistics of two runs (folders of run --out).",
            "fabricvp diff results1 results2",
            no_options,
            {"RUN1", "RUN2"},
            diff};
}

}  // namespace fabricvp::cli
