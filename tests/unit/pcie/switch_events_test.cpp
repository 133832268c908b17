// SPDX-License-Identifier: Apache-2.0
// What a switch's ports send by themselves: interrupts of slot events, error messages, and resets of what lies below.
#include <catch2/catch.hpp>

#include "cs_storm_bench.h"

using namespace fabricvp;
using namespace fabricvp::pcie;
using test::cs_storm_bench;

namespace {

constexpr ticks us = 1'000'000;

struct event_bench {
    calendar timeline;
    cs_storm_bench machine{"bench", {}, 64};

    void run(ticks time) { timeline.run_until(timeline.now() + time); }
    void apply(fault& f) {
        f.order()->apply();
        run(300 * us);
    }
    /// Everything plugged in, up and numbered.
    void recover() {
        run(200 * us);
        machine.enumerate();
        for (const auto& e : machine.engines) REQUIRE(e->link.up());
    }
    unsigned lines() const {
        unsigned set = 0;
        for (unsigned i = 0; i < 4; ++i) set |= static_cast<unsigned>(machine.root.intx[i].level()) << i;
        return set;
    }
    std::uint32_t host_word(std::uint64_t at) const {
        std::uint32_t word = 0;
        machine.memory.bytes.read(at, &word, 4);
        return word;
    }
};

event_bench& bench() {
    static auto* b = new event_bench;  // SystemC elaborates once a process
    return *b;
}

/// A port's registers, as its driver sees them.
struct registers {
    configuration_space& space;
    std::size_t express_at = space.find_capability(express_id), msi_at = space.find_capability(msi_id),
                aer_at = space.find_extended_capability(aer_id);

    explicit registers(bridge& b) : space(b.space) {}
    void slot_control(std::uint64_t value) { space.write(express_at + express::slot_control, 2, value); }
    void clear_slot_status() { space.write(express_at + express::slot_status, 2, 0x1ff); }
    void clear_errors() { space.write(aer_at + aer::uncorrectable_status, 4, 0xffffffff); }
};

constexpr std::uint64_t hot_plug_interrupt = 0x20, presence_changed = 0x8, link_changed = 0x1000;

}  // namespace

TEST_CASE("a slot of a switch interrupts by INTA, which bridges on the way swizzle") {
    auto& b = bench();
    auto& engine = *b.machine.engines[1];
    registers slot(*b.machine.boards[0]->downstream[1]);
    slot.clear_slot_status();
    slot.slot_control(hot_plug_interrupt | presence_changed);
    CHECK(b.lines() == 0);
    b.apply(engine.surprise_removal);
    // Device 1 on the board's bus, device 0 on the socket's, device 1 on bus 0: INTA is B, B, C.
    CHECK(b.lines() == 1u << 2);
    CHECK(slot.space.read(0x06, 2) & 0x8);
    slot.clear_slot_status();
    b.run(10 * us);
    CHECK(b.lines() == 0);
    CHECK_FALSE(slot.space.read(0x06, 2) & 0x8);
    // The device comes back; the command register keeps the line quiet.
    slot.space.write(0x04, 2, 0x406);
    b.apply(engine.insertion);
    CHECK(b.lines() == 0);
    slot.space.write(0x04, 2, 0x006);
    b.run(10 * us);
    CHECK(b.lines() == 1u << 2);
    slot.slot_control(0);
    b.run(10 * us);
    CHECK(b.lines() == 0);
    b.recover();
}

TEST_CASE("a slot of a switch interrupts by a message, once for what has not been seen") {
    auto& b = bench();
    auto& engine = *b.machine.engines[6];
    registers slot(*b.machine.boards[3]->downstream[0]);
    slot.clear_slot_status();
    slot.space.write(slot.msi_at + 4, 4, 0x6000);
    slot.space.write(slot.msi_at + 12, 2, 0x1234);
    slot.space.write(slot.msi_at + 2, 2, 1);
    slot.slot_control(hot_plug_interrupt | link_changed);
    const auto clear = [&] { b.machine.memory.bytes.fill(0x6000, 0, 4); };
    clear();
    b.apply(engine.surprise_removal);
    CHECK(b.host_word(0x6000) == 0x1234);
    CHECK(b.lines() == 0);
    clear();
    b.apply(engine.insertion);
    CHECK(engine.link.up());
    CHECK(b.host_word(0x6000) == 0);  // the same event
    slot.clear_slot_status();
    // Unless the port and the switch's upstream port are bus masters, there is no write.
    for (auto* space : {&slot.space, &b.machine.boards[3]->upstream.space}) {
        clear();
        space->write(0x04, 2, 0x002);
        b.apply(engine.surprise_removal);
        CHECK(b.host_word(0x6000) == 0);
        slot.clear_slot_status();
        space->write(0x04, 2, 0x006);
        b.apply(engine.insertion);
        CHECK(b.host_word(0x6000) == 0x1234);
        slot.clear_slot_status();
    }
    slot.space.write(slot.msi_at + 2, 2, 0);
    slot.slot_control(0);
    slot.clear_slot_status();
    b.recover();
}

