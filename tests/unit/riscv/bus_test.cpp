// SPDX-License-Identifier: Apache-2.0
// Accesses that go through the calendar: devices, and memory that a device has touched.
#include <tuple>
#include <utility>
#include <vector>

#include "hart_bench.h"

using namespace fabricvp;
using namespace fabricvp::riscv;
using namespace assembler;

namespace {
constexpr std::uint64_t code = memory_base, handler = memory_base + 0x1000, data = memory_base + 0x8000;
}

TEST_CASE("a device access happens at the hart's local time and takes what the device says") {
    for (const bool later : {false, true}) {
        auto& b = hart_bench::restart();
        (later ? b.device0.responds_after : b.device0.latency) = 250 * nanosecond;
        b.device0.registers[device_base + 16] = 0xfffffffff1f2f3f4;
        program p(code);
        p << nop << nop << nop << csrr(s4, csr::mcycle) << lw(s2, a0, 16) << csrr(s5, csr::mcycle) << sw(s2, a0, 32)
          << lbu(s3, a0, 16) << j(0);
        b.hart0.set_x(a0, device_base);
        const auto begin = b.timeline.now();
        b.run_program(p);
        REQUIRE(b.device0.log.size() == 3);
        const auto& log = b.device0.log;
        // 3 nops and a CSR read come before the load.
        CHECK(log[0].when == begin + 7 * nanosecond);
        CHECK((log[0].address == device_base + 16 && log[0].size == 4 && !log[0].write));
        // The load's answer, its own 2 cycles, and the CSR read's 4.
        CHECK(log[1].when == log[0].when + 256 * nanosecond);
        CHECK((log[1].address == device_base + 32 && log[1].write && log[1].value == 0xf1f2f3f4));
        CHECK(log[2].when == log[1].when + 251 * nanosecond);
        CHECK(b.hart0.x(s2) == 0xfffffffff1f2f3f4);
        CHECK(b.hart0.x(s3) == 0xf4);
        CHECK(b.hart0.x(s5) - b.hart0.x(s4) == 4 + 250 + 2);
        CHECK(b.hart0.bus_accesses.total() > 0);
    }
}

namespace {

/// Something that is due all the time, so that whatever comes by the calendar has to wait for it.
struct metronome {
    calendar_event event{method<&metronome::tick>, this};
    void tick() { calendar::current().schedule_in(event, nanosecond / 2); }
};

struct polled_device {
    std::vector<std::tuple<ticks, std::uint64_t, std::uint64_t>> log;  ///< when since the start, address, value
    std::uint64_t accesses, events, x, cycles;
};

/// A loop that reads and counts up a word of memory that a device has touched, and writes a device's register.
polled_device poll_device(bool alone, ticks latency, ticks responds_after) {
    auto& b = hart_bench::restart();
    b.device0.latency = latency;
    b.device0.responds_after = responds_after;
    b.memory.touch_by_device(data - memory_base, 8);
    b.load(program(code) << ld(s2, a0, 0) << addi(s2, s2, 1) << sd(s2, a0, 0) << sw(s2, a1, 16) << csrr(s3, csr::mcycle)
                         << j(-20));
    b.write(data, 0);
    b.hart0.set_x(a0, data);
    b.hart0.set_x(a1, device_base);
    metronome m;
    const auto begin = b.timeline.now();
    if (!alone) b.timeline.schedule(m.event, begin);
    b.start(b.hart0, code);
    const auto accesses = b.hart0.bus_accesses.total();
    const auto events = b.timeline.executed();
    b.run(20 * microsecond);
    polled_device r{{}, 0, b.timeline.executed() - events, b.hart0.x(s2), b.hart0.x(s3)};
    r.accesses = static_cast<std::uint64_t>(b.hart0.bus_accesses.total() - accesses);
    for (const auto& e : b.device0.log) r.log.emplace_back(e.when - begin, e.address, e.value);
    return r;
}

}  // namespace

TEST_CASE("an access that nothing is due before takes no event, and its time is the same") {
    for (const auto& [latency, responds_after] : {std::pair<ticks, ticks>{0, 0}, {70 * nanosecond, 0}, {0, 300}}) {
        const auto alone = poll_device(true, latency, responds_after);
        const auto disturbed = poll_device(false, latency, responds_after);
        CHECK(alone.log.size() > 250);
        CHECK(alone.log == disturbed.log);
        CHECK(alone.x == disturbed.x);
        CHECK(alone.cycles == disturbed.cycles);
        CHECK(alone.accesses == disturbed.accesses);
        if (responds_after) continue;  // responses that come later are events
        CHECK(alone.events * 10 < alone.accesses);
    }
}

