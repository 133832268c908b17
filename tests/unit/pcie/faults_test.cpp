// SPDX-License-Identifier: Apache-2.0
// Resets, links that fail, and what the error registers say about it. One bench for all, put right after each case.
#include <catch2/catch.hpp>

#include "base/log.h"
#include "cs_storm_bench.h"

using namespace fabricvp;
using namespace fabricvp::pcie;
using test::cs_storm_bench;

namespace {

constexpr ticks us = 1'000'000;

struct fault_bench {
    calendar timeline;
    cs_storm_bench machine;

    fault_bench() : machine("bench", {}, 64, requester()) {}

    static requester_params requester() {
        requester_params r;
        r.completion_timeout = {100 * us};
        return r;
    }
    void run(ticks time) { timeline.run_until(timeline.now() + time); }

    std::pair<request_status, std::uint32_t> configure(std::uint64_t offset, bool write, std::uint32_t value,
                                                       unsigned bytes, ticks max_wait = 50 * us) {
        auto data = allocate_slice(bytes);
        std::memcpy(data.data(), &value, bytes);
        auto status = std::make_shared<request_status>(request_status::timeout);
        machine.root.host_configuration(offset, write, data, [status](request_status s) { *status = s; });
        run(max_wait);
        std::uint32_t read = 0;
        std::memcpy(&read, data.data(), bytes);
        return {*status, read};
    }
    /// ECAM offset of an engine's register.
    std::uint64_t at(unsigned engine, std::uint64_t reg) const {
        const auto& board = *machine.boards[engine / 2];
        return std::uint64_t{board.downstream[engine % 2]->secondary()} << 20 | reg;
    }
    template <class Arguments = no_fault_arguments>
    void inject(fault& f, const char* name = nullptr, const char* value = nullptr) {
        struct setter final : parameter_visitor {
            const char *name, *value;
            void visit(parameter& p) override {
                if (name && std::string(name) == p.name) p.parse(value);
            }
            bool enter(const char*, const char*) override { return true; }
            void leave() override {}
            std::size_t enter_list(const char*, const char*, std::size_t size) override { return size; }
            void enter_item(std::size_t) override {}
            void leave_list() override {}
        } set;
        set.name = name;
        set.value = value;
        auto order = f.order();
        order->describe(set);
        order->apply();
    }
    /// Everything up, numbered and quiet again.
    void recover() {
        run(200 * us);
        machine.enumerate();
        for (unsigned e = 0; e < 8; ++e) REQUIRE(machine.engines[e]->link.up());
    }
    std::uint64_t aer_of(const configuration_space& s, std::size_t reg) {
        return s.get(s.find_extended_capability(aer_id) + reg, 4);
    }
    std::uint64_t express_of(const configuration_space& s, std::size_t reg) {
        return s.get(s.find_capability(express_id) + reg, 2);
    }
};

fault_bench& bench() {
    static auto* b = new fault_bench;  // SystemC elaborates once a process
    return *b;
}

}  // namespace

TEST_CASE("secondary bus reset takes everything below with it, and what was under way there ends") {
    auto& b = bench();
    auto& machine = b.machine;
    auto& victim = *machine.engines[5];
    victim.config.space.set(0x3c, 1, 0x77);
    auto data = allocate_slice(64 << 10);
    unsigned called = 0;
    victim.dma.read(cs_storm_bench::engine_base(4), data, [&](request_status) { ++called; });
    auto status = request_status::ok;
    auto nothing = allocate_slice(4);
    machine.engines[4]->dma.read(cs_storm_bench::engine_base(5), nothing, [&](request_status s) { status = s; });
    const auto control = std::uint64_t{machine.boards[2]->upstream.secondary()} << 20 | 1 << 15 | 0x3e;
    b.run(us / 2);
    CHECK(b.configure(control, true, 0x0040, 2).first == request_status::ok);
    CHECK_FALSE(victim.link.up());
    CHECK(victim.dma.outstanding() == 0);
    CHECK(victim.config.space.read(0x3c, 1) == 0);
    CHECK(b.configure(b.at(5, 0), false, 0, 4).second == 0xffffffff);
    b.run(200 * us);
    CHECK_FALSE(victim.link.up());  // as long as the bit is set
    CHECK(b.configure(control, true, 0, 2).first == request_status::ok);
    b.run(100 * us);
    CHECK(victim.link.up());
    CHECK(b.configure(b.at(5, 0), false, 0, 4).second == 0x1f00fab0);
    CHECK(called == 0);  // the device forgot its own requests
    CHECK(b.express_of(machine.boards[2]->downstream[1]->space, express::slot_status) & 0x100);
    CHECK(b.aer_of(machine.boards[2]->downstream[1]->space, aer::uncorrectable_status) ==
          0);  // software did it: no surprise

    // One level higher: a whole board, its bridges' registers included.
    const auto higher = std::uint64_t{machine.sockets[1]->upstream.secondary()} << 20 | 0 << 15 | 0x3e;
    CHECK(b.configure(higher, true, 0x0040, 2).first == request_status::ok);
    CHECK(machine.boards[2]->upstream.secondary() == 0);
    CHECK_FALSE(machine.engines[4]->link.up());
    CHECK_FALSE(machine.engines[5]->link.up());
    CHECK(machine.engines[6]->link.up());
    CHECK(b.configure(higher, true, 0, 2).first == request_status::ok);
    b.recover();
    auto again = allocate_slice(4096);
    std::memset(machine.engines[4]->memory.data(), 0x3c, 4096);
    victim.dma.read(cs_storm_bench::engine_base(4), again, [&](request_status s) { status = s; });
    b.run(50 * us);
    CHECK(status == request_status::ok);
    CHECK(again.data()[4095] == 0x3c);
}

