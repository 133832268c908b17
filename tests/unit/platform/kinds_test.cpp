// SPDX-License-Identifier: Apache-2.0
// A key `kind` that a higher layer gives another value: keys of the kind before go with it, but are checked.
#include <catch2/catch.hpp>

#include "fabric/netcrafter/settings.h"
#include "platform/common/input_error.h"
#include "platform/common/unmatched.h"
#include "platform/config/machine_reader.h"
#include "platform/params/machine_params.h"
#include "platform/platform.h"
#include "temporary_folder.h"
#include "virtio/virtio_blk.h"

using namespace fabricvp;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

machine_params read(const std::string& yaml, const platform::overrides& set = {}, const std::string& file = "m.yaml") {
    return read_machine_params(yaml, file, set);
}

std::string error_of(const std::string& yaml, const platform::overrides& set = {}) {
    try {
        read(yaml, set);
    } catch (const input_error& e) {
        CHECK(std::string(e.what()).find('\n') == std::string::npos);
        return e.what();
    }
    return "no error";
}

std::string machine_with(const std::string& stage) {
    return "node:\n"
           "  pcie: {switches: [{name: switch0}]}\n"
           "  gpus: [{below: switch0}, {below: switch0}]\n"
           "  fabric:\n"
           "    switches: [{name: cluster0, cluster: 0}, {name: cluster1, cluster: 1}]\n"
           "    links: [{from: gpu0, to: cluster0}, {from: gpu1, to: cluster1}, {from: cluster0, to: cluster1}]\n"
           "    cluster0:\n"
           "      latency: 20 cycles\n"
           "      stage: " +
           stage + "\n";
}

const std::string with_stage = machine_with("{kind: netcrafter, stitching: true, window: 7 cycles}");
const std::string kind_key = "node.fabric.cluster0.stage.kind";

const fabric::chosen_stage& stage_of(const machine_params& p) { return p.nodes[0].fabric.switches[0].stage; }

const fabric::netcrafter::parameters& parts_of(const machine_params& p) {
    return static_cast<const fabric::netcrafter::settings&>(stage_of(p).settings()).parts;
}

const std::string disk =
    "node:\n"
    "  pcie:\n"
    "    switches: [{name: top}]\n"
    "    endpoints:\n"
    "      - {kind: virtio_blk, name: disk, below: top, queue_size: 64, link: {width: 4}}\n";

}  // namespace

TEST_CASE("another kind by an override drops the keys of the kind before") {
    CHECK(parts_of(read(with_stage)).window.count == 7);
    const auto p = read(with_stage, {{kind_key, "none"}});
    CHECK(stage_of(p).kind() == "none");
    CHECK(p.nodes[0].fabric.switches[0].latency.count == 20);
    CHECK(stage_of(read(with_stage, {{"node.fabric.cluster0.stage.window", "9 cycles"}, {kind_key, "none"}})).kind() ==
          "none");
}

TEST_CASE("another kind of device keeps the keys that all kinds have") {
    const auto p = read(disk, {{"node.pcie.endpoints.0.kind", "copy_engine"}});
    const auto& e = p.nodes[0].pcie.endpoints.at(0);
    CHECK(e.device.kind() == "copy_engine");
    CHECK(e.name == "disk");
    CHECK(e.below == "top");
    CHECK(read(disk, {{"node.pcie.disk.kind", "virtio_net"}}).nodes[0].pcie.endpoints.at(0).device.kind() ==
          "virtio_net");
}

TEST_CASE("the kind that was before begins with its defaults") {
    const auto p = read(with_stage, {{kind_key, "none"}, {kind_key, "netcrafter"}});
    CHECK(stage_of(p).kind() == "netcrafter");
    CHECK_FALSE(parts_of(p).stitching);
    CHECK(parts_of(p).window.count == fabric::netcrafter::parameters{}.window.count);
    const auto same = read(with_stage, {{kind_key, "netcrafter"}});  // no other kind: nothing is dropped
    CHECK(parts_of(same).stitching);
    CHECK(parts_of(same).window.count == 7);
}