TEST_CASE("errors that a switch's port finds itself reach the root port under the port's name") {
    auto& b = bench();
    auto& machine = b.machine;
    auto& board = *machine.boards[2];
    auto& port = *machine.root.bridges[1];
    registers slot(*board.downstream[0]), root(port), upstream(board.upstream);
    const auto report_errors = [&] {
        for (auto* bridge : {&port, &machine.sockets[1]->upstream, machine.sockets[1]->downstream[0].get(),
                             &board.upstream, board.downstream[0].get(), board.downstream[1].get()}) {
            bridge->space.set_bits(0x3e, 2, 0x0002);
            bridge->space.set_bits(0x04, 2, 0x0100);
        }
    };
    report_errors();
    slot.clear_errors();
    const auto status = [&] { return root.space.read(root.aer_at + aer::root_status, 4) & 0x7f; };
    root.space.write(root.aer_at + aer::root_status, 4, 0x7f);
    REQUIRE(status() == 0);

    // A device that goes where none may be pulled out: fatal.
    b.apply(machine.engines[4]->surprise_removal);
    CHECK(slot.space.read(slot.aer_at + aer::uncorrectable_status, 4) == aer::surprise_down);
    CHECK(status() == 0x54);
    CHECK(root.space.read(root.aer_at + aer::error_source + 2, 2) == board.upstream.secondary() << 8);
    CHECK(slot.space.read(0x06, 2) & 0x4000);      // signalled a system error
    CHECK(upstream.space.read(0x1e, 2) & 0x4000);  // received one
    root.space.write(root.aer_at + aer::root_status, 4, 0x7f);
    slot.clear_errors();
    b.apply(machine.engines[4]->insertion);
    b.recover();
    report_errors();
    root.space.write(root.aer_at + aer::root_status, 4, 0x7f);

    // Its neighbour asks for what lies in the switch's window and behind no port: the port that it came by says so.
    slot.clear_errors();
    registers second(*board.downstream[1]);
    second.clear_errors();
    board.downstream[0]->space.set(0x2c, 4, 0);  // closed
    board.downstream[0]->space.set(0x28, 4, 0xffffffff);
    auto data = allocate_slice(4);
    machine.engines[5]->dma.write(cs_storm_bench::engine_base(4), data);
    b.run(20 * us);
    CHECK(second.space.read(second.aer_at + aer::uncorrectable_status, 4) == aer::unsupported_request);
    CHECK(status() == 0x24);
    CHECK(root.space.read(root.aer_at + aer::error_source + 2, 2) == (board.upstream.secondary() << 8 | 1 << 3));
    auto result = request_status::ok;
    machine.engines[5]->dma.read(cs_storm_bench::engine_base(4), data, [&](request_status s) { result = s; });
    b.run(20 * us);
    CHECK(result == request_status::unsupported_request);

    // From above, such a request is the upstream port's.
    upstream.clear_errors();
    root.space.write(root.aer_at + aer::root_status, 4, 0x7f);
    machine.engines[0]->dma.write(cs_storm_bench::engine_base(4), data);
    b.run(20 * us);
    CHECK(upstream.space.read(upstream.aer_at + aer::uncorrectable_status, 4) == aer::unsupported_request);
    CHECK(root.space.read(root.aer_at + aer::error_source + 2, 2) == board.upstream.primary() << 8);
    CHECK(status() == 0x24);
    root.space.write(root.aer_at + aer::root_status, 4, 0x7f);
    b.recover();
}

TEST_CASE("a bus reset by the upstream port resets the ports below, and holds their links") {
    auto& b = bench();
    auto& board = *b.machine.boards[1];
    const auto secondary = board.upstream.secondary();
    board.downstream[0]->space.set(0x3c, 1, 0x55);
    board.upstream.space.write(0x3e, 2, 0x0040);
    CHECK(board.upstream.secondary() == secondary);  // its own registers stay
    CHECK(board.downstream[0]->secondary() == 0);
    CHECK(board.downstream[0]->space.read(0x3c, 1) == 0);
    b.run(500 * us);
    CHECK_FALSE(b.machine.engines[2]->link.up());
    CHECK_FALSE(b.machine.engines[3]->link.up());
    CHECK(b.machine.engines[0]->link.up());
    board.upstream.space.write(0x3e, 2, 0);
    b.recover();
    auto data = allocate_slice(4);
    std::memset(b.machine.engines[3]->memory.data(), 0x2d, 4);
    b.machine.engines[2]->dma.read(cs_storm_bench::engine_base(3), data, {});
    b.run(20 * us);
    CHECK(data.data()[3] == 0x2d);
}
