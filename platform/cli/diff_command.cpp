// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/cli/command.h"
#include "platform/cli/run_bounds.h"
#include "platform/common/files.h"
#include "platform/common/input_error.h"
#include "platform/common/terminal.h"
#include "platform/config/config_tree.h"
#include "platform/config/renamed_names.h"
#include "platform/results/results.h"

namespace fabricvp::cli {
namespace {

namespace fs = std::filesystem;

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
    const auto file = fs::path(run) / "config.resolved.yaml";
    std::error_code ignored;
    if (fs::exists(file, ignored)) flatten(read_config_file(file.string()), "", values);
    if (!is_earlier_run(run)) return values;
    std::map<std::string, std::string> renamed;
    for (auto& [path, value] : values) {
        const auto name = renamed_value(path.substr(path.rfind('.') + 1), value);
        renamed[current_path(path)] = name.empty() ? value : name;
    }
    return renamed;
}

/// The whole run, or what firmware has marked.
struct part {
    std::string name;
    double seconds = 0;
    statistics_snapshot values;
};

struct run {
    std::string folder;
    std::map<std::string, std::string> parameters;
    std::map<std::string, std::string> units;  ///< of statistics, by path
    std::vector<part> parts;                   ///< regions in the order of marking, then the whole run
};

/// Regions of a node that carry one label are numbered from the second on.
std::vector<part> regions_of(const std::string& folder) {
    const auto file = fs::path(folder) / "regions.json";
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return {};
    const auto parsed = nlohmann::json::parse(read_file(file.string(), 1 << 28), nullptr, false);
    const auto wrong = [&] { return input_error(file.string() + ": holds no regions of interest"); };
    if (!parsed.is_array()) throw wrong();
    const bool earlier = is_earlier_run(folder);
    std::vector<part> all;
    std::map<std::string, int> counts;
    try {
        for (const auto& r : parsed) {
            auto name = fmt::format("region {} of node{}", r.at("label").get<std::string>(), r.at("node").get<int>());
            if (const int number = ++counts[name]; number > 1) name += fmt::format(" (number {})", number);
            part p{input_error(name).what(), r.at("to_s").get<double>() - r.at("from_s").get<double>(), {}};
            for (const auto& [path, value] : r.at("statistics").items())
                p.values[earlier ? current_path(path) : path] = value.is_null() ? std::nan("") : value.get<double>();
            all.push_back(std::move(p));
        }
    } catch (const nlohmann::json::exception&) {
        throw wrong();
    }
    return all;
}

/// From stats.csv: path,value,unit,help.
std::map<std::string, std::string> units_of(const std::string& folder) {
    std::map<std::string, std::string> units;
    const auto file = fs::path(folder) / "stats.csv";
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return units;
    std::istringstream lines(read_file(file.string(), 1 << 28));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream columns(line);
        std::string path, value, unit;
        if (std::getline(columns, path, ',') && std::getline(columns, value, ',') && std::getline(columns, unit, ','))
            units.emplace(std::move(path), std::move(unit));
    }
    return units;
}

run read_run(const std::string& folder) {
    part whole{"the whole run", 0, read_statistics(folder)};
    whole.values.erase("sim.wall_s");  // differs every time
    if (const auto time = whole.values.find("sim.time_s"); time != whole.values.end()) whole.seconds = time->second;
    run r{folder, parameters_of(folder), units_of(folder), regions_of(folder)};
    r.parts.push_back(std::move(whole));
    return r;
}

struct selection {
    bool all = false;
    double threshold = 0.01;
    std::size_t lines = 20;

    std::size_t shown(std::size_t count) const { return all || !lines ? count : std::min(lines, count); }
};

void print_rest(std::size_t shown, std::size_t count) {
    if (shown < count) fmt::print("  … and {} more (--lines 0 shows them)\n", count - shown);
}

/// The outermost block of a parameter of which another machine has nothing; the parameter itself if it has its block.
std::string missing_block(const std::string& name, const std::map<std::string, std::string>& other) {
    for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
        const auto block = name.substr(0, dot + 1);
        const auto next = other.lower_bound(block);
        if (next == other.end() || next->first.compare(0, block.size(), block) != 0) return name.substr(0, dot);
    }
    return name;
}

