// SPDX-License-Identifier: Apache-2.0
// Three nodes that end, fail and start again on their own; a process elaborates once, so that this is one test.
#include <catch2/catch.hpp>

#include "abi/memory_map.h"
#include "elf_builder.h"
#include "platform/console/console.h"
#include "platform/machine.h"
#include "platform/platform.h"
#include "scripted_guest.h"
#include "temporary_folder.h"

using namespace fabricvp;
using namespace fabricvp::time_literals;

TEST_CASE("nodes end and begin again on their own") {
    test::temporary_folder folder;
    test::elf_builder elf(VIRT_DRAM_BASE);
    elf.add(VIRT_DRAM_BASE, test::scripted_guest());
    folder.file("obedient.elf", elf.build());
    const auto config = folder.file("m.yaml",
                                    "node:\n  images: {firmware: obedient.elf}\n  host: {memory: 16 MiB}\n"
                                    "nodes:\n  - {}\n  -\n  - host: {hart: {clock: 500 MHz}}\n");
    auto p = platform::from_config(config);
    REQUIRE(p->node_count() == 3);
    auto hart = [&](std::size_t node) -> riscv::hart& { return *p->hardware().nodes[node]->host.harts[0]; };
    auto printed = [&](std::size_t node) { return p->serial(node).output(); };
    CHECK(hart(2).params.clock.hertz == 500'000'000);

    CHECK(p->run_until(1_ms).outcome == run_outcome::time_limit);
    for (std::size_t i = 0; i < 3; ++i) CHECK(p->outcome(i).state == node_state::running);
    CHECK(p->failure_message().empty());

    // A reset that node 1 asks for is its own: the others keep what they know and where they are.
    const char mark[] = "mark";
    for (std::size_t i = 0; i < 3; ++i) p->write_memory(i, VIRT_DRAM_BASE, mark, 4);
    p->serial(1).type("r");
    p->run_until(2_ms);
    CHECK(printed(0) == "hi\n");
    CHECK(printed(1) == "hi\nhi\n");
    CHECK(printed(2) == "hi\n");
    char there[4];
    p->read_memory(0, VIRT_DRAM_BASE, there, 4);
    CHECK(std::string(there, 4) == "mark");
    p->read_memory(1, VIRT_DRAM_BASE, there, 4);
    CHECK(std::string(there, 4) != "mark");

    // A node that powers off rests, with its registers; the others run on.
    p->serial(0).type("q");
    auto result = p->run_until(3_ms);
    CHECK(result.outcome == run_outcome::time_limit);
    CHECK(p->outcome(0).state == node_state::powered_off);
    CHECK(p->outcome(0).detail == "node0 powered off");
    CHECK(p->outcome(0).at > 2_ms);
    CHECK(p->outcome(0).at < 3_ms);
    CHECK(hart(0).halted());
    CHECK(hart(0).x(10) == VIRT_UART_BASE);
    const auto rested = hart(0).instructions.total(), ran = hart(2).instructions.total();
    p->serial(0).type("x");
    p->run_until(4_ms);
    CHECK(hart(0).instructions.total() == rested);
    CHECK(hart(2).instructions.total() > ran);
    CHECK(printed(0) == "hi\n");

    // One that fails, too; a run that only a time limit ends can be told that it has.
    p->serial(1).type("f");
    result = p->run_until(5_ms);
    CHECK(result.outcome == run_outcome::time_limit);
    CHECK(p->outcome(1).state == node_state::failed);
    CHECK(p->outcome(1).status == 7);
    CHECK(p->failure_message() == "node1 reported failure 7");

    // Power-on reset of a node, from outside.
    p->reset(0);
    CHECK(p->outcome(0).state == node_state::running);
    p->run_until(6_ms);
    CHECK(printed(0) == "hi\nhi\n");
    CHECK(p->outcome(1).state == node_state::failed);

    // The machine ends with the last of them.
    p->serial(2).type("q");
    CHECK(p->run_until(7_ms).outcome == run_outcome::time_limit);
    p->serial(0).type("q");
    result = p->run_until(never);
    CHECK(result.outcome == run_outcome::guest_failure);
    CHECK(result.guest_status == 7);
    CHECK(result.detail == "node1 reported failure 7; node0 powered off; node2 powered off");
    const auto end = p->now();
    CHECK(p->run_until(never).outcome == run_outcome::guest_failure);
    CHECK(p->now() == end);

    p->reset();
    for (std::size_t i = 0; i < 3; ++i) p->serial(i).type("q");
    result = p->run_until(never);
    CHECK(result.outcome == run_outcome::power_off);
    CHECK(result.detail == "node0 powered off; node1 powered off; node2 powered off");
}
