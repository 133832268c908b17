// SPDX-License-Identifier: Apache-2.0
// What the host does to device memory through its BAR: it takes the way of all other requests, and their time.
#include "unit/gpu/memory_bench.h"

#include "gpu/gpu_device.h"
#include "pcie/link_speed.h"
#include "unit/pcie/cs_storm_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;
using pcie::test::host_memory;

namespace {

constexpr std::uint64_t memory_at = 0x1'0000'0000, doorbells_at = memory_at + (64 << 20);

gpu_device_params parameters(std::uint64_t outstanding, std::uint64_t queue,
                             peer_writes writes = peer_writes::on_arrival) {
    gpu_device_params p;
    p.core.compute_units = 1;
    p.core.memory.capacity = {64 << 20};
    p.host_interface.window.outstanding = outstanding;
    p.host_interface.queue = queue;
    p.host_interface.peer_writes = writes;
    return p;
}

struct bench {
    host_memory memory;
    pcie::root_complex root;
    gpu_device gpu;
    line_listener units;  // in the place of compute units

    explicit bench(const std::string& name, std::uint64_t outstanding = 32, std::uint64_t queue = 16,
                   peer_writes writes = peer_writes::on_arrival)
        : memory((name + "_memory").c_str()),
          root((name + "_root").c_str(), pcie::root_complex_params{}),
          gpu((name + "_gpu").c_str(), parameters(outstanding, queue, writes), 0) {
        root.memory.bind(memory.bus);
        pcie::connect(root.root_port(0), gpu.link);
        set_up();
    }
    void set_up() {
        auto& b = *root.bridges[0];
        b.space.set(0x18, 3, 0 | 1 << 8 | 1 << 16);
        const std::uint64_t limit = doorbells_at + (1 << 20) - 1;
        b.space.set(0x24, 4, (memory_at >> 16 & 0xfff0) | ((limit >> 16 & 0xfff0) << 16));
        b.space.set(0x28, 4, memory_at >> 32);
        b.space.set(0x2c, 4, limit >> 32);
        b.space.set(0x04, 2, 0x6);
        gpu.dma.id = 1 << 8;
        gpu.config.space.set(0x10, 8, memory_at | 0xc);
        gpu.config.space.set(0x18, 8, doorbells_at | 0xc);
        gpu.config.space.set(0x04, 2, 0x6);
    }

    ticks now() const { return calendar::current().now(); }
    /// Long enough for all that tests do; the link never rests.
    void run() { calendar::current().run_until(now() + 100'000'000); }
    void write(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
        auto data = allocate_slice(bytes.size());
        std::memcpy(data.data(), bytes.data(), bytes.size());
        root.host_write(address, data);
    }
    struct response {
        ticks took = never;
        buffer_slice data;
    };
    void read(std::uint64_t address, std::size_t bytes, response& to) {
        to.data = allocate_slice(bytes);
        root.host_read(address, to.data, [&to, this, begin = now()](pcie::request_status s) {
            CHECK(s == pcie::request_status::ok);
            to.took = now() - begin;
        });
    }
    ticks time(std::uint64_t address, std::size_t bytes = 8) {
        response a;
        read(address, bytes, a);
        run();
        return a.took;
    }
    l2_bank& bank(std::uint64_t offset) { return gpu.core.memory.l2.bank_of(offset); }
    /// Requests of compute units to lines of one bank, all at once.
    void flood(unsigned count, std::uint64_t stride) {
        for (unsigned i = 0; i < count; ++i)
            gpu.core.router().send(units.make(
                access_kind::read, std::uint64_t{GPU_PA_GPU0} << GPU_PA_APERTURE_SHIFT | (0x100000 + i * stride)));
    }
};

struct benches {
    calendar cal{"calendar"};
    bench usual{"usual"}, narrow{"narrow", 1, 1}, at_bank{"at_bank", 32, 16, peer_writes::at_bank};
};
benches& all() {
    static benches b;
    return b;
}
bench& fresh(bench& b) {
    b.run();
    b.gpu.reset();
    b.set_up();
    b.run();
    return b;
}

const gpu_device_params gpu_parameters = parameters(32, 16);
ticks l2_round() {
    const auto& m = gpu_parameters.core.memory;
    return clock_domain(gpu_parameters.core.clock)
        .span(m.router.request_latency + m.router.response_latency + m.l2.latency);
}

}  // namespace