TEST_CASE("a hart that goes on without the calendar ends where the run does") {
    auto& b = hart_bench::restart();
    b.device0.latency = 70 * nanosecond;
    b.load(program(code) << lw(s2, a0, 16) << j(-4));
    b.hart0.set_x(a0, device_base);
    const auto begin = b.timeline.now();
    b.start(b.hart0, code);
    for (int i = 1; i <= 3; ++i) {
        b.run(1000 * nanosecond);
        CHECK(b.timeline.now() == begin + i * 1000 * nanosecond);
        CHECK(b.device0.log.back().when <= b.timeline.now());
        CHECK(b.device0.log.back().when + 73 * nanosecond > b.timeline.now());
    }
}

TEST_CASE("instructions around a device access are counted once") {
    auto& b = hart_bench::restart();
    program p(code);
    p << csrr(s2, csr::minstret) << nop << lw(t0, a0, 0) << nop << sw(t0, a0, 8) << csrr(s3, csr::minstret) << j(0);
    b.hart0.set_x(a0, device_base);
    b.run_program(p);
    CHECK(b.hart0.x(s3) - b.hart0.x(s2) == 5);
}

TEST_CASE("bus errors become access faults") {
    auto& b = hart_bench::restart();
    b.load(program(handler) << j(0));
    const auto cause_of = [&](word w, std::uint64_t address) {
        b.hart0.halt();
        b.hart0.reset();
        b.set_csr(csr::mtvec, handler);
        b.load(program(code) << w << j(0));
        b.hart0.set_x(a0, address);
        b.start(b.hart0, code);
        b.run(5 * microsecond);
        CHECK(b.csr(csr::mtval) == address);
        CHECK(b.csr(csr::mepc) == code);
        return b.csr(csr::mcause);
    };
    CHECK(cause_of(lw(a1, a0, 0), 0x5000) == 5);
    CHECK(cause_of(sw(a1, a0, 0), 0x5000) == 7);
    CHECK(cause_of(lw(a1, a0, 0), device_base + 2) == 5);  // devices take aligned accesses only
    CHECK(cause_of(amoadd_w(a1, a2, a0), device_base) == 7);
    CHECK(cause_of(lr_w(a1, a0), device_base) == 5);
}

TEST_CASE("pages that a device has touched go through the calendar, misaligned and across pages too") {
    auto& b = hart_bench::restart();
    b.write(data, 0x1111111111111111);
    b.write(data + 0x1000 - 8, 0x8877665544332211);
    b.write(data + 0x1000, 0xff);
    program p(code);
    p << ld(s2, a0, 0) << beq(s8, zero, -4);  // reads directly until told to go on
    p << ld(s3, a1, -3) << sw(s2, a0, 3) << ld(s4, a0, 0) << amoadd_d(s5, t1, a0) << lr_d(s6, a0) << sc_d(s7, t1, a0)
      << j(0);
    b.load(p);
    b.hart0.set_x(a0, data);
    b.hart0.set_x(a1, data + 0x1000);
    b.hart0.set_x(t1, 2);
    b.start(b.hart0, code);
    b.run(3 * microsecond);
    CHECK(b.device0.log.empty());
    b.memory.touch_by_device(data - memory_base, 8);
    const std::uint64_t written = 0x2222222222222222;
    b.memory.write(data - memory_base, &written, 8);
    b.run(3 * microsecond);
    REQUIRE(b.device0.log.size() > 2);
    CHECK(b.hart0.x(s2) == written);
    const auto before = b.device0.log.size();
    CHECK(b.device0.log[before - 1].when - b.device0.log[before - 2].when == 3 * nanosecond);
    b.hart0.set_x(s8, 1);
    b.run(3 * microsecond);
    CHECK(b.hart0.x(s3) == 0x000000ff887766);
    CHECK(b.hart0.x(s4) == 0x2222222222222222);
    CHECK(b.hart0.x(s5) == 0x2222222222222222);
    CHECK(b.hart0.x(s6) == 0x2222222222222224);
    CHECK(b.hart0.x(s7) == 0);
    CHECK(b.read(data) == 2);
}