TEST_CASE("a configuration replaces the kind of its base") {
    const test::temporary_folder folder;
    folder.file("base.yaml", with_stage);
    const auto file = (folder.path / "m.yaml").string();
    const auto over = [&](const std::string& stage) {
        return read("base: base.yaml\nnode: {fabric: {cluster0: {stage: " + stage + "}}}\n", {}, file);
    };
    CHECK(stage_of(over("{kind: none}")).kind() == "none");
    CHECK(parts_of(over("{window: 5 cycles}")).window.count == 5);
    CHECK(parts_of(over("{window: 5 cycles}")).stitching);
}

TEST_CASE("keys that are dropped must have been right, and none may follow") {
    CHECK_THAT(error_of(machine_with("{kind: netcrafter, windwo: 7 cycles}"), {{kind_key, "none"}}),
               Contains("m.yaml:9: unknown key 'windwo'") && Contains("did you mean 'window'?"));
    CHECK_THAT(error_of(machine_with("{kind: netcrafter, window: 7 parsecs}"), {{kind_key, "none"}}),
               StartsWith("m.yaml:9: node.fabric.cluster0.stage.window"));
    CHECK_THAT(error_of(with_stage, {{kind_key, "none"}, {"node.fabric.cluster0.stage.window", "3 cycles"}}),
               StartsWith("--set 'node.fabric.cluster0.stage.window=3 cycles': unknown key 'window'"));
    CHECK_THAT(error_of(machine_with("{kind: none, window: 7 cycles}")), Contains("unknown key 'window'"));
    CHECK_THAT(
        error_of(disk, {{"node.pcie.endpoints.0.kind", "copy_engine"}, {"node.pcie.endpoints.0.queue_size", "32"}}),
        Contains("unknown key 'queue_size' in node.pcie.endpoints.0 (allowed: name, below, arbitration_weight, kind, "
                 "link, "));
}

TEST_CASE("an override of all items has at least one item in the machine") {
    CHECK(error_of("node: {host: {harts: 1}}\n", {{"node.gpus.*.compute_units", "8"}}) ==
          "--set 'node.gpus.*.compute_units=8': node.gpus has no items, so this has no effect");
    const std::string two = "nodes:\n  - {}\n  - {pcie: {switches: [{name: switch0}]}, gpus: [{below: switch0}]}\n";
    CHECK(read(two, {{"node.gpus.*.compute_units", "8"}}).nodes.size() == 2);
    CHECK_THAT(error_of(two, {{"node0.gpus.*.compute_units", "8"}}), Contains("node0.gpus has no items"));
}

TEST_CASE("a pattern that matches nothing is answered by the nearest names") {
    const std::vector<std::string> paths = {"node0.host.hart0.instructions", "node0.host.uart.sent",
                                            "node0.gpu0.memory.l2.hits", "network.switch0.to_node0_hca0.sent"};
    CHECK(why_unmatched("node0.gpu0.memry.l2", paths) == "did you mean 'node0.gpu0.memory.l2'?");
    CHECK(why_unmatched("nod0.host", paths) == "did you mean 'node0.host'?");
    CHECK(why_unmatched("*.hrat0", paths) == "did you mean '*.hart0'?");
    CHECK(why_unmatched("node0.*.memry.*", paths) == "did you mean 'node0.*.memory.*'?");
    CHECK(why_unmatched("node0.host.quux", paths) == "node0.host has hart0, uart");
    CHECK(why_unmatched("zzzzzz", paths) == "names begin with network, node0");
    CHECK(why_unmatched("node0.host.uart.sent.more", paths) == "node0.host.uart.sent has nothing below it");
    CHECK(why_unmatched("x", {}) == "there are none");
    CHECK(why_unmatched("", paths).find('\n') == std::string::npos);
}