TEST_CASE("a function that is not ready answers with a retry status") {
    auto& b = bench();
    auto& root = b.machine.root;
    auto& engine = *b.machine.engines[0];
    const auto control = root.bridges[0]->space.find_capability(express_id) + express::root_control;

    b.inject(engine.not_ready, "lasting", "300 us");
    const auto before = root.configuration_retries.value();
    CHECK(b.configure(b.at(0, 0), false, 0, 4, 100 * us).first == request_status::timeout);  // still trying
    CHECK(root.configuration_retries.value() > before + 5);
    b.run(400 * us);

    b.inject(engine.not_ready, "lasting", "300 us");
    auto word = allocate_slice(4);
    ticks answered = 0;
    const auto begin = b.timeline.now();
    root.host_configuration(b.at(0, 0), false, word, [&](request_status) { answered = b.timeline.now() - begin; });
    b.run(400 * us);
    CHECK(answered >= 300 * us);
    CHECK(answered < 320 * us);
    std::uint32_t id = 0;
    std::memcpy(&id, word.data(), 4);
    CHECK(id == 0x1f00fab0);

    root.bridges[0]->space.set(control, 2, 0x10);  // CRS software visibility
    b.inject(engine.not_ready, "lasting", "100 us");
    CHECK(b.configure(b.at(0, 0), false, 0, 4).second == 0xffff0001);
    b.run(100 * us);
    CHECK(b.configure(b.at(0, 0), false, 0, 4).second == 0x1f00fab0);
    root.bridges[0]->space.set(control, 2, 0);
}

