// SPDX-License-Identifier: Apache-2.0
// One machine through its life: a process elaborates once, so that this is one test with a story.
#include <catch2/catch.hpp>

#include "abi/memory_map.h"
#include "elf_builder.h"
#include "platform/common/input_error.h"
#include "platform/console/console.h"
#include "platform/machine.h"
#include "platform/platform.h"
#include "scripted_guest.h"
#include "temporary_folder.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;
using Catch::Matchers::Contains;
using fabricvp::test::contents_of;
using fabricvp::test::elf_builder;
using fabricvp::test::scripted_guest;
using fabricvp::test::temporary_folder;

TEST_CASE("the life of a machine") {
    temporary_folder folder;
    const auto program = scripted_guest();
    elf_builder elf(VIRT_DRAM_BASE);
    elf.add(VIRT_DRAM_BASE, program);
    const auto firmware = folder.file("obedient.elf", elf.build());
    const auto config = folder.file("m.yaml", "node:\n  images: {firmware: obedient.elf}\n  host: {memory: 16 MiB}\n");

    auto p = platform::from_config(config, {{"node.host.hart.clock", "500 MHz"}});
    REQUIRE(p->node_count() == 1);
    CHECK(p->hardware().nodes[0]->host.harts[0]->params.clock.hertz == 500'000'000);
    CHECK_THROWS_WITH(platform::from_text("nodes: 1\n", "x"), Contains("one process holds one platform"));

    auto result = p->run_until(1_ms);
    CHECK(result.outcome == run_outcome::time_limit);
    CHECK(p->now() == 1_ms);
    CHECK(p->serial(0).output() == "hi\n");

    // Images come from the folder of the configuration, and are in memory.
    std::string bytes(program.size(), '\0');
    CHECK(p->read_memory(0, VIRT_DRAM_BASE, bytes.data(), bytes.size()) == bytes.size());
    CHECK(bytes == program);
    CHECK(p->read_memory(0, 0x50, bytes.data(), 4) == 0);
    const char mark[] = "mark";
    CHECK(p->write_memory(0, VIRT_DRAM_BASE + 0x10000, mark, 4) == 4);

    // What is typed arrives, and conditions of the caller's end the run.
    p->serial(0).on_output([&](char c) {
        if (c == 'b') p->stop_with_event("saw b");
    });
    p->serial(0).type("ab");
    result = p->run_until(2_ms);
    CHECK(result.outcome == run_outcome::event);
    CHECK(result.detail == "saw b");
    CHECK(p->serial(0).output() == "hi\nab");
    CHECK(p->now() < 2_ms);

    // Services run between slices, and may stop the run.
    int polls = 0;
    p->add_service([&] {
        if (++polls == 3) p->request_stop();
    });
    result = p->run_until(5_ms);
    CHECK(result.outcome == run_outcome::interrupted);
    CHECK(polls == 3);
    CHECK(p->now() < 3_ms);

    // A guest that asks for a reset starts again, in freshly loaded memory.
    const char broken[] = "\xff\xff\xff\xff";
    p->write_memory(0, VIRT_DRAM_BASE, broken, 4);
    p->serial(0).type("r");
    result = p->run_until(5_ms);
    CHECK(result.outcome == run_outcome::time_limit);
    CHECK(p->serial(0).output() == "hi\nabhi\n");

    // A failure is an outcome with the guest's status.
    p->serial(0).type("f");
    result = p->run_until(6_ms);
    CHECK(result.outcome == run_outcome::guest_failure);
    CHECK(result.guest_status == 7);
    CHECK_THAT(result.detail, Contains("node0 reported failure 7"));

    p->reset();
    p->serial(0).type("q");
    result = p->run_until(never);
    CHECK(result.outcome == run_outcome::power_off);
    CHECK(p->serial(0).output() == "hi\nabhi\nhi\n");

    // A machine that waits for nothing: time passes up to a limit, and without one the run ends and says why.
    p->reset();
    p->serial(0).type("w");
    const auto later = p->now() + 5_s;
    result = p->run_until(later);
    CHECK(result.outcome == run_outcome::time_limit);
    CHECK(p->now() == later);
    result = p->run_until(never);
    CHECK(result.outcome == run_outcome::idle);
    CHECK_THAT(result.detail, Contains("node0.host.hart0") && Contains("pc 0x800000"));

    // Results.
    const auto out = folder.path / "out";
    p->write_results(out.string());
    CHECK_THAT(contents_of(out / "stats.json"),
               Contains("\"node0.host.hart0.instructions\": ") && Contains("\"sim.time_s\": "));
    CHECK(contents_of(out / "console.node0.log") == p->serial(0).output());
    CHECK_THAT(contents_of(out / "console.node0.input"), Contains(" 6162\n"));
    CHECK_THAT(contents_of(out / "config.resolved.yaml"), Contains("clock: 500 MHz") && Contains(firmware));
    CHECK(p->statistics().at("sim.instructions") > 100);
    CHECK(p->statistics().at("sim.events") > 10);

    // Bad images do no harm.
    CHECK_THROWS_AS(p->load_elf(0, config), input_error);
    CHECK_THROWS_AS(p->load_binary(0, firmware, 0x1000), input_error);
    CHECK_THROWS_AS(p->load_elf(3, firmware), input_error);
    CHECK(p->load_elf(0, firmware) == VIRT_DRAM_BASE);
}