TEST_CASE("bytes arrive where they belong, through L2") {
    for (auto* b : {&all().usual, &all().narrow, &all().at_bank}) {
        fresh(*b);
        std::vector<std::uint8_t> bytes(5000);
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
        b->write(memory_at + 0x2003, bytes);
        bench::response back;
        b->read(memory_at + 0x2003, bytes.size(), back);  // does not pass the writes
        b->run();
        CHECK(std::memcmp(back.data.data(), bytes.data(), bytes.size()) == 0);
        double reads = 0, writes = 0;
        for (const auto& k : b->gpu.core.memory.l2.banks) {
            reads += static_cast<double>(k->reads.total());
            writes += static_cast<double>(k->writes.total());
        }
        CHECK(reads >= 5000 / 64);
        CHECK(writes >= 5000 / 64);
        CHECK(b->bank(0x2000).holds(0x2040));
    }
}

TEST_CASE("a read costs what one costs that needs no memory, and the way through L2") {
    auto& b = fresh(all().usual);
    b.time(memory_at + 0x4000);
    const auto of_doorbell = b.time(doorbells_at);
    CHECK(b.time(memory_at + 0x4000) == of_doorbell + l2_round());
    CHECK(b.time(memory_at + 0x4040) > of_doorbell + l2_round());  // a line that L2 does not hold
    CHECK(b.time(memory_at + 0x4040) == of_doorbell + l2_round());
}

