// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/run_bounds.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/parameters.h"

namespace fabricvp::cli {
namespace {

using parameter_map = std::map<std::string, std::string>;

/// A unit, and which part of the time it was busy.
struct load {
    std::string name;
    double share = 0;
};

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

double value_or_zero(const statistics_snapshot& values, const std::string& path) {
    const auto found = values.find(path);
    return found == values.end() ? 0 : found->second;
}

double number_of(const parameter_map& parameters, const std::string& path) {
    const auto found = parameters.find(path);
    return found == parameters.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
}

/// A GPU: the prefix of its parameters, and of its statistics.
struct gpu {
    std::string parameters, statistics;
};

std::vector<gpu> gpus_of(const parameter_map& parameters) {
    std::vector<gpu> all;
    for (const auto& [path, name] : parameters) {
        const auto list = path.find(".gpus.");
        if (list == std::string::npos || !ends_with(path, ".name")) continue;
        const auto prefix = path.substr(0, path.size() - 5);
        if (prefix.find('.', list + 6) != std::string::npos) continue;  // of a block in it
        all.push_back({prefix + ".", path.substr(0, list) + "." + name + "."});
    }
    return all;
}

/// Sum of a statistic over the compute units of a GPU, or the greatest.
double of_units(const statistics_snapshot& values, const gpu& g, const std::string& name, bool greatest = false) {
    const auto prefix = g.statistics + "compute_unit", end = "." + name;
    double result = 0;
    for (auto at = values.lower_bound(prefix); at != values.end() && at->first.compare(0, prefix.size(), prefix) == 0;
         ++at) {
        const auto rest = at->first.find_first_not_of("0123456789", prefix.size());
        if (at->first.compare(rest, std::string::npos, end) != 0) continue;
        result = greatest ? std::max(result, at->second) : result + at->second;
    }
    return result;
}

void keep_greater(load& into, std::string name, double share) {
    if (share > into.share) into = {std::move(name), share};
}

load busiest_link(const statistics_snapshot& values, double ps) {
    static const std::string end = ".transmitter.busy";
    load most{"links", 0};
    for (const auto& [path, busy] : values)
        if (ends_with(path, end)) keep_greater(most, "link " + path.substr(0, path.size() - end.size()), busy / ps);
    return most;
}

load busiest_host(const statistics_snapshot& values, const parameter_map& parameters, double seconds) {
    static const std::string end = ".active_cycles", middle = ".host.hart";
    load most{"host", 0};
    for (const auto& [path, cycles] : values) {
        const auto at = path.find(middle);
        if (at == std::string::npos || !ends_with(path, end)) continue;
        const auto clock = parameters.find(path.substr(0, at) + ".host.hart.clock");
        if (clock == parameters.end()) continue;
        frequency hertz;
        parameter p("clock", "", parameter_kind::frequency, &hertz);
        p.parse(clock->second);
        keep_greater(most, "host " + path.substr(0, path.size() - end.size()),
                     cycles / (static_cast<double>(hertz.hertz) * seconds));
    }
    return most;
}

/// What wavefronts waited for most, of the time that they lived.
std::string waits(const statistics_snapshot& values, const std::vector<gpu>& gpus) {
    static const std::pair<const char*, const char*> kinds[] = {
        {"stall_memory", "data"},  {"stall_queue", "the memory unit"}, {"stall_fetch", "instructions"},
        {"stall_fence", "fences"}, {"stall_barrier", "barriers"},      {"stall_simd", "their SIMD unit"}};
    double lived = 0;
    load most;
    for (const auto& g : gpus) lived += of_units(values, g, "residency");
    if (lived <= 0) return {};
    for (const auto& [counter, what] : kinds) {
        double waited = 0;
        for (const auto& g : gpus) waited += of_units(values, g, counter);
        keep_greater(most, what, waited / lived);
    }
    return most.share < 0.005
               ? std::string()
               : fmt::format("wavefronts waited for {} {:.0f} % of their time", most.name, 100 * most.share);
}

}  // namespace

std::string bound_of(const statistics_snapshot& values, const parameter_map& parameters, double seconds) {
    if (!(seconds > 0)) return "took no time";
    const double ps = seconds * ticks_per_second;
    const auto gpus = gpus_of(parameters);
    std::vector<load> loads = {busiest_link(values, ps)};
    load hbm{"HBM", 0}, lanes{"SIMD units", 0}, walkers{"page-table walkers", 0};
    double kernels = 0;
    for (const auto& g : gpus) {
        const auto share = [&](double busy, double units) { return units > 0 ? busy / (ps * units) : 0; };
        const auto parameter = [&](const char* path) { return number_of(parameters, g.parameters + path); };
        keep_greater(hbm, "HBM of " + g.statistics.substr(0, g.statistics.size() - 1),
                     share(value_or_zero(values, g.statistics + "memory.hbm.busy"), parameter("memory.hbm.channels")));
        keep_greater(
            lanes, "SIMD units of " + g.statistics.substr(0, g.statistics.size() - 1),
            share(of_units(values, g, "simd_busy"), parameter("compute_units") * parameter("compute_unit.simd_units")));
        keep_greater(walkers, "page-table walkers of " + g.statistics.substr(0, g.statistics.size() - 1),
                     share(value_or_zero(values, g.statistics + "memory.gmmu.walk_latency.sum"),
                           parameter("memory.gmmu.walkers")));
        kernels = std::max(kernels, of_units(values, g, "busy", true) / ps);
    }
    if (kernels > 0) {
        loads.insert(loads.end(), {hbm, lanes, walkers});
        loads.push_back({"launches and copies: no kernel ran", std::max(0.0, 1 - kernels)});
    } else {
        loads.push_back(busiest_host(values, parameters, seconds));
    }
    std::stable_sort(loads.begin(), loads.end(), [](const load& a, const load& b) { return a.share > b.share; });
    constexpr double busy = 0.7;  // a queue before a unit that is less busy is short
    std::string text;
    for (const auto& l : loads) {
        const bool first = text.empty();
        if (!first && l.share < 0.005) break;
        const auto percent = fmt::format("{:.0f} %", 100 * std::min(l.share, 1.0));
        if (first && l.share >= busy)
            text = fmt::format("bounded by {}, {} of the time", l.name, percent);
        else
            text += fmt::format("{}{} {}", first ? "no unit was busy for long: " : ", ", l.name, percent);
    }
    const auto waited = kernels > 0 ? waits(values, gpus) : std::string();
    return waited.empty() ? text : text + "; " + waited;
}

}  // namespace fabricvp::cli