TEST_CASE("a store whose second half lies in a page that a device has touched") {
    auto& b = hart_bench::restart();
    b.memory.touch_by_device(data + 0x1000 - memory_base, 8);
    program p(code);
    p << sd(s2, a0, -16) << sd(s2, a0, -3) << ld(s3, a0, -3) << j(0);
    b.load(p);
    b.hart0.set_x(a0, data + 0x1000);
    b.hart0.set_x(s2, 0x1122334455667788);
    b.start(b.hart0, code);
    b.run(3 * microsecond);
    CHECK(b.read(data + 0x1000 - 16) == 0x1122334455667788);
    CHECK(b.read(data + 0x1000 - 8) >> 40 == 0x667788);
    CHECK((b.read(data + 0x1000) & 0xff'ffff'ffff) == 0x1122334455);
    CHECK(b.hart0.x(s3) == 0x1122334455667788);
}

namespace {

/// Counts what it is asked for.
struct counting_timing final : memory_timing {
    unsigned loads = 0, stores = 0;
    ticks access(std::uint64_t, std::uint64_t, unsigned, use u, ticks) override {
        ++(u == use::load ? loads : stores);
        return 5 * nanosecond;
    }
};

/// Writes a word as a device does, at its time.
struct writer {
    sparse_memory& memory;
    std::uint64_t value;
    calendar_event event{method<&writer::write>, this};
    void write() {
        memory.touch_by_device(data - memory_base, 8);
        memory.write(data - memory_base, &value, 8);
    }
};

}  // namespace

TEST_CASE("with a memory timing, memory that a device has touched takes what that says, and keeps its order") {
    auto& b = hart_bench::restart();
    counting_timing timing;
    b.hart0.attach_memory_timing(&timing);
    b.memory.touch_by_device(data - memory_base, 8);
    writer w{b.memory, 0x3333};
    b.timeline.schedule(w.event, b.timeline.now() + microsecond);
    program p(code);
    p << csrr(s5, csr::mcycle) << ld(s2, a0, 0) << beq(s2, zero, -4);
    p << csrr(s3, csr::mcycle) << sd(s2, a0, 8) << ld(s4, a0, 8) << j(0);
    b.load(p);
    b.hart0.set_x(a0, data);
    b.start(b.hart0, code);
    b.run(2 * microsecond);
    b.hart0.attach_memory_timing(nullptr);
    CHECK(b.device0.log.empty());  // nothing went over the bus
    CHECK(b.hart0.x(s2) == w.value);
    CHECK(b.hart0.x(s4) == w.value);
    CHECK(b.read(data + 8) == w.value);
    CHECK(timing.stores == 1);
    // A turn of the loop takes 5 ns beside its instructions. The first load behind the device's write sees it.
    CHECK(timing.loads > 60);
    CHECK(timing.loads < 180);
    const auto seen = b.hart0.x(s3) - b.hart0.x(s5);  // in cycles of 1 ns
    CHECK(seen > 990);
    CHECK(seen < 1030);
}

TEST_CASE("code in a page that a device has touched runs") {
    auto& b = hart_bench::restart();
    b.memory.touch_by_device(0, 4096);
    b.run_program(program(code) << li(s2, 3) << addi(s2, s2, 4) << j(0));
    CHECK(b.hart0.x(s2) == 7);
}

TEST_CASE("a reset while an access is under way: the response is dropped, the hart starts anew") {
    auto& b = hart_bench::restart();
    b.device0.responds_after = 5 * microsecond;
    b.load(program(code) << lw(s2, a0, 0) << j(0));
    b.hart0.set_reset_vector(code + 0x100);
    b.load(program(code + 0x100) << li(s3, 1) << j(0));
    b.device0.registers[device_base] = 77;
    b.hart0.set_x(a0, device_base);
    b.start(b.hart0, code);
    b.run(microsecond);
    b.hart0.reset();
    b.run(20 * microsecond);
    CHECK(b.hart0.x(s2) == 0);
    CHECK(b.hart0.x(s3) == 1);
    CHECK(b.hart0.pc() == code + 0x104);
    b.hart0.set_reset_vector(0x1000);
}