TEST_CASE("errors are recorded by severity and mask, and travel to the root port, which interrupts") {
    auto& b = bench();
    auto& machine = b.machine;
    auto& engine = *machine.engines[1];
    auto& port = *machine.root.bridges[0];
    auto& space = engine.config.space;
    const auto aer_at = space.find_extended_capability(aer_id), express_at = space.find_capability(express_id);
    const auto root_aer = port.space.find_extended_capability(aer_id);
    for (auto* bridge : {&port, &machine.sockets[0]->upstream, machine.sockets[0]->downstream[0].get(),
                         &machine.boards[0]->upstream, machine.boards[0]->downstream[1].get()}) {
        bridge->space.set_bits(0x3e, 2, 0x0002);
        bridge->space.set_bits(0x04, 2, 0x0100);
    }
    space.set(aer_at + aer::uncorrectable_status, 4, 0);
    port.space.set(root_aer + aer::root_status, 4, 0);

    // A poisoned write from engine 0: non-fatal, its header kept.
    space.set(express_at + express::device_control, 2, 0x281f);
    auto data = allocate_slice(4);
    machine.engines[0]->dma.write(cs_storm_bench::engine_base(1) + 0x100, data, true);
    b.run(10 * us);
    CHECK(space.read(aer_at + aer::uncorrectable_status, 4) == aer::poisoned);
    CHECK((space.read(aer_at + aer::capabilities, 4) & 0x1f) == 12);
    CHECK(space.read(aer_at + aer::header_log, 4) ==
          0x60006001);  // 4 DW header, memory write, EP, relaxed, one double word
    CHECK(space.read(aer_at + aer::header_log + 4, 4) >> 16 == machine.engines[0]->dma.id);
    CHECK(space.read(aer_at + aer::header_log + 12, 4) == (cs_storm_bench::engine_base(1) & 0xffffffff) + 0x100);
    CHECK((b.express_of(space, express::device_status) & 0xf) == 0x2);
    CHECK(port.space.read(root_aer + aer::root_status, 4) == 0x24);  // an uncorrectable one, non-fatal
    CHECK(port.space.read(root_aer + aer::error_source + 2, 2) == engine.dma.id);

    // A second one: "multiple"; the first header stays. Clearing the first pointer's bit lets the next one in.
    machine.engines[0]->dma.write(cs_storm_bench::engine_base(1) + 0x200, data, true);
    b.run(10 * us);
    CHECK(port.space.read(root_aer + aer::root_status, 4) == 0x2c);
    CHECK(space.read(aer_at + aer::header_log + 12, 4) == (cs_storm_bench::engine_base(1) & 0xffffffff) + 0x100);
    space.write(aer_at + aer::uncorrectable_status, 4, aer::poisoned);
    port.space.write(root_aer + aer::root_status, 4, 0x7f);
    CHECK(port.space.read(root_aer + aer::root_status, 4) == 0);

    // Masked: the status bit, no message.
    space.write(aer_at + aer::uncorrectable_mask, 4, aer::poisoned);
    machine.engines[0]->dma.write(cs_storm_bench::engine_base(1) + 0x300, data, true);
    b.run(10 * us);
    CHECK(space.read(aer_at + aer::uncorrectable_status, 4) == aer::poisoned);
    CHECK(port.space.read(root_aer + aer::root_status, 4) == 0);
    space.write(aer_at + aer::uncorrectable_mask, 4, 0);
    space.write(aer_at + aer::uncorrectable_status, 4, aer::poisoned);

    // Fatal by severity, with INTA of the root port as software asked; gone when the status is cleared.
    space.write(aer_at + aer::uncorrectable_severity, 4, aer::poisoned);
    port.space.write(root_aer + aer::root_command, 4, 0x7);
    machine.engines[0]->dma.write(cs_storm_bench::engine_base(1) + 0x300, data, true);
    b.run(10 * us);
    CHECK(port.space.read(root_aer + aer::root_status, 4) == 0x54);
    CHECK(machine.root.intx[1].level());  // INTA of device 1
    port.space.write(root_aer + aer::root_status, 4, 0x7f);
    CHECK_FALSE(machine.root.intx[1].level());

    // Root Control makes system errors of them, as often as a device likes: the first one is logged.
    const auto root_control = port.space.find_capability(express_id) + express::root_control;
    unsigned told = 0;
    const auto sink = set_log_sink([&](log_level, const std::string&, const std::string&) { ++told; });
    port.space.set(root_control, 2, 0x4);
    for (int i = 0; i < 100; ++i) {
        space.write(aer_at + aer::uncorrectable_status, 4, aer::poisoned);
        machine.engines[0]->dma.write(cs_storm_bench::engine_base(1) + 0x300, data, true);
        b.run(10 * us);
    }
    port.space.set(root_control, 2, 0);
    set_log_sink(sink);
    CHECK(machine.root.system_errors.total() == 100);
    CHECK(told == 1);
    port.space.write(root_aer + aer::root_status, 4, 0x7f);

    // A refused read is the requester's business: advisory, a correctable error at the device.
    space.write(aer_at + aer::correctable_mask, 4, 0);
    space.write(aer_at + aer::uncorrectable_status, 4, 0xffffffff);
    const auto msi = port.space.find_capability(msi_id);
    port.space.write(msi + 4, 4, 0x50000);
    port.space.write(msi + 12, 2, 0x4242);
    port.space.write(msi + 2, 2, 1);
    space.set(0x04, 2, 0x4);  // memory space off
    auto status = request_status::ok;
    machine.engines[0]->dma.read(cs_storm_bench::engine_base(1), data, [&](request_status s) { status = s; });
    b.run(10 * us);
    CHECK(status == request_status::unsupported_request);
    CHECK(space.read(aer_at + aer::uncorrectable_status, 4) == aer::unsupported_request);
    CHECK(space.read(aer_at + aer::correctable_status, 4) == aer::advisory);
    CHECK(port.space.read(root_aer + aer::root_status, 4) == 0x01);
    CHECK(port.space.read(root_aer + aer::error_source, 2) == engine.dma.id);
    std::uint32_t message = 0;
    machine.memory.bytes.read(0x50000, &message, 4);
    CHECK(message == 0x4242);
    CHECK_FALSE(machine.root.intx[1].level());
    port.space.write(msi + 2, 2, 0);
    port.space.write(root_aer + aer::root_status, 4, 0x7f);

    // Where a bridge on the way does not pass errors on, none arrives.
    space.write(aer_at + aer::uncorrectable_status, 4, 0xffffffff);
    machine.sockets[0]->downstream[0]->space.clear_bits(0x3e, 2, 0x0002);
    machine.engines[0]->dma.read(cs_storm_bench::engine_base(1), data, {});
    b.run(10 * us);
    CHECK(port.space.read(root_aer + aer::root_status, 4) == 0);
    // Repeated requests fill no log: each place logs the first, and counts.
    unsigned lines = 0;
    const auto old = set_log_sink([&](log_level, const std::string&, const std::string&) { ++lines; });
    const auto refused_by_root = machine.root.unsupported.total();
    const auto command = port.space.get(0x04, 2);
    port.space.set(0x04, 2, command & ~0x4u);  // no bus master
    for (int i = 0; i < 2000; ++i) {
        machine.engines[0]->dma.read(cs_storm_bench::engine_base(1), data, {});
        machine.engines[0]->dma.read(0x50000, data, {});
        b.run(10 * us);
    }
    set_log_sink(old);
    CHECK(engine.unsupported.total() >= 2000);
    CHECK(machine.root.unsupported.total() >= refused_by_root + 2000);
    CHECK(lines <= 2);
    port.space.set(0x04, 2, command);
    space.write(aer_at + aer::uncorrectable_severity, 4, 0x00462030);
    b.recover();
}