TEST_CASE("host and compute units contend for a bank") {
    auto& b = fresh(all().usual);
    const auto stride = gpu_parameters.core.memory.l2.interleave.bytes * gpu_parameters.core.memory.l2.banks;
    b.flood(1, stride);
    b.time(memory_at + 0x100000);
    const auto alone = b.time(memory_at + 0x100000);
    b.flood(400, stride);  // the read arrives while the bank works on these: it waits for its turn
    CHECK(b.time(memory_at + 0x100000) > alone);
    // And the other way round: a unit's read behind lines that the host writes.
    b.run();
    b.units.responses.clear();
    auto begin = b.now();
    b.flood(1, stride);
    b.run();
    const auto unit_alone = b.units.responses.at(0).when - begin;
    CHECK(unit_alone == l2_round());
    b.units.responses.clear();
    for (unsigned i = 0; i < 2000; ++i) b.write(memory_at + 0x100000 + (i % 2) * 64, std::vector<std::uint8_t>(64, 1));
    std::vector<std::unique_ptr<at_time>> reads;
    std::vector<ticks> sent;
    for (unsigned i = 0; i < 50; ++i)
        reads.push_back(std::make_unique<at_time>(b.now() + 1'000'000 + i * 7'000, [&] { b.flood(1, stride); }));
    begin = b.now() + 1'000'000;
    b.run();
    REQUIRE(b.units.responses.size() == 50);
    ticks slowest = 0;
    for (unsigned i = 0; i < 50; ++i) slowest = std::max(slowest, b.units.responses[i].when - (begin + i * 7'000));
    CHECK(slowest > unit_alone);
}

TEST_CASE("a flag is never seen before the data that were written before it") {
    for (auto* b : {&all().usual, &all().narrow}) {
        fresh(*b);
        const auto stride = gpu_parameters.core.memory.l2.interleave.bytes * gpu_parameters.core.memory.l2.banks;
        // Banks are busy, so lines take different times.
        b->flood(300, stride);
        for (unsigned round = 1; round < 30; ++round) {
            b->write(memory_at + 0x100000, std::vector<std::uint8_t>(64, static_cast<std::uint8_t>(round)));
            b->write(memory_at + 0x100080, std::vector<std::uint8_t>(8, static_cast<std::uint8_t>(round)));
        }
        auto& bytes = b->gpu.core.memory.memory.bytes;
        auto& c = calendar::current();
        unsigned changes = 0;
        std::uint8_t last = 0;
        for (const ticks end = c.now() + 20'000'000; c.now() < end;) {
            c.run_until(c.next_event_time());
            std::uint8_t data = 0, flag = 0;
            bytes.read(0x100000, &data, 1);
            bytes.read(0x100080, &flag, 1);
            CHECK(flag <= data);
            changes += flag != last;
            last = flag;
        }
        CHECK(last == 29);
        CHECK(changes == 29);
    }
}

TEST_CASE("a memory that is slow to take writes holds them up on the link") {
    ticks arrived = 0;  // when the device has taken the last one
    const auto time_of = [&](bench& b) {
        fresh(b);
        for (unsigned i = 0; i < 400; ++i)
            b.write(memory_at + 0x10000 + i * 64, std::vector<std::uint8_t>(64, static_cast<std::uint8_t>(i)));
        const auto visible = [&](unsigned i) {
            std::uint8_t byte = 0;
            b.gpu.core.memory.memory.bytes.read(0x10000 + i * 64, &byte, 1);
            return byte == static_cast<std::uint8_t>(i);
        };
        auto& c = calendar::current();
        for (const auto begin = b.now(); !visible(399); c.run_until(c.next_event_time())) {
            REQUIRE(b.now() < begin + 100'000'000);
            arrived = b.now() - begin;
        }
        const auto behind_all = b.time(memory_at);
        std::uint8_t last = 0;
        b.gpu.core.memory.memory.bytes.read(0x10000 + 399 * 64, &last, 1);
        CHECK(last == static_cast<std::uint8_t>(399));
        return behind_all;
    };
    const auto usual = time_of(all().usual);
    CHECK(arrived < 100 * l2_round());
    const auto narrow = time_of(all().narrow);
    CHECK(arrived > 300 * l2_round());  // one line at a time; the rest fit into buffers on the way
    CHECK(usual < narrow);
}

TEST_CASE("lines are written to host memory no faster than the link takes them") {
    auto& b = fresh(all().usual);
    constexpr std::uint64_t host = std::uint64_t{GPU_PA_SYSTEM} << GPU_PA_APERTURE_SHIFT | 0x100000;
    const auto write = [&](std::uint64_t line, std::uint8_t value) {
        auto r = b.units.make(access_kind::write, host + line * line_bytes);
        r->data.fill(value);
        b.gpu.core.router().send(r);
    };
    const auto time_of = [&](unsigned lines) {
        b.units.responses.clear();
        const auto begin = b.now();
        for (unsigned n = 0; n < lines; ++n) write(n, static_cast<std::uint8_t>(n));
        b.run();
        REQUIRE(b.units.responses.size() == lines);
        return b.units.responses.back().when - begin;
    };
    const ticks few = time_of(500), many = time_of(1500);
    const auto& link = b.gpu.link;
    const double rate = pcie::lane_rate(link.generation()).bytes_per_second * static_cast<double>(link.lanes());
    const double line_time = line_bytes * static_cast<double>(ticks_per_second) / rate;
    CHECK(static_cast<double>(many - few) > 1000 * line_time);
    CHECK(static_cast<double>(many - few) < 1600 * line_time);  // headers and framing of 24 bytes, and credits
    std::uint8_t last = 0;
    b.memory.bytes.read(0x100000 + 1499 * line_bytes, &last, 1);
    CHECK(last == static_cast<std::uint8_t>(1499));
    // What follows a write in order sees it, and is not held up by what follows itself.
    b.units.responses.clear();
    for (unsigned n = 0; n < 200; ++n) write(n, 7);
    b.gpu.core.router().send(b.units.make(access_kind::read, host + 199 * line_bytes));
    for (unsigned n = 0; n < 200; ++n) write(n, 9);
    b.run();
    REQUIRE(b.units.responses.size() == 401);
    unsigned seen = 0;
    for (const auto& r : b.units.responses) seen += r.data[0] == 7 && r.operand == 0;
    CHECK(seen == 201);
}

TEST_CASE("a reset drops what is under way, and what comes after is served") {
    for (auto* b : {&all().usual, &all().narrow, &all().at_bank}) {
        fresh(*b);
        bench::response lost;
        for (unsigned i = 0; i < 40; ++i) b->write(memory_at + i * 64, std::vector<std::uint8_t>(64, 3));
        lost.data = allocate_slice(4096);
        b->root.host_read(memory_at, lost.data, [](pcie::request_status) {});
        calendar::current().run_until(b->now() + 400'000);
        b->gpu.reset();
        b->set_up();
        b->write(memory_at + 0x8000, {1, 2, 3, 4, 5, 6, 7, 8});
        bench::response back;
        b->read(memory_at + 0x8000, 8, back);
        calendar::current().run_until(b->now() + 10'000'000);
        REQUIRE(back.took != never);
        CHECK(back.data.data()[7] == 8);
    }
}

namespace {

/// The host writes data to a line of a busy bank and a flag to one of an idle bank, in that order. \returns how long
/// the flag could be seen and the data not
ticks flag_before_data(bench& b) {
    fresh(b);
    constexpr std::uint64_t data_at = 0x100000, flag_at = 0x100080;
    CHECK(&b.bank(data_at) != &b.bank(flag_at));
    b.time(memory_at + data_at);
    b.time(memory_at + flag_at);
    b.flood(3000, 0);
    b.write(memory_at + data_at, std::vector<std::uint8_t>(64, 1));
    b.write(memory_at + flag_at, std::vector<std::uint8_t>(8, 1));
    auto& bytes = b.gpu.core.memory.memory.bytes;
    auto& c = calendar::current();
    ticks flag_seen = never, data_seen = never;
    for (const ticks end = c.now() + 20'000'000; c.now() < end; c.run_until(c.next_event_time())) {
        std::uint8_t data = 0, flag = 0;
        bytes.read(data_at + 63, &data, 1);
        bytes.read(flag_at, &flag, 1);
        if (flag && flag_seen == never) flag_seen = c.now();
        if (data && data_seen == never) data_seen = c.now();
    }
    REQUIRE(flag_seen != never);
    REQUIRE(data_seen != never);
    return data_seen > flag_seen ? data_seen - flag_seen : 0;
}

}  // namespace

TEST_CASE("writes that commit at their banks: a flag overtakes data that wait for a busy one") {
    CHECK(flag_before_data(all().usual) == 0);
    CHECK(flag_before_data(all().at_bank) > 1'000'000);  // 3000 requests wait for a bank that serves one a nanosecond
}

TEST_CASE("a read behind writes that commit at their banks comes when all of them are there") {
    auto& b = fresh(all().at_bank);
    b.time(memory_at + 0x100000);
    b.flood(3000, 0);
    for (unsigned i = 0; i < 40; ++i)
        b.write(memory_at + 0x100000 + i * 64, std::vector<std::uint8_t>(64, static_cast<std::uint8_t>(i + 1)));
    bool responded = false;
    const auto data = allocate_slice(8);
    b.root.host_read(memory_at + 0x8080, data, [&](pcie::request_status) {  // of a bank that has nothing to do
        responded = true;
        for (unsigned i = 0; i < 40; ++i) {
            std::uint8_t byte = 0;
            b.gpu.core.memory.memory.bytes.read(0x100000 + i * 64, &byte, 1);
            CHECK(byte == i + 1);
        }
    });
    b.run();
    CHECK(responded);
}

TEST_CASE("of writes to one line that commit at its bank the last one stays") {
    auto& b = fresh(all().at_bank);
    b.time(memory_at + 0x100000);
    for (unsigned i = 1; i <= 200; ++i) {
        if (i % 20 == 0) b.flood(100, 0);
        b.write(memory_at + 0x100000 + i % 7, std::vector<std::uint8_t>(8, static_cast<std::uint8_t>(i)));
        calendar::current().run_until(b.now() + i % 13 * 1'000);
    }
    bench::response back;
    b.read(memory_at + 0x100000, 16, back);
    b.run();
    std::vector<std::uint8_t> wanted(16, 0);
    for (unsigned i = 1; i <= 200; ++i) std::fill_n(wanted.begin() + i % 7, 8, static_cast<std::uint8_t>(i));
    CHECK(std::memcmp(back.data.data(), wanted.data(), 14) == 0);
}

TEST_CASE("a load from a register of a device asks PCIe for its bytes alone") {
    auto& b = fresh(all().usual);
    const auto load = [&b](bool exact) {
        b.units.responses.clear();
        auto r = b.units.make(access_kind::read, 0x3000);
        r->byte_mask = 0xffull << 24;
        r->needed_sectors = 0x2;
        r->exact = exact;
        const auto before = b.root.root_port(0).payload_sent.value();
        b.gpu.core.router().send(r);
        b.run();
        REQUIRE(b.units.responses.size() == 1);
        CHECK(b.units.responses[0].data[24] == 24);
        CHECK(b.units.responses[0].data[31] == 31);
        return b.root.root_port(0).payload_sent.value() - before;
    };
    for (std::uint8_t i = 0; i < 64; ++i) b.memory.bytes.write(0x3000 + i, &i, 1);
    CHECK(load(false) == 16);
    CHECK(load(true) == 8);
}
