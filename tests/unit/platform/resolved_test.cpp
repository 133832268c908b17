// SPDX-License-Identifier: Apache-2.0
// The resolved configuration is the whole machine: it runs to the same statistics. And what seeds do to them.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include <fmt/format.h>

#include "child_process.h"
#include "platform/platform.h"
#include "temporary_folder.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;
using test::in_child;

namespace {

/// Statistics after a while, one a line, without what depends on the machine that simulates.
std::string statistics_of(platform& p, ticks limit) {
    p.run_until(limit);
    std::string text;
    for (const auto& [path, value] : p.statistics())
        if (path != "sim.wall_s") text += fmt::format("{} {:.17g}\n", path, value);
    return text;
}

std::string run(const std::string& config, ticks limit, const platform::overrides& set = {}) {
    return in_child([&] { return statistics_of(*platform::from_config(config, set), limit); });
}

/// Two pairs of generators that do the same on links that corrupt packets.
const char* const twins = R"(
simulation: {seed: 5}
node:
  images: {firmware: "firmware:hello.elf"}
  fabric:
    switches: [{name: s0}]
    generators: [{name: g0, pattern: neighbour, requests: 3000, interval: 20 ns, random_intervals: false},
                 {name: g1}, {name: g2}]
    links: [{from: g0, to: s0, bit_error_rate: 1e-5}, {from: g1, to: s0, bit_error_rate: 1e-5},
            {from: g2, to: s0, bit_error_rate: 1e-5}]
)";

}  // namespace

TEST_CASE("a resolved configuration runs identically") {
    test::temporary_folder folder;
    const platform::overrides none, odd = {{"simulation.seed", "77"}, {"simulation.quantum", "300 ns"}};
    const auto noisy = folder.file("noisy.yaml", twins);
    const std::vector<std::tuple<std::string, platform::overrides>> machines = {
        {CONFIGS "/hello.yaml", none},
        {CONFIGS "/hello.yaml", odd},
        {CONFIGS "/gpu.yaml", odd},
        {CONFIGS "/netcrafter_quad.yaml", none},
        {CONFIGS "/netcrafter_quad_ideal.yaml", odd},
        {CONFIGS "/numa_quad.yaml", none},
        {noisy, none},
        {noisy, odd}};
    for (const auto& [config, set] : machines) {
        INFO(config);
        const auto resolved = in_child(
            [&, &config = config, &set = set] { return platform::from_config(config, set)->resolved_config(); });
        const auto file = folder.file("config.resolved.yaml", resolved);
        CHECK(in_child([&] { return platform::from_config(file)->resolved_config(); }) == resolved);
        const auto first = run(config, 2_ms, set);
        REQUIRE(first.find("sim.events") != std::string::npos);
        CHECK(run(file, 2_ms) == first);
    }
}

TEST_CASE("every block draws from a stream of its own, which follows from seed and path") {
    test::temporary_folder folder;
    const auto config = folder.file("twins.yaml", twins);
    const auto replays = [&](const platform::overrides& set) {
        std::map<std::string, double> all;
        const auto text = in_child([&] {
            const auto p = platform::from_config(config, set);
            p->run_until(100_us);
            std::string lines;
            for (const auto& [path, value] : p->statistics())
                if (path.find("transmitter.replays") != std::string::npos ||
                    path.find("round_trip.sum") != std::string::npos)
                    lines += fmt::format("{} {:.17g}\n", path, value);
            return lines;
        });
        std::istringstream lines(text);
        for (std::string path; lines >> path;) lines >> all[path];
        return all;
    };
    const auto one = replays({});
    REQUIRE(one.size() > 6);
    const auto of = [](const auto& values, const std::string& where) {
        return values.at("node0.fabric." + where + ".transmitter.replays");
    };
    CHECK(of(one, "g0.link") > 5);
    CHECK(replays({}) == one);
    CHECK(replays({{"simulation.seed", "6"}}) != one);

    // All generators ask alike, so that equal errors would be equal figures.
    const platform::overrides alike = {{"node.fabric.generators.*.pattern", "neighbour"},
                                       {"node.fabric.generators.*.requests", "3000"},
                                       {"node.fabric.generators.*.interval", "20 ns"},
                                       {"node.fabric.generators.*.random_intervals", "false"}};
    const auto three = replays(alike);
    const auto round_trip = [&](const char* g) { return three.at(fmt::format("node0.fabric.{}.round_trip.sum", g)); };
    CHECK(std::set<double>{round_trip("g0"), round_trip("g1"), round_trip("g2")}.size() == 3);

    // A link with a seed of its own keeps its errors whatever the simulation's seed is; the others change.
    auto own = alike, other = alike;
    own.emplace_back("node.fabric.links.0.seed", "9");
    other = own;
    other.emplace_back("simulation.seed", "6");
    CHECK(replays(own) != three);
    CHECK(replays(other) != replays(own));
    other.emplace_back("node.fabric.links.1.seed", "9");
    other.emplace_back("node.fabric.links.2.seed", "9");
    auto again = other;
    again.emplace_back("simulation.seed", "12");
    for (unsigned g = 0; g < 3; ++g) {
        other.emplace_back(fmt::format("node.fabric.g{}.seed", g), "4");
        again.emplace_back(fmt::format("node.fabric.g{}.seed", g), "4");
    }
    CHECK(replays(other) == replays(again));
}