/// What differs, a line each. \param apart every parameter by itself; otherwise a block that one machine lacks is a
/// line
std::vector<std::string> parameter_changes(const run& a, const run& b, bool apart) {
    std::set<std::string> names;
    for (const auto* r : {&a, &b})
        for (const auto& [name, value] : r->parameters) names.insert(name);
    std::vector<std::string> changes;
    std::map<std::string, std::pair<std::size_t, std::size_t>> blocks;  // by name: place of its line, and parameters
    for (const auto& name : names) {
        const auto left = a.parameters.find(name), right = b.parameters.find(name);
        const bool has_left = left != a.parameters.end(), has_right = right != b.parameters.end();
        if (has_left && has_right && left->second == right->second) continue;
        const auto block = apart || (has_left && has_right) ? name : missing_block(name, (has_left ? b : a).parameters);
        if (block == name) {
            changes.push_back(fmt::format("  {}: {} → {}", name, has_left ? quoted(left->second) : "–",
                                          has_right ? quoted(right->second) : "–"));
            continue;
        }
        auto& [place, count] = blocks.try_emplace(block, changes.size(), 0).first->second;
        if (++count == 1) changes.emplace_back();
        changes[place] = fmt::format("  {}: is in {} alone ({} parameter{})", block, (has_left ? a : b).folder, count,
                                     count == 1 ? "" : "s");
    }
    return changes;
}

void print_parameters(const run& a, const run& b, const selection& s) {
    const auto changes = parameter_changes(a, b, s.all);
    if (changes.empty()) return;
    fmt::print("parameters:\n");
    const auto shown = s.shown(changes.size());
    for (std::size_t i = 0; i < shown; ++i) fmt::print("{}\n", changes[i]);
    print_rest(shown, changes.size());
}

/// Names of statistics that are no amounts: sums of them mean nothing.
bool is_amount(const std::string& path) {
    static const std::set<std::string> rates = {
        "mean",      "min",   "max",       "p50",     "p99", "peak",   "utilisation",
        "occupancy", "share", "window_ps", "windows", "ok",  "time_s", "residency_share"};
    const auto last = path.substr(path.rfind('.') + 1);
    return !rates.count(last) && (last.size() < 6 || last.compare(last.size() - 6, 6, "_share") != 0);
}

/// One statistic, or those of blocks that differ in their numbers alone.
struct change {
    std::string name, first;  ///< first: the name of one of them
    std::size_t count = 0;    ///< of blocks
    bool left = false, right = false;
    double a = 0, b = 0;  ///< sums of amounts, averages of others
    double relative() const { return a == b ? 0 : std::abs(b - a) / std::max(std::abs(a), std::abs(b)); }
};

std::string starred(const std::string& path) {
    std::string text;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] < '0' || path[i] > '9')
            text += path[i];
        else if (text.empty() || text.back() != '*')
            text += '*';
    }
    return text;
}

