// SPDX-License-Identifier: Apache-2.0
// No TLP carries more than Max_Payload_Size, wherever it begins; and what a function keeps when it is reset.
#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "cs_storm_bench.h"
#include "pcie/completion.h"
#include "pcie/copy_queue.h"

using namespace fabricvp;
using namespace fabricvp::pcie;
using test::cs_storm_bench;

namespace {

constexpr std::uint32_t max_payload = 128;

/// Buffers of one payload, which is the smallest.
port_params narrow() {
    port_params p;
    p.max_payload = max_payload;
    p.posted_buffer = p.completion_buffer = {max_payload};
    return p;
}

struct machines {
    calendar timeline;
    // Peer-to-peer writes are cut at the root complex, where nothing larger fits the narrow ports either.
    cs_storm_bench narrow_tree{"narrow", narrow(), max_payload}, tree{"tree", {}, 64};
    std::vector<tlp_ptr> sent;
    requester dma{"dma", {}, [this](const tlp_ptr& t) { sent.push_back(t); }};

    void run() { timeline.run_until(timeline.now() + 1'000'000'000); }
    static machines& get() {
        static machines all;
        return all;
    }
};

}  // namespace

TEST_CASE("completions of reads from anywhere keep to the payload, and count the double words that they carry") {
    for (const std::uint32_t boundary : {64u, 128u})
        for (std::uint64_t first = 0x1000; first < 0x1000 + boundary + 4; ++first)
            for (std::uint32_t bytes = 1; bytes <= 2 * max_payload + 5; ++bytes) {
                auto request = make_tlp();
                request->address = first;
                request->bytes = bytes;
                std::uint64_t at = first;
                make_read_completions(*request, 0, allocate_slice(bytes), max_payload, boundary, [&](const tlp_ptr& c) {
                    const auto end = at + c->bytes;
                    REQUIRE(c->payload_bytes() == ((end + 3) & ~std::uint64_t{3}) - (at & ~std::uint64_t{3}));
                    REQUIRE(c->payload_bytes() <= max_payload);
                    REQUIRE((end == first + bytes || end % boundary == 0));
                    at = end;
                });
                REQUIRE(at == first + bytes);
            }
}

TEST_CASE("writes to anywhere keep to the payload") {
    auto& sent = machines::get().sent;
    auto& dma = machines::get().dma;
    dma.max_payload = max_payload;
    sparse_memory memory(1 << 16);
    copy_queue queue(dma, memory, 1024, 1024, [] {});
    const auto check = [&](std::uint64_t first, std::uint64_t bytes) {
        auto at = first;
        for (const auto& t : sent) {
            REQUIRE(t->address == at);
            REQUIRE(t->payload_bytes() <= max_payload);
            at += t->bytes;
        }
        REQUIRE(at == first + bytes);
        // Aligned ones are cut as ever.
        if (first % 4 == 0) REQUIRE(sent.size() == (bytes + max_payload - 1) / max_payload);
        sent.clear();
    };
    for (std::uint64_t first = 0x2000; first < 0x2008; ++first)
        for (const std::uint64_t bytes : {1, 4, 125, 128, 129, 256, 1000}) {
            dma.write(first, allocate_slice(bytes));
            check(first, bytes);
            copy_job job;
            job.destination = first;
            job.length = bytes;
            job.local_source = true;
            queue.add(std::move(job));
            while (queue.step()) {
            }
            check(first, bytes);
        }
}

TEST_CASE("buffers of one payload carry unaligned copies between devices and host") {
    CHECK(shortage(narrow(), narrow()).empty());
    auto& bench = machines::get().narrow_tree;
    auto& source = *bench.engines[0];
    for (unsigned i = 0; i < 4096; ++i) source.memory.data()[i] = static_cast<std::uint8_t>(i * 7 + 1);
    source.push(0, cs_storm_bench::engine_base(1) + 2, 4096, {});
    source.push(0, cs_storm_bench::engine_base(5) + 3, 4096, {});
    source.push(0, 0x1001, 4096, {});
    machines::get().run();
    CHECK(std::memcmp(bench.engines[1]->memory.data() + 2, source.memory.data(), 4096) == 0);
    CHECK(std::memcmp(bench.engines[5]->memory.data() + 3, source.memory.data(), 4096) == 0);
    CHECK(std::memcmp(bench.memory.bytes.data() + 0x1001, source.memory.data(), 4096) == 0);
    for (const std::uint64_t from : {std::uint64_t{0x1001}, cs_storm_bench::engine_base(1) + 2}) {
        auto back = allocate_slice(4096);
        auto status = request_status::timeout;
        bench.engines[3]->dma.read(from, back, [&](request_status s) { status = s; });
        machines::get().run();
        CHECK(status == request_status::ok);
        CHECK(std::memcmp(back.data(), source.memory.data(), 4096) == 0);
    }
}

TEST_CASE("buffers below the largest payload of the link's two ends are named") {
    port_params small, large;
    small.max_payload = 128;
    large.max_payload = 512;
    small.posted_buffer = {511};
    CHECK(shortage(small, small).empty());
    CHECK(shortage(large, small).empty());
    CHECK(shortage(small, large) ==
          "posted_buffer is 511 B: a payload of 512 B, the larger max_payload of the link's two ends, needs that much, "
          "in units of 16 B");
    small.posted_buffer = {512};
    CHECK(shortage(small, large).empty());
    large.completion_buffer = {500};
    CHECK(shortage(large, small).rfind("completion_buffer is 500 B", 0) == 0);
}

TEST_CASE("a function-level reset keeps what belongs to the link, a reset of the link does not") {
    auto& bench = machines::get().tree;
    auto& engine = *bench.engines[3];
    auto& space = engine.config.space;
    const auto express = space.find_capability(express_id);
    const auto control = express + express::device_control, link = express + express::link_control;
    const auto write = [&](std::size_t reg, std::uint32_t value) {
        auto data = allocate_slice(2);
        std::memcpy(data.data(), &value, 2);
        bench.root.host_configuration(std::uint64_t{engine.dma.id} << 12 | reg, true, data, [](request_status) {});
        machines::get().run();
    };
    write(link, 0x0043);            // ASPM, common clock
    write(control, 0x5030 | 0x0f);  // 256 bytes
    CHECK(engine.dma.max_payload == 256);
    write(control, 0x8000 | 0x5030 | 0x0f);
    CHECK(space.read(0x04, 2) == 0);
    CHECK(space.read(control, 2) == 0x2830);
    CHECK(space.read(link, 2) == 0x0043);
    CHECK(engine.dma.max_payload == 256);
    engine.link.take_down();
    CHECK(space.read(control, 2) == 0x2810);
    CHECK(space.read(link, 2) == 0);
}

TEST_CASE("a port's Command register rules requests between the ports of a switch, and what comes down to it") {
    auto& bench = machines::get().tree;
    auto& board = *bench.boards[0];
    const auto reaches = [&] {
        auto data = allocate_slice(4);
        auto status = request_status::timeout;
        bench.engines[0]->dma.read(cs_storm_bench::engine_base(1), data, [&](request_status s) { status = s; });
        machines::get().run();
        return status == request_status::ok;
    };
    const auto host_reaches = [&] {
        auto data = allocate_slice(4);
        auto status = request_status::timeout;
        bench.root.host_read(cs_storm_bench::engine_base(1), data, [&](request_status s) { status = s; });
        machines::get().run();
        return status == request_status::ok;
    };
    CHECK(reaches());
    CHECK(host_reaches());
    board.downstream[0]->space.set(0x04, 2, 0x2);  // no bus master
    CHECK_FALSE(reaches());
    CHECK(host_reaches());
    board.downstream[0]->space.set(0x04, 2, 0x6);
    board.upstream.space.set(0x04, 2, 0x4);  // no memory space
    CHECK(reaches());
    CHECK_FALSE(host_reaches());
    board.upstream.space.set(0x04, 2, 0x6);
    CHECK(host_reaches());
}