TEST_CASE("a device is pulled out and plugged in again") {
    auto& b = bench();
    auto& machine = b.machine;
    auto& engine = *machine.engines[2];
    auto& slot = *machine.boards[1]->downstream[0];
    slot.space.write(slot.space.find_extended_capability(aer_id) + aer::uncorrectable_status, 4, 0xffffffff);
    slot.space.write(slot.space.find_capability(express_id) + express::slot_status, 2, 0x1ff);
    std::memset(machine.engines[3]->memory.data(), 0x11, 1 << 20);
    bool handed_over = false;
    machine.engines[3]->push(0, cs_storm_bench::engine_base(2), 1 << 20, [&] { handed_over = true; });
    auto status = request_status::ok;
    auto data = allocate_slice(1 << 20);
    machine.engines[3]->dma.read(cs_storm_bench::engine_base(2), data, [&](request_status s) { status = s; });
    b.run(20 * us);
    b.inject(engine.surprise_removal);
    b.run(300 * us);
    CHECK_FALSE(engine.link.up());
    CHECK(status != request_status::ok);  // whatever was still to come ended as unsupported request or time-out
    CHECK(handed_over);                   // and nothing hangs
    CHECK(machine.engines[3]->dma.outstanding() == 0);
    CHECK((b.express_of(slot.space, express::slot_status) & 0x148) == 0x108);  // gone; presence and link state changed
    CHECK_FALSE(b.express_of(slot.space, express::link_status) & 0x2000);
    CHECK(b.aer_of(slot.space, aer::uncorrectable_status) == aer::surprise_down);  // this slot is not for pulling out
    CHECK(b.configure(b.at(2, 0), false, 0, 4).second == 0xffffffff);
    b.inject(engine.link.faults.retrain);  // no partner to train with
    b.run(100 * us);
    CHECK_FALSE(engine.link.up());

    b.inject(engine.insertion);
    b.recover();
    CHECK((b.express_of(slot.space, express::slot_status) & 0x148) == 0x148);
    CHECK(b.express_of(slot.space, express::link_status) & 0x2000);
    // All credits are there again: the same transfer ends well.
    machine.engines[3]->push(0, cs_storm_bench::engine_base(2), 1 << 20, {});
    b.run(400 * us);
    CHECK(std::memcmp(engine.memory.data(), machine.engines[3]->memory.data(), 1 << 20) == 0);
}

