// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "abi/memory_map.h"
#include "platform/machine.h"
#include "platform/platform.h"
#include "temporary_folder.h"
#include "tiny_assembler.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;
using Catch::Matchers::Contains;
using fabricvp::test::temporary_folder;
using fabricvp::test::tiny_assembler;

namespace {

constexpr std::uint32_t silent_base = 0x10010000;

/// Accepts every access and never answers.
class silent_device final : public bus_target {
public:
    using bus_target::bus_target;

private:
    outcome access(bus_payload&, ticks&) override { return outcome::pending; }
    unsigned debug_access(bus_payload&) override { return 0; }
};

/// Keeps the calendar busy, so that the machine is not idle.
struct heartbeat {
    calendar& timeline;
    void beat() { timeline.schedule_in(event, 1_ms); }
    calendar_event event{method<&heartbeat::beat>, this};
};

}  // namespace

TEST_CASE("an access that is never answered ends the run and is named") {
    temporary_folder folder;
    tiny_assembler program;
    program.li(tiny_assembler::t0, silent_base);
    program.lbu(tiny_assembler::t1, tiny_assembler::t0, 4);
    auto p = platform::from_text("simulation: {watchdog: 100 ms}\nnode: {host: {memory: 16 MiB}}\n", "test");
    silent_device silent("silent");
    p->hardware().nodes[0]->host.bus.map("silent", silent_base, 0x1000, silent.bus);
    p->load_binary(0, folder.file("program.bin", program.binary()), VIRT_DRAM_BASE);

    // Nothing else happens: noticed at once.
    const auto result = p->run_until(10_s);
    CHECK(result.outcome == run_outcome::watchdog);
    CHECK_THAT(result.detail,
               Contains("node0.host.hart0") && Contains("node0.host.silent has not answered an access to 0x10010004"));

    // Something else goes on: noticed after the configured time.
    heartbeat heart{p->hardware().timeline};
    heart.beat();
    const auto began = p->now();
    const auto again = p->run_until(began + 10_s);
    CHECK(again.outcome == run_outcome::watchdog);
    CHECK(p->now() - began < 300_ms);
    CHECK_THAT(again.detail, Contains("watchdog: no instruction since 0.0") && Contains("node0.host.silent"));
}
