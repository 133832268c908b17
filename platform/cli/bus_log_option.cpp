// SPDX-License-Identifier: Apache-2.0
// --log-bus KIND[:FILTER,…]: which blocks tell what they read and write, and which of their lines are wanted.
#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <systemc>

#include "base/bus_log.h"
#include "gpu/gpu_unit.h"
#include "hca/hca_device.h"
#include "platform/cli/command.h"
#include "platform/common/input_error.h"
#include "platform/common/nearest.h"
#include "platform/common/unmatched.h"

namespace fabricvp::cli {

namespace {

using choice = std::function<bool(const sc_core::sc_object&)>;

/// Those that are chosen, and all inside of them.
void add_names(const std::vector<sc_core::sc_object*>& objects, std::vector<std::string>& names, const choice& chosen) {
    for (const auto* o : objects) {
        if (std::string_view(o->kind()) != "sc_module") continue;
        const bool own = chosen(*o);
        if (own) names.emplace_back(o->name());
        add_names(o->get_child_objects(), names, own ? choice([](const auto&) { return true; }) : chosen);
    }
}

/// Blocks of a kind, with those inside of them; all of the machine where the kind is a plug-in's. \throws input_error
/// if there are none
std::vector<std::string> block_names(const std::string& kind) {
    const auto& all = sc_core::sc_get_top_level_objects();
    std::vector<std::string> names;
    if (kind == "gpu") {
        add_names(all, names, [](const auto& o) { return dynamic_cast<const gpu::gpu_unit*>(&o) != nullptr; });
        if (names.empty()) throw input_error("--log-bus gpu: this machine has no GPU");
    } else if (kind == "hca") {
        add_names(all, names, [](const auto& o) { return dynamic_cast<const hca::hca_device*>(&o) != nullptr; });
        if (names.empty()) throw input_error("--log-bus hca: this machine has no RDMA adapter");
    } else {
        add_names(all, names, [](const auto&) { return true; });
    }
    return names;
}

void check_block(const std::string& kind, const std::string& glob) {
    const auto names = block_names(kind);
    for (const auto& name : names)
        if (fnmatch(glob.c_str(), name.c_str(), 0) == 0) return;
    throw input_error(fmt::format("--log-bus {}: no block of it has a name such as '{}': {}", kind, glob,
                                  why_unmatched(glob, names)));
}

std::uint64_t queue_number(const std::string& text, const std::string& unit) {
    constexpr std::uint64_t max_queues = 64, max_queue_pairs = 1u << 24;
    const auto limit = unit == "queue" ? max_queues : max_queue_pairs;
    if (text.compare(0, 2, "0x") != 0) return number_option(text, 0, limit - 1, "--log-bus " + unit + "=");
    constexpr std::size_t max_digits = 8;
    const auto digits = text.substr(2);
    if (digits.empty() || digits.size() > max_digits ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos ||
        std::stoull(digits, nullptr, 16) >= limit)
        throw input_error(fmt::format("--log-bus {}={}: not a number from 0 to {}", unit, quoted(text), limit - 1));
    return std::stoull(digits, nullptr, 16);
}

}  // namespace

void start_bus_log(const std::string& wanted) {
    const auto colon = wanted.find(':');
    const auto kind = wanted.substr(0, colon);
    const auto* channel = bus_log::find(kind);
    if (!channel) {
        const auto near = nearest_name(kind, bus_log::kinds());
        throw input_error(fmt::format("--log-bus: {} is no kind of block that tells; {}", quoted(kind),
                                      near.empty() ? fmt::format("there are {}", fmt::join(bus_log::kinds(), ", "))
                                                   : fmt::format("did you mean '{}'?", near)));
    }
    const std::string unit = channel->unit();
    bus_log::filter f;
    std::istringstream filters(colon == std::string::npos ? "" : wanted.substr(colon + 1));
    for (std::string part; std::getline(filters, part, ',');) {
        const auto equals = part.find('=');
        const auto key = part.substr(0, equals);
        if (key == "error" && equals == std::string::npos) {
            f.errors = true;
        } else if (key == unit && equals != std::string::npos) {
            f.queue = queue_number(part.substr(equals + 1), unit);
        } else if (key == "block" && equals != std::string::npos) {
            f.block = part.substr(equals + 1);
            check_block(kind, f.block);
        } else {
            const std::vector<std::string> known{unit + "=", "error", "block="};
            const auto near = nearest_name(equals == std::string::npos ? key : key + "=", known);
            throw input_error(fmt::format("--log-bus {}: no filter {}; {}", kind, quoted(part),
                                          near.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                                                       : fmt::format("did you mean '{}'?", near)));
        }
    }
    block_names(kind);
    bus_log::show(kind, true, f);
}

void explain_empty_bus_logs() {
    for (const auto& kind : bus_log::kinds()) {
        const auto& c = *bus_log::find(kind);
        if (!c.open() || c.lines() || !c.wanted().queue) continue;
        const auto wanted = *c.wanted().queue;
        std::vector<std::uint64_t> near(c.seen().begin(), c.seen().end());
        constexpr std::size_t max_shown = 8;
        const auto distance = [wanted](std::uint64_t n) { return n < wanted ? wanted - n : n - wanted; };
        std::stable_sort(near.begin(), near.end(), [&](auto a, auto b) { return distance(a) < distance(b); });
        if (near.size() > max_shown) near.resize(max_shown);
        std::string names;
        for (const auto n : near) names += fmt::format("{}{:#x}", names.empty() ? "" : ", ", n);
        fmt::print(stderr, "fabricvp: --log-bus {}: no {}about {} {:#x}; {}\n", kind,
                   c.wanted().errors ? "error was told " : "line was told ", c.unit(), wanted,
                   near.empty() ? std::string("there was nothing to tell of any") : "nearest are " + names);
    }
}

}  // namespace fabricvp::cli