TEST_CASE("a link trains with fewer lanes and more slowly, by fault or by software") {
    auto& b = bench();
    auto& machine = b.machine;
    auto& engine = *machine.engines[6];
    const auto time_of = [&] {
        ticks done = 0;
        const auto begin = b.timeline.now();
        engine.push(0, cs_storm_bench::engine_base(7), 256 << 10, [&] { done = b.timeline.now(); });
        b.run(2000 * us);
        REQUIRE(done > begin);
        return static_cast<double>(done - begin);
    };
    const auto status = [&] { return b.express_of(engine.config.space, express::link_status) & 0x3ff; };
    CHECK(status() == (16 << 4 | 3));
    const auto full = time_of();
    b.inject(engine.link.faults.retrain, "lanes", "4");
    b.run(100 * us);
    CHECK(status() == (4 << 4 | 3));
    CHECK(time_of() == Approx(4 * full).epsilon(0.1));
    b.inject(engine.link.faults.retrain);
    b.run(100 * us);
    // Software: target speed 1, retrain link.
    auto& above = *machine.boards[3]->downstream[0];
    const auto express_at = above.space.find_capability(express_id);
    above.space.write(express_at + express::link_control_2, 2, 1);
    above.space.write(express_at + express::link_control, 2, 0x20);
    CHECK(b.express_of(above.space, express::link_status) & 0x0800);  // training
    b.run(100 * us);
    CHECK_FALSE(b.express_of(above.space, express::link_status) & 0x0800);
    CHECK(b.express_of(above.space, express::link_control) == 0);
    CHECK(status() == (16 << 4 | 1));
    CHECK(time_of() == Approx(3.94 * full).epsilon(0.1));
    above.space.write(express_at + express::link_control_2, 2, 3);
    above.space.write(express_at + express::link_control, 2, 0x20);
    b.run(100 * us);
    CHECK(status() == (16 << 4 | 3));
    CHECK(machine.engines[7]->link.up());
    // Link disable.
    above.space.write(express_at + express::link_control, 2, 0x10);
    CHECK_FALSE(engine.link.up());
    above.space.write(express_at + express::link_control, 2, 0);
    b.recover();
}

TEST_CASE("bit errors are replayed, counted by both ends, and end a link that cannot be used") {
    auto& b = bench();
    auto& machine = b.machine;
    auto& engine = *machine.engines[0];
    std::memset(engine.memory.data(), 0x77, 64 << 10);
    b.inject(engine.link.faults.bit_errors, "rate", "1e-4");
    engine.push(0, cs_storm_bench::engine_base(3), 64 << 10, {});
    b.run(1000 * us);
    CHECK(engine.link.transmitter.replays.value() > 10);
    CHECK(std::memcmp(engine.memory.data(), machine.engines[3]->memory.data(), 64 << 10) == 0);
    CHECK(b.aer_of(machine.boards[0]->downstream[0]->space, aer::correctable_status) & aer::bad_tlp);
    const auto downs = engine.link.link_downs.value();
    b.inject(engine.link.faults.bit_errors, "rate", "1e-3");
    engine.push(0, cs_storm_bench::engine_base(3), 1 << 20, {});
    b.run(20000 * us);
    CHECK(b.aer_of(engine.config.space, aer::correctable_status) & aer::replay_rollover);
    b.inject(engine.link.faults.bit_errors, "rate", "0");
    INFO("went down " << engine.link.link_downs.value() - downs << " times");
    b.recover();
}

