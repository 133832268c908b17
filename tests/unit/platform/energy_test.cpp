// SPDX-License-Identifier: Apache-2.0
// What a kind of device declares about its energy, and what the node's own blocks count, must match counters that are
// there.
#include <catch2/catch.hpp>

#include "child_process.h"
#include "pcie/copy_engine.h"
#include "pcie/device_kind.h"
#include "platform/common/input_error.h"
#include "platform/energy_meter.h"
#include "platform/machine.h"
#include "platform/params/device_params.h"
#include "platform/platform.h"

using namespace fabricvp;
using Catch::Matchers::Contains;

namespace {

void add_engine(const char* kind, const energy_activity& activity) {
    pcie::device_capabilities capabilities;
    capabilities.energy = {activity};
    pcie::add_device_kind(
        pcie::make_device_kind<pcie::copy_engine, pcie::copy_engine_params>(kind, "a metered copy engine"),
        capabilities);
}

/// A machine with such a device, in a process of its own. \returns why it is rejected, or "built"
std::string message_of(const std::string& kind) {
    return test::in_child([&]() -> std::string {
        try {
            platform::from_text("node: {pcie: {endpoints: [{kind: " + kind + ", name: engine}]}}", "m.yaml");
            return "built";
        } catch (const input_error& e) {
            return e.what();
        }
    });
}

constexpr const char* whole_node =
    "node:\n"
    "  host: {memory_timing: caches}\n"
    "  pcie: {switches: [{name: switch0}], endpoints: [{kind: copy_engine, name: engine, below: switch0}]}\n";

/// A second meter over a node that has all of the blocks, with other counters of its own blocks. \returns why it is
/// rejected, or "built"
std::string message_with(std::vector<energy_activity> node_energy::*which, const energy_activity& activity,
                         const char* yaml = whole_node) {
    return test::in_child([&]() -> std::string {
        const auto made = platform::from_text(yaml, "m.yaml");
        auto own = node_energy::standard();
        if (activity.term) (own.*which).back() = activity;
        try {
            const energy_meter again("again", {}, *made->hardware().nodes[0], own);
            return "built";
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
    });
}

/// The same where a node's own kind of device has declared something else.
std::string message_of_declared(const char* kind, const energy_activity& activity, const std::string& yaml) {
    return test::in_child([&]() -> std::string {
        register_device_kinds();
        auto& declared = const_cast<pcie::device_capabilities&>(pcie::capabilities_of(kind));
        declared.energy.push_back(activity);
        try {
            platform::from_text(yaml, "m.yaml");
            return "built";
        } catch (const input_error& e) {
            return e.what();
        }
    });
}

}  // namespace

TEST_CASE("counters of the node's own blocks exist") {
    CHECK(message_with(&node_energy::memory, {nullptr, "", ""}) == "built");
    const auto rejected = [](auto which, const energy_activity& misspelt, const std::string& message) {
        const auto said = message_with(which, misspelt);
        CHECK(said == message);
        CHECK(said.find('\n') == std::string::npos);
    };
    rejected(&node_energy::caches, {"host_l3", "", ".l3_hit"},
             "node0.host: energy: host_l3 counts by ….l3_hit, and the block has no such counter");
    rejected(&node_energy::memory, {"host_memory", "", ".byte_written"},
             "node0.host.dram: energy: host_memory counts by ….byte_written, and the block has no such counter");
    rejected(&node_energy::link, {"pcie", "", ".transmiter.bytes"},
             "node0.pcie.engine.link: energy: pcie counts by ….transmiter.bytes, and the block has no such counter");
    rejected(&node_energy::tree, {"pcie", "_prot", ".transmitter.bytes"},
             "node0.pcie: energy: pcie counts by _prot….transmitter.bytes, and the block has no such counter");
}

TEST_CASE("a block that a node lacks needs no counters") {
    CHECK(message_with(&node_energy::caches, {"host_l3", "", ".l3_hit"}, "node: {host: {harts: 1}}") == "built");
    CHECK(message_with(&node_energy::tree, {"pcie", "_prot", ".bytes"}, "node: {host: {harts: 1}}") == "built");
}

TEST_CASE("counters that GPUs and RDMA adapters declare exist") {
    const std::string gpu = "node: {pcie: {switches: [{name: s}]}, gpus: [{below: s, compute_units: 1}]}";
    CHECK_THAT(message_of_declared("gpu", {"gpu_l2", ".memory.l2.bank", ".raeds"}, gpu),
               Contains("node0.gpu0: energy: gpu_l2 counts by .memory.l2.bank….raeds, and the block has no"));
    CHECK(message_of_declared("gpu", {"gpu_l2", ".memory.l2.bank", ".reads"}, gpu) == "built");
    const std::string hca = "node: {pcie: {switches: [{name: s}]}, hcas: [{below: s}]}";
    CHECK_THAT(message_of_declared("hca", {"network", ".netwrok.", ".transmitter.bytes"}, hca),
               Contains("node0.hca0: energy: network counts by .netwrok.….transmitter.bytes, and the block has no"));
    CHECK(message_of_declared("hca", {"network", ".network.", ".transmitter.bytes"}, hca) == "built");
}

TEST_CASE("a declared counter that a device lacks is an error") {
    add_engine("misspelt", {"pcie", ".link.", ".transmitter.byte"});
    CHECK_THAT(message_of("misspelt"), Contains("node0.pcie.engine: energy: pcie counts by .link.….transmitter.byte"));
}

TEST_CASE("a declared term that the energy meter lacks is an error") {
    add_engine("unpriced", {"steam", ".link.", ".transmitter.bytes"});
    CHECK_THAT(message_of("unpriced"), Contains("there is no term steam (allowed: host_l2, host_l3"));
}

TEST_CASE("counters that a device has may be declared") {
    add_engine("metered", {"network", ".link.", ".transmitter.bytes"});
    CHECK(message_of("metered") == "built");
}
