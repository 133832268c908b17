// SPDX-License-Identifier: Apache-2.0
// What a kind of device declares about its energy must match counters that it has.
#include <catch2/catch.hpp>

#include "child_process.h"
#include "pcie/copy_engine.h"
#include "pcie/device_kind.h"
#include "platform/common/input_error.h"
#include "platform/machine.h"
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

}  // namespace

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