TEST_CASE("completions are lost and poisoned; tags of lost ones do not meet late completions") {
    auto& b = bench();
    auto& machine = b.machine;
    auto& reader = *machine.engines[0];
    auto& other = *machine.engines[4];
    for (unsigned i = 0; i < 8192; ++i) other.memory.data()[i] = static_cast<std::uint8_t>(i * 7 + 1);
    const auto read = [&](buffer_slice into) {
        auto status = std::make_shared<request_status>(request_status::ok);
        std::memset(into.data(), 0, into.length);
        reader.dma.read(cs_storm_bench::engine_base(4), into, [status](request_status s) { *status = s; });
        b.run(250 * us);
        return *status;
    };
    auto data = allocate_slice(8192);
    b.inject(other.link.faults.drop, "count", "2");
    const auto timeouts = reader.dma.timeouts.value();
    CHECK(read(data) == request_status::timeout);
    CHECK(reader.dma.timeouts.value() == timeouts + 1);  // both were of one request
    CHECK(b.aer_of(reader.config.space, aer::uncorrectable_status) & aer::completion_timeout);
    CHECK(read(data) == request_status::ok);
    CHECK(std::memcmp(data.data(), other.memory.data(), 8192) == 0);
    b.inject(other.link.faults.poison, "flow", "completion");
    CHECK(read(data) == request_status::poisoned);
    CHECK(read(data) == request_status::ok);

    // The way back is so slow that a request times out; what comes late must not end up in the next one's buffer.
    b.inject(other.link.faults.retrain, "lanes", "1");
    auto big = allocate_slice(512 << 10);
    auto status = request_status::ok;
    reader.dma.read(cs_storm_bench::engine_base(4), big, [&](request_status s) { status = s; });
    b.run(110 * us);
    for (unsigned round = 0; round < 20; ++round) {
        auto small = allocate_slice(64);
        auto done = request_status::timeout;
        reader.dma.read(cs_storm_bench::engine_base(4) + 640 + 64 * round, small, [&](request_status s) { done = s; });
        b.run(60 * us);
        if (done == request_status::ok)
            CHECK(std::memcmp(small.data(), other.memory.data() + 640 + 64 * round, 64) == 0);
    }
    b.run(4000 * us);
    CHECK(status == request_status::timeout);
    CHECK(reader.dma.late.value() > 0);
    b.inject(other.link.faults.retrain);
    b.recover();
    CHECK(read(data) == request_status::ok);

    // Of a host's configuration request, the root port on its way tells.
    const auto& port = machine.root.bridges[1]->space;
    CHECK_FALSE(b.aer_of(port, aer::uncorrectable_status) & aer::completion_timeout);
    b.inject(other.link.faults.drop);
    CHECK(b.configure(b.at(4, 0), false, 0, 4, 150 * us).first == request_status::timeout);
    CHECK(b.aer_of(port, aer::uncorrectable_status) & aer::completion_timeout);
}

TEST_CASE("a lost credit is named, and a link that goes down gets its credits back") {
    auto& b = bench();
    auto& machine = b.machine;
    auto& engine = *machine.engines[7];
    CHECK_FALSE(engine.link.waits());
    const auto begin = b.timeline.now();
    b.inject(engine.link.faults.lose_credit);
    engine.push(0, cs_storm_bench::engine_base(6), 64 << 10, {});
    b.run(500 * us);
    const auto wait = engine.link.waits();
    REQUIRE(wait);
    CHECK(wait->since < begin + us);
    CHECK(wait->what ==
          "posted credits of bench.board3.downstream_port1: 0 of 64 headers and 0 of 8192 bytes are left");
    b.inject(engine.link.faults.link_down, "lasting", "10 us");
    CHECK_FALSE(engine.link.waits());
    b.recover();
    std::memset(engine.memory.data(), 0x5e, 64 << 10);
    engine.push(0, cs_storm_bench::engine_base(6), 64 << 10, {});
    b.run(100 * us);
    CHECK(std::memcmp(engine.memory.data(), machine.engines[6]->memory.data(), 64 << 10) == 0);
}

TEST_CASE("a queue that is stuck is named, and goes on at the end of that") {
    auto& b = bench();
    auto& machine = b.machine;
    auto& engine = *machine.engines[7];
    const auto begin = b.timeline.now();
    b.inject(engine.link.faults.stuck, "lasting", "400 us");
    std::memset(engine.memory.data(), 0x3c, 64 << 10);
    engine.push(0, cs_storm_bench::engine_base(6), 64 << 10, {});
    b.run(300 * us);
    const auto wait = engine.link.waits();
    REQUIRE(wait);
    CHECK(wait->since < begin + us);
    CHECK(wait->what ==
          "a queue that is stuck, with posted credits of bench.board3.downstream_port1: 64 of 64 headers "
          "and 8192 of 8192 bytes are left");
    CHECK(std::memcmp(engine.memory.data(), machine.engines[6]->memory.data(), 64 << 10) != 0);
    b.run(300 * us);
    CHECK_FALSE(engine.link.waits());
    CHECK(std::memcmp(engine.memory.data(), machine.engines[6]->memory.data(), 64 << 10) == 0);
}