bool same(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

/// What differs. \param apart every statistic by itself
std::vector<change> changes_of(const statistics_snapshot& a, const statistics_snapshot& b, bool apart) {
    std::set<std::string> names;
    for (const auto* values : {&a, &b})
        for (const auto& [name, value] : *values) names.insert(name);
    std::map<std::string, change> groups;
    for (const auto& name : names) {
        const auto left = a.find(name), right = b.find(name);
        auto& c = groups[apart ? name : starred(name)];
        if (!c.count++) c.name = c.first = name;
        if (left != a.end()) c.a += left->second, c.left = true;
        if (right != b.end()) c.b += right->second, c.right = true;
    }
    std::vector<change> all;
    for (auto& [pattern, c] : groups) {
        if (c.count > 1) c.name = pattern;
        if (c.left && c.right && same(c.a, c.b)) continue;
        if (!is_amount(c.name)) c.a /= static_cast<double>(c.count), c.b /= static_cast<double>(c.count);
        all.push_back(c);
    }
    return all;
}

/// Relative changes first, and large figures before small ones of their kind.
void rank(std::vector<change>& all, const std::map<std::string, std::string>& units) {
    std::map<std::string, double> greatest;
    const auto kind = [&](const change& c) {
        const auto unit = units.find(c.first);
        return (unit == units.end() ? std::string() : unit->second) + (is_amount(c.name) ? "" : " average");
    };
    const auto size = [](const change& c) { return std::max(std::abs(c.a), std::abs(c.b)); };
    for (const auto& c : all)
        if (std::isfinite(size(c))) greatest[kind(c)] = std::max(greatest[kind(c)], size(c));
    std::map<std::string, double> effect;
    for (const auto& c : all) {
        const double most = greatest[kind(c)];
        effect[c.name] = std::isfinite(size(c)) && most > 0 ? c.relative() * std::sqrt(size(c) / most) : 1;
    }
    std::stable_sort(all.begin(), all.end(),
                     [&](const change& x, const change& y) { return effect[x.name] > effect[y.name]; });
}

std::string percent(double a, double b) {
    if (a == 0 || !std::isfinite(a) || !std::isfinite(b)) return "";
    return fmt::format(" ({:+.3g} %)", 100 * (b - a) / a);
}

std::string line_of(const change& c) {
    const auto several =
        c.count > 1 ? fmt::format(" ({} {})", is_amount(c.name) ? "sum of" : "average of", c.count) : "";
    const auto number = [](double value) {  // whole ones as they are
        return value == std::floor(value) ? number_text(value) : fmt::format("{:.6g}", value);
    };
    return fmt::format("  {}{}: {} → {}{}", c.name, several, c.left ? number(c.a) : "–", c.right ? number(c.b) : "–",
                       c.left && c.right ? percent(c.a, c.b) : "");
}

std::string time_text(double seconds) { return fmt::format("{:.6g} us", seconds * 1e6); }

void print_part(const run& a, const part& of_a, const run& b, const part& of_b, const selection& s) {
    fmt::print("\n{}: {} → {}{}\n", of_a.name, time_text(of_a.seconds), time_text(of_b.seconds),
               percent(of_a.seconds, of_b.seconds));
    for (const auto& [r, p] : {std::pair{&a, &of_a}, {&b, &of_b}})
        fmt::print("{}\n",
                   fitted(fmt::format("  {}: {}", r->folder, bound_of(p->values, r->parameters, p->seconds)), 4));
    auto changes = changes_of(of_a.values, of_b.values, s.all);
    const auto differing = changes.size();
    if (!s.all) {
        rank(changes, a.units);
        changes.erase(std::remove_if(changes.begin(), changes.end(),
                                     [&](const change& c) { return c.left && c.right && c.relative() < s.threshold; }),
                      changes.end());
    }
    const auto shown = s.shown(changes.size());
    for (std::size_t i = 0; i < shown; ++i) fmt::print("{}\n", line_of(changes[i]));
    print_rest(shown, changes.size());
    if (s.all)
        fmt::print("{} of {} statistics differ (wall-clock time left out)\n", differing,
                   std::max(of_a.values.size(), of_b.values.size()));
    else if (differing == 0)
        fmt::print("  no statistic differs (wall-clock time left out)\n");
    else if (differing > changes.size())
        fmt::print("  {} more differ by less than {:g} % (--threshold 0 shows them)\n", differing - changes.size(),
                   100 * s.threshold);
}

options::options_description diff_options() {
    options::options_description o;
    o.add_options()("region", options::value<std::string>()->value_name("LABEL"),
                    "only regions of interest with this label")(
        "threshold", options::value<std::string>()->value_name("PERCENT"), "leave out smaller changes (default: 1)")(
        "lines", options::value<std::string>()->value_name("N"),
        "parameters, and statistics of a region, at most (default: 20; 0: all)")(
        "all", "every parameter and statistic by itself, by name, however little it differs");
    return o;
}

int diff(const options::variables_map& given) {
    selection s;
    s.all = given.count("all") > 0;
    if (given.count("lines")) s.lines = number_option(text_option(given, "lines"), 0, 1'000'000, "--lines");
    if (given.count("threshold")) {
        const auto text = text_option(given, "threshold");
        char* end = nullptr;
        s.threshold = std::strtod(text.c_str(), &end) / 100;
        if (text.empty() || *end || !(s.threshold >= 0 && s.threshold <= 1))
            throw input_error(fmt::format("--threshold {}: must be a number of percent from 0 to 100", quoted(text)));
    }
    const auto a = read_run(given["RUN1"].as<std::string>()), b = read_run(given["RUN2"].as<std::string>());
    const auto label = fmt::format("region {} of node", text_option(given, "region"));
    std::vector<std::pair<const part*, const part*>> common;
    std::set<std::string> others;
    for (const auto& of_a : a.parts) {
        const auto of_b =
            std::find_if(b.parts.begin(), b.parts.end(), [&](const part& p) { return p.name == of_a.name; });
        if (of_b == b.parts.end())
            others.insert(fmt::format("{} is in {} alone", of_a.name, a.folder));
        else if (!given.count("region") || of_a.name.compare(0, label.size(), label) == 0)
            common.emplace_back(&of_a, &*of_b);
    }
    for (const auto& of_b : b.parts)
        if (std::none_of(a.parts.begin(), a.parts.end(), [&](const part& p) { return p.name == of_b.name; }))
            others.insert(fmt::format("{} is in {} alone", of_b.name, b.folder));
    if (common.empty())
        throw input_error(
            fmt::format("--region {}: no such region in both runs", quoted(text_option(given, "region"))));
    print_parameters(a, b, s);
    for (const auto& [of_a, of_b] : common) print_part(a, *of_a, b, *of_b, s);
    for (const auto& text : others) fmt::print("\n{}\n", text);
    return status::ok;
}

}  // namespace

command diff_command() {
    return {"diff",
            "RUN1 RUN2 [options]",
            "Compares two runs (folders of run --out): parameters, what bounded each, and statistics of each region of "
            "interest by how much they changed.",
            "fabricvp diff results1 results2 --region kernels",
            diff_options,
            {"RUN1", "RUN2"},
            diff};
}

}  // namespace fabricvp::cli
