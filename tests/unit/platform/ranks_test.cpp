// SPDX-License-Identifier: Apache-2.0
// Which rank has what, and what ranks hand to the first one.
#include <catch2/catch.hpp>

#include "platform/config/machine_reader.h"
#include "platform/params/machine_params.h"
#include "platform/ranks/parallel_work.h"
#include "platform/ranks/partition.h"
#include "platform/ranks/rank_part.h"

using namespace fabricvp;
using namespace fabricvp::ranks;
using Catch::Contains;

namespace {

machine_params params_of(const std::string& yaml) { return read_machine_params(yaml, "machine.yaml", {}); }

const char* const five_nodes = R"(
nodes: 5
node: {hcas: [{}]}
network:
  switches: [{name: leaf0}, {name: leaf1}, {name: spine0}, {name: spine1}]
  links:
    - {from: leaf0, to: spine0}
    - {from: leaf1, to: spine0}
    - {from: leaf0, to: spine1}
    - {from: node4.hca0, to: leaf1}
    - {from: node0.hca0, to: leaf0}
    - {from: node1.hca0, to: leaf0}
    - {from: node2.hca0, to: leaf1}
    - {from: node3.hca0, to: leaf1}
)";

}  // namespace

TEST_CASE("nodes go in blocks, switches to the first that is linked to them") {
    const ranks::partition two(params_of(five_nodes), 2);
    const unsigned expected[] = {0, 0, 0, 1, 1};
    for (std::size_t i = 0; i < 5; ++i) CHECK(two.of_node(i) == expected[i]);
    CHECK(two.of_vertex("node3.hca0") == 1);
    CHECK(two.of_vertex("leaf0") == 0);
    CHECK(two.of_vertex("leaf1") == 1);
    CHECK(two.of_vertex("spine0") == 0);
    CHECK(two.of_vertex("spine1") == 1);
    CHECK(two.of_block("node4.host.hart0") == 1);
    CHECK(two.of_block("network.leaf1.to_spine0") == 1);
    CHECK_THROWS_WITH(two.of_block("network"), Contains("'network' is no block of one rank"));
    CHECK_THROWS_WITH(two.of_block("node9.host"), Contains("'node9.host' is no block of one rank"));
    CHECK_NOTHROW(two.check_scope(3, "node3.host"));
    CHECK_THROWS_WITH(two.check_scope(3, "node4"), Contains("marks can only reach their own node, not node4"));
}

TEST_CASE("machines that cannot be cut so are refused") {
    CHECK_THROWS_WITH(ranks::partition(params_of(five_nodes), 6), Contains("6 ranks: this machine has 5 parts"));
    CHECK_THROWS_WITH(ranks::partition(params_of(five_nodes), 0), Contains("0 ranks"));
    CHECK_THROWS_WITH(ranks::partition(params_of("nodes: 2\n"), 2), Contains("no network between its nodes"));
    const auto linked =
        params_of("nodes: 2\nnode: {hcas: [{}], pcie: {endpoints: [{kind: virtio_net, name: net0}]}}\n");
    CHECK_THROWS_WITH(ranks::partition(linked, 2), Contains("joined by Ethernet, which cannot be cut"));
}

TEST_CASE("the busiest rank of each window bounds what ranks gain") {
    parallel_work w;
    CHECK(w.bound() == 0);
    CHECK(w.active_ranks() == 0);
    for (const auto& [seconds, events] : {std::pair(4., 10u), {1., 20u}, {1., 0u}}) w.add(seconds, events);
    w.end_window();
    for (const auto& [seconds, events] : {std::pair(0., 0u), {2., 5u}, {0., 0u}}) w.add(seconds, events);
    w.end_window();
    CHECK(w.windows() == 2);
    CHECK(w.seconds() == 8);
    CHECK(w.critical_path_seconds() == 6);
    CHECK(w.bound() == 8. / 6);
    CHECK(w.events() == 35);
    CHECK(w.critical_path_events() == 25);
    CHECK(w.bound_by_events() == 35. / 25);
    CHECK(w.active_ranks() == 1.5);
}

TEST_CASE("what ranks have measured comes together") {
    rank_part a, b;
    a.values = {
        {"network.packets.sent", 3}, {"network.sweeps", 2}, {"node0.x", 0.1}, {"sim.events", 5}, {"sim.time_s", 1.5}};
    b.values = {
        {"network.packets.sent", 4}, {"network.sweeps", 2}, {"node1.x", 1e300}, {"sim.events", 7}, {"sim.time_s", 1.5}};
    a.notes["node0.x"] = {"1", "a number"};
    b.nodes[1] = {"console\n\xff", "typed", {{"region", 10, 20, {{"node1.x", 7}}}}, {}};
    b.nodes[1].script = {
        "a.script", "not seen", "a.script:1", {{1, "expect \xff", script_progress::under_way, 7, never}}};
    b.stacks = {{"node1.host.hart0;main;\xff", 5}};
    b.executions = {{"/some\xff/file.elf", {{0x80000000, 7}, {0x80000004, 1ull << 63}}}, {"unused.elf", {}}};
    a.topology = "{}";
    a.trace =
        "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{"
        "\"name\":\"simulation\"}},\n{\"ph\":\"X\",\"pid\":1,\"tid\":3}\n]}\n";
    b.trace = a.trace;
    std::vector<rank_part> all = {parse_rank_part(to_bytes(a)), parse_rank_part(to_bytes(b))};
    CHECK(merged_values(all) == statistics_snapshot{{"network.packets.sent", 7},
                                                    {"network.sweeps", 2},
                                                    {"node0.x", 0.1},
                                                    {"node1.x", 1e300},
                                                    {"sim.events", 12},
                                                    {"sim.time_s", 1.5}});
    CHECK(all[0].notes.at("node0.x").help == "a number");
    const auto& node = all[1].nodes.at(1);
    CHECK(node.console == "console\n\xff");
    CHECK(node.input == "typed");
    CHECK(all[0].topology == "{}");
    CHECK(all[0].stacks.empty());
    CHECK(all[1].stacks == b.stacks);
    CHECK(all[1].executions == b.executions);
    REQUIRE(node.regions.size() == 1);
    CHECK(node.regions[0].label == "region");
    CHECK(node.regions[0].to == 20);
    CHECK(node.regions[0].values.at("node1.x") == 7);
    REQUIRE(node.script);
    CHECK(node.script->name == "a.script");
    CHECK(node.script->failure == "not seen");
    CHECK(node.script->current_line == "a.script:1");
    REQUIRE(node.script->lines.size() == 1);
    CHECK(node.script->lines[0].source == "expect \xff");
    CHECK(node.script->lines[0].progress == script_progress::under_way);
    CHECK(node.script->lines[0].begin == 7);
    CHECK(node.script->lines[0].end == never);
    CHECK(merged_trace(all, trace_file::json) ==
          "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{"
          "\"name\":\"rank 0\"}},\n{\"ph\":\"X\",\"pid\":1,\"tid\":3},\n"
          "{\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"args\":{\"name\":\"rank "
          "1\"}},\n{\"ph\":\"X\",\"pid\":2,\"tid\":3}\n]}\n");
    CHECK_THROWS_WITH(parse_rank_part("nonsense"), Contains("cannot be read"));
}