TEST_CASE("a function-level reset clears registers, and its own requests' completions do no harm") {
    auto& b = bench();
    auto& machine = b.machine;
    auto& victim = *machine.engines[7];
    const auto control = victim.config.space.find_capability(express_id) + express::device_control;
    auto data = allocate_slice(32 << 10);
    bool called = false;
    victim.dma.read(cs_storm_bench::engine_base(0), data, [&](request_status) { called = true; });
    b.run(us / 2);
    CHECK(b.configure(b.at(7, control), true, 0x8000 | 0x2810, 2).first == request_status::ok);
    CHECK(victim.config.space.read(0x04, 2) == 0);
    CHECK(victim.config.bar_base(2) == 0);
    CHECK(victim.link.up());
    CHECK_FALSE(called);
    CHECK(victim.dma.late.value() > 0);
    CHECK(b.aer_of(victim.config.space, aer::uncorrectable_status) == 0);
    b.recover();
}

TEST_CASE("faults of a link outlast resets of all kinds") {
    auto& b = bench();
    auto& machine = b.machine;
    auto& engine = *machine.engines[6];
    auto& slot = machine.boards[3]->downstream[0]->space;
    const auto bridge = std::uint64_t{machine.boards[3]->upstream.secondary()} << 20;
    const auto link_control = bridge | (slot.find_capability(express_id) + express::link_control);
    const auto power_on = [&] {
        engine.reset();
        machine.boards[3]->reset();
    };
    const auto hot_reset = [&] {
        REQUIRE(b.configure(bridge | 0x3e, true, 0x0040, 2).first == request_status::ok);
        REQUIRE(b.configure(bridge | 0x3e, true, 0, 2).first == request_status::ok);
        b.run(100 * us);
    };

    // Fewer lanes, until the link is told to train with others.
    b.inject(engine.link.faults.retrain, "lanes", "4");
    b.run(100 * us);
    CHECK(engine.link.lanes() == 4);
    hot_reset();
    CHECK(engine.link.up());
    CHECK(engine.link.lanes() == 4);
    CHECK(b.configure(link_control, true, 0x20, 2).first == request_status::ok);  // retrain
    b.run(100 * us);
    CHECK(engine.link.lanes() == 4);
    power_on();
    b.recover();
    CHECK(engine.link.lanes() == 4);
    CHECK((b.express_of(slot, express::link_status) >> 4 & 0x3f) == 4);
    b.inject(engine.link.faults.retrain);
    b.run(100 * us);
    CHECK(engine.link.lanes() == 16);

    // A link that is cut.
    b.inject(engine.link.faults.link_down, "lasting", "2 ms");
    b.run(us);
    CHECK_FALSE(engine.link.up());
    hot_reset();
    CHECK_FALSE(engine.link.up());
    CHECK(b.configure(link_control, true, 0x20, 2).first == request_status::ok);
    b.run(100 * us);
    CHECK_FALSE(engine.link.up());
    power_on();
    machine.enumerate();
    CHECK_FALSE(engine.link.up());
    CHECK_FALSE(b.express_of(slot, express::link_status) & 0x2000);
    b.run(2000 * us);
    CHECK(engine.link.up());
    b.recover();

    // A device that is out.
    b.inject(engine.surprise_removal);
    b.run(300 * us);
    power_on();
    b.run(300 * us);
    CHECK_FALSE(engine.link.up());
    CHECK_FALSE(b.express_of(slot, express::slot_status) & 0x0040);
    b.inject(engine.insertion);
    b.recover();
    CHECK(b.express_of(slot, express::slot_status) & 0x0040);

    // Bits that go wrong, and packets that are to be lost.
    b.inject(engine.link.faults.bit_errors, "rate", "1e-4");
    b.inject(engine.link.faults.drop);
    power_on();
    CHECK(engine.link.transmitter.bit_error_rate() == 1e-4);
    CHECK(engine.link.faults.any());
    engine.link.faults.repair();
    CHECK(engine.link.transmitter.bit_error_rate() == 0);
    CHECK_FALSE(engine.link.faults.any());
    b.recover();

    // A function that is not ready.
    auto seen = request_status::timeout;
    auto data = allocate_slice(4);
    b.inject(engine.not_ready, "lasting", "1 ms");
    hot_reset();
    machine.root.host_configuration(b.at(6, 0), false, data, [&](request_status s) { seen = s; });
    b.run(500 * us);
    CHECK(seen == request_status::timeout);  // asked again and again
    b.run(1000 * us);
    CHECK(seen == request_status::ok);
    CHECK(engine.link.faults.bit_errors.injected.total() == 1);
    b.recover();
}
