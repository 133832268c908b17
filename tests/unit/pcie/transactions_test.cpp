// SPDX-License-Identifier: Apache-2.0
// Single transactions through the tree, between host and devices, good ones and bad ones.
#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "cs_storm_bench.h"

using namespace fabricvp;
using namespace fabricvp::pcie;
using test::cs_storm_bench;

namespace {

template <class T>
T word(const buffer_slice& s) {
    T v;
    std::memcpy(&v, s.data(), sizeof v);
    return v;
}

}  // namespace

TEST_CASE("transactions of host and devices") {
    calendar timeline;
    port_params ports;
    cs_storm_bench bench("bench", ports, 64);
    auto& root = bench.root;
    auto& engine = *bench.engines[5];
    const auto run = [&] { timeline.run_until(timeline.now() + 1'000'000'000); };
    const auto configure = [&](std::uint64_t offset, bool write, std::uint32_t value, unsigned bytes) {
        auto data = allocate_slice(bytes);
        std::memcpy(data.data(), &value, bytes);
        auto status = request_status::timeout;
        root.host_configuration(offset, write, data, [&](request_status s) { status = s; });
        run();
        std::uint32_t read = 0;
        std::memcpy(&read, data.data(), bytes);
        return std::pair(status, read);
    };
    const auto bus_of = [](const copy_engine& e) { return std::uint64_t{e.dma.id} >> 8; };

    // --- configuration: every level of the tree answers, and nothing else ---
    CHECK(configure(1 << 15, false, 0, 4).second == 0x1052fab0);  // root port 0
    CHECK(configure(std::uint64_t{root.bridges[0]->secondary()} << 20, false, 0, 4).second == 0x1050fab0);  // socket 0
    CHECK(configure(bus_of(engine) << 20, false, 0, 4).second == 0x1f00fab0);
    CHECK(configure(bus_of(engine) << 20 | 2, false, 0, 2).second == 0x1f00);
    const auto absent = configure(bus_of(engine) << 20 | 3 << 15 | 1 << 12, false, 0, 4);
    CHECK(absent.first == request_status::unsupported_request);
    CHECK(absent.second == 0xffffffff);
    CHECK(configure(std::uint64_t{200} << 20, false, 0, 4).second == 0xffffffff);
    CHECK(configure(bus_of(engine) << 20 | 0x3c, true, 0x5a, 1).first == request_status::ok);
    CHECK(configure(bus_of(engine) << 20 | 0x3c, false, 0, 4).second == 0x0000015a);
    CHECK(bench.engines[5]->config.space.read(0x3d, 1) == 1);

    // --- the host reads and writes device memory ---
    auto out = allocate_slice(3000), back = allocate_slice(3000);
    for (unsigned i = 0; i < 3000; ++i) out.data()[i] = static_cast<std::uint8_t>(i * 7);
    root.host_write(cs_storm_bench::engine_base(5) + 101, out);
    auto status = request_status::timeout;
    root.host_read(cs_storm_bench::engine_base(5) + 101, back, [&](request_status s) { status = s; });
    run();
    CHECK(status == request_status::ok);
    CHECK(std::memcmp(out.data(), back.data(), 3000) == 0);  // the read did not pass the writes

    // --- a descriptor ring in host memory: host → device → host, with interrupts into host memory ---
    const auto registers = 0x4000'0000ull;
    // Registers lie below 4 GiB in a window of their own: open it on the way to engine 5.
    const auto open = [&](bridge& b) { b.space.set(0x20, 4, 0x40004000); };
    open(*root.bridges[1]);
    open(bench.sockets[1]->upstream);
    open(*bench.sockets[1]->downstream[0]);
    open(bench.boards[2]->upstream);
    open(*bench.boards[2]->downstream[1]);
    engine.config.space.set(0x10, 4, registers);
    const auto poke = [&](std::uint64_t offset, std::uint64_t value, unsigned bytes) {
        auto data = allocate_slice(bytes);
        std::memcpy(data.data(), &value, bytes);
        root.host_write(registers + offset, data);
    };
    for (unsigned i = 0; i < 5000; ++i) bench.memory.bytes.data()[0x10000 + i] = static_cast<std::uint8_t>(i * 13);
    const copy_engine_descriptor ring[2] = {
        {0x10000, cs_storm_bench::engine_base(5) + 0x8000, 5000, 0, 0, 0},
        {cs_storm_bench::engine_base(5) + 0x8000, 0x20003, 5000, COPY_ENGINE_FLAG_INTERRUPT, 0, 0}};
    bench.memory.bytes.write(0x1000, ring, sizeof ring);
    poke(COPY_ENGINE_MSIX_TABLE, 0x30000, 8);
    poke(COPY_ENGINE_MSIX_TABLE + 8, 0x1234, 4);
    poke(COPY_ENGINE_MSIX_TABLE + 12, 0, 4);
    const auto msix = engine.config.space.find_capability(msi_x_id);
    CHECK(configure(bus_of(engine) << 20 | (msix + 2), true, 0x8000, 2).first == request_status::ok);
    poke(COPY_ENGINE_RING_BASE, 0x1000, 8);
    poke(COPY_ENGINE_RING_SIZE, 2, 4);
    poke(COPY_ENGINE_CONTROL, COPY_ENGINE_CONTROL_ENABLE, 4);
    poke(COPY_ENGINE_DOORBELL, 2, 4);
    run();
    CHECK(std::memcmp(bench.memory.bytes.data() + 0x10000, bench.memory.bytes.data() + 0x20003, 5000) == 0);
    copy_engine_descriptor done[2];
    bench.memory.bytes.read(0x1000, done, sizeof done);
    CHECK(done[0].status == COPY_ENGINE_DONE);
    CHECK(done[1].status == COPY_ENGINE_DONE);
    std::uint32_t message = 0;
    bench.memory.bytes.read(0x30000, &message, 4);
    CHECK(message == 0x1234);
    CHECK(engine.channels.completed() == 2);

    // --- without MSI-X the cause holds INTA, which turns by the device numbers on its way: port 1 of a board, port 0
    // of a socket, device 2 of bus 0 ---
    const auto lines = [&] {
        return root.intx[0].level() | root.intx[1].level() << 1 | root.intx[2].level() << 2 | root.intx[3].level() << 3;
    };
    CHECK(lines() == 0);
    CHECK(engine.channels.interrupt() == COPY_ENGINE_INTERRUPT_DONE);
    const auto set_msix = [&](bool on) { configure(bus_of(engine) << 20 | (msix + 2), true, on ? 0x8000 : 0, 2); };
    const auto set_command = [&](std::uint32_t command) { configure(bus_of(engine) << 20 | 4, true, command, 2); };
    set_msix(false);
    CHECK(lines() == 0b1000);
    set_command(0x406);  // interrupt disable; the status bit stays
    CHECK(lines() == 0);
    CHECK((configure(bus_of(engine) << 20 | 6, false, 0, 2).second & 8) == 8);
    set_command(0x006);
    CHECK(lines() == 0b1000);
    set_msix(true);
    CHECK(lines() == 0);
    set_msix(false);
    poke(COPY_ENGINE_INTERRUPT, COPY_ENGINE_INTERRUPT_DONE, 4);
    run();
    CHECK(lines() == 0);
    CHECK((configure(bus_of(engine) << 20 | 6, false, 0, 2).second & 8) == 0);

    // --- atomics on host memory ---
    const std::uint64_t before = 40;
    bench.memory.bytes.write(0x40000, &before, 8);
    auto old = allocate_slice(8);
    engine.dma.atomic(tlp_kind::fetch_add, 0x40000, 8, 2, 0, old, [&](request_status s) { status = s; });
    run();
    CHECK(status == request_status::ok);
    CHECK(word<std::uint64_t>(old) == 40);
    auto seen = allocate_slice(8);
    engine.dma.atomic(tlp_kind::compare_swap, 0x40000, 8, 99, 42, seen, [&](request_status s) { status = s; });
    run();
    CHECK(word<std::uint64_t>(seen) == 42);
    std::uint64_t after = 0;
    bench.memory.bytes.read(0x40000, &after, 8);
    CHECK(after == 99);

    // --- without bus mastering a function requests nothing, and what waits for a tag does not leave either ---
    std::vector<request_status> ended;
    const auto note = [&](request_status s) { ended.push_back(s); };
    const auto sent = engine.dma.reads.value();
    const auto tags = engine.dma.params.tags;
    for (std::uint64_t i = 0; i < tags + 40; ++i) engine.dma.read(0x40000, allocate_slice(64), note);
    CHECK(engine.dma.outstanding() == tags + 40);
    engine.config.space.set(0x04, 2, 0x402);
    run();
    CHECK(ended.size() == tags + 40);
    CHECK(engine.dma.reads.value() == sent + tags);
    CHECK(std::count(ended.begin(), ended.end(), request_status::ok) == static_cast<std::ptrdiff_t>(tags));
    CHECK(std::count(ended.begin(), ended.end(), request_status::unsupported_request) == 40);
    ended.clear();
    auto wrong = allocate_slice(8);
    std::memset(wrong.data(), 0xbb, 8);
    engine.dma.write(0x40000, wrong);
    engine.dma.atomic(tlp_kind::fetch_add, 0x40000, 8, 2, 0, wrong, note);
    engine.dma.read(0x40000, wrong, note);
    CHECK(ended.empty());  // as of other requests, the caller is told later
    run();
    CHECK(ended == std::vector<request_status>(2, request_status::unsupported_request));
    CHECK(word<std::uint64_t>(wrong) == 0xbbbb'bbbb'bbbb'bbbb);
    bench.memory.bytes.read(0x40000, &after, 8);
    CHECK(after == 99);
    CHECK(engine.dma.refused.value() == 43);
    CHECK(engine.dma.outstanding() == 0);
    set_command(0x006);
    engine.dma.read(0x40000, wrong, note);
    run();
    CHECK(word<std::uint64_t>(wrong) == 99);

    // --- requests that no target claims ---
    auto nothing = allocate_slice(4);
    engine.dma.read(0x80'0000'0000, nothing, [&](request_status s) { status = s; });
    run();
    CHECK(status == request_status::unsupported_request);
    root.host_read(0x90'0000'0000, nothing, [&](request_status s) { status = s; });
    run();
    CHECK(status == request_status::unsupported_request);
    CHECK(root.host_errors.value() == 1);

    // --- a poisoned write is not delivered, and AER tells ---
    auto bad = allocate_slice(4);
    std::memset(bad.data(), 0xee, 4);
    bench.engines[0]->dma.write(cs_storm_bench::engine_base(1) + 0x100, bad, true);
    run();
    CHECK(bench.engines[1]->memory.data()[0x100] == 0);
    const auto aer_at = bench.engines[1]->config.space.find_extended_capability(aer_id);
    CHECK(bench.engines[1]->config.space.read(aer_at + aer::uncorrectable_status, 4) == aer::poisoned);

    // --- a dead link: the port before it answers for the device ---
    engine.link.take_down();
    CHECK_FALSE(bench.boards[2]->downstream_port(1).up());
    status = request_status::ok;
    bench.engines[4]->dma.read(cs_storm_bench::engine_base(5), nothing, [&](request_status s) { status = s; });
    run();
    CHECK(status == request_status::unsupported_request);
    CHECK(bench.boards[2]->discarded.value() == 1);

    // --- bit errors: replays, and the data are right all the same ---
    bench.engines[0]->link.transmitter.set_bit_error_rate(1e-4);
    std::memset(bench.engines[0]->memory.data(), 0x77, 64 << 10);
    bench.engines[0]->push(0, cs_storm_bench::engine_base(3), 64 << 10, {});
    run();
    CHECK(bench.engines[0]->link.transmitter.replays.value() > 10);
    CHECK(std::memcmp(bench.engines[0]->memory.data(), bench.engines[3]->memory.data(), 64 << 10) == 0);

    // --- function-level reset through device control ---
    auto& victim = *bench.engines[7];
    const auto control = victim.config.space.find_capability(express_id) + express::device_control;
    CHECK(configure(bus_of(victim) << 20 | control, true, 0x8000 | 0x2810, 2).first == request_status::ok);
    CHECK(victim.config.space.read(0x04, 2) == 0);
    CHECK(victim.config.bar_base(2) == 0);
}
