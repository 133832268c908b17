// SPDX-License-Identifier: Apache-2.0
// What a device's requests meet in the root complex: memory that responds late and in any order, none that responds, a
// port that may not send; and what a debugger sees of configuration space.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "pcie/copy_engine.h"
#include "pcie/root_complex.h"

using namespace fabricvp;
using namespace fabricvp::pcie;

namespace {

/// Memory at address 0 that keeps requests until it is told to respond. It performs no atomics while it is `simple`.
class late_memory final : public bus_target {
public:
    sparse_memory bytes{1 << 20};
    std::deque<bus_payload*> waiting;
    bool simple = false;
    using bus_target::bus_target;

    void respond_to_first() {
        auto* const p = waiting.front();
        waiting.pop_front();
        perform(*p);
        complete(*p);
    }
    void respond_to_last() {
        std::swap(waiting.front(), waiting.back());
        respond_to_first();
    }

private:
    outcome access(bus_payload& p, ticks&) override {
        waiting.push_back(&p);
        return outcome::pending;
    }
    unsigned debug_access(bus_payload&) override { return 0; }
    void perform(bus_payload& p) {
        const auto size = p.get_data_length();
        auto* const atomic = p.get_extension<atomic_extension>();
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        if (!bytes.contains(p.get_address(), size)) {
            p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        } else if (p.is_read()) {
            bytes.read(p.get_address(), p.get_data_ptr(), size);
        } else if (p.is_write()) {
            bytes.write(p.get_address(), p.get_data_ptr(), size);
        } else if (atomic && !simple) {
            std::uint64_t operand = 0, compare = 0;
            std::memcpy(&operand, p.get_data_ptr(), size);
            if (atomic->op == atomic_extension::operation::compare_swap)
                std::memcpy(&compare, p.get_data_ptr() + size, size);
            const auto old = perform_atomic(atomic->op, bytes.data() + p.get_address(), size, operand, compare);
            std::memcpy(p.get_data_ptr(), &old, size);
            atomic->performed = true;
        }
    }
};

struct bench {
    static constexpr std::uint64_t memory_base = 0x1'0000'0000, window = 0x1000'0000;  // of a port
    calendar timeline{"calendar"};
    late_memory memory{"memory"};
    root_complex root{"root", two_ports()};
    copy_engine engine{"engine", copy_engine_params()}, peer{"peer", copy_engine_params()};

    bench() {
        root.memory.bind(memory.bus);
        connect(root.root_port(0), engine.link);
        connect(root.root_port(1), peer.link);
        timeline.run_until(0);
    }
    static root_complex_params two_ports() {
        root_complex_params p;
        p.root_ports = 2;
        p.configuration_retry_limit.value = 25'000'000;
        return p;
    }
    /// As enumeration software would leave it.
    void enumerate() {
        for (unsigned i = 0; i < 2; ++i) {
            auto& b = *root.bridges[i];
            b.space.set(0x18, 3, (i + 1) << 8 | (i + 1) << 16);
            b.space.set(0x24, 4, 0x0ff0'0000 + i * 0x1000'1000);
            b.space.set(0x28, 4, memory_base >> 32);
            b.space.set(0x2c, 4, memory_base >> 32);
            b.space.set(0x04, 2, 0x6);
            auto& e = i ? peer : engine;
            e.dma.id = static_cast<std::uint16_t>((i + 1) << 8);
            e.config.space.set(0x18, 8, (memory_base + i * window) | 0xc);
            e.config.space.set(0x04, 2, 0x6);
        }
    }
    void run(ticks t = 5'000'000) { timeline.run_until(timeline.now() + t); }
    /// Until the memory has so many requests.
    void reach(std::size_t requests) {
        run();
        REQUIRE(memory.waiting.size() == requests);
    }
    struct request {
        buffer_slice data;
        std::shared_ptr<std::optional<request_status>> status = std::make_shared<std::optional<request_status>>();
        std::uint64_t word() const {
            std::uint64_t v;
            std::memcpy(&v, data.data(), sizeof v);
            return v;
        }
    };
    request read(std::uint64_t address) {
        request r{allocate_slice(8)};
        engine.dma.read(address, r.data, [s = r.status](request_status status) { *s = status; });
        return r;
    }
    void write(std::uint64_t address, std::uint64_t value, bool poisoned = false) {
        const auto data = allocate_slice(8);
        std::memcpy(data.data(), &value, 8);
        engine.dma.write(address, data, poisoned);
    }
    request atomic(tlp_kind kind, std::uint64_t operand, std::uint64_t compare = 0) {
        request r{allocate_slice(8)};
        engine.dma.atomic(kind, 0x100, 8, operand, compare, r.data, [s = r.status](request_status t) { *s = t; });
        reach(1);
        memory.respond_to_first();
        run();
        return r;
    }
    std::uint64_t at(std::uint64_t address) {
        std::uint64_t v = 0;
        memory.bytes.read(address, &v, 8);
        return v;
    }
    void put(std::uint64_t address, std::uint64_t value) { memory.bytes.write(address, &value, 8); }
};

bench& fresh() {
    static bench b;
    b.run();
    b.root.reset();
    b.engine.reset();
    b.memory.simple = false;
    b.run();
    b.enumerate();
    restart_statistics();
    REQUIRE(b.memory.waiting.empty());
    return b;
}

}  // namespace

TEST_CASE("each response of a memory goes to its request, in whatever order responses come") {
    auto& b = fresh();
    b.put(0x100, 11);
    b.put(0x200, 22);
    const auto first = b.read(0x100), second = b.read(0x200);
    b.reach(2);
    b.memory.respond_to_last();
    b.run();
    CHECK(!*first.status);
    CHECK(*second.status == request_status::ok);
    CHECK(second.word() == 22);
    b.memory.respond_to_first();
    b.run();
    CHECK(*first.status == request_status::ok);
    CHECK(first.word() == 11);
    b.write(0x100, 33);
    b.reach(1);
    CHECK(b.at(0x100) == 11);
    b.memory.respond_to_first();
    b.run();
    CHECK(b.at(0x100) == 33);
    CHECK(b.root.unsupported.value() == 0);
}

TEST_CASE("AtomicOps have their operands in the order of each bus") {
    auto& b = fresh();
    b.put(0x100, 10);
    CHECK(b.atomic(tlp_kind::fetch_add, 5).word() == 10);
    CHECK(b.atomic(tlp_kind::swap, 7).word() == 15);
    CHECK(b.atomic(tlp_kind::compare_swap, 9, 8).word() == 7);
    CHECK(b.at(0x100) == 7);
    CHECK(b.atomic(tlp_kind::compare_swap, 9, 7).word() == 7);
    CHECK(b.at(0x100) == 9);
    // Memory that has no atomics aborts them.
    b.memory.simple = true;
    CHECK(*b.atomic(tlp_kind::fetch_add, 5).status == request_status::completer_abort);
    CHECK(b.at(0x100) == 9);
    CHECK(b.root.unsupported.value() == 1);
}

TEST_CASE("what no memory has is an unsupported request, and so is what a port may not send") {
    auto& b = fresh();
    const auto beyond = b.read(2 << 20);
    b.reach(1);
    b.memory.respond_to_first();
    b.run();
    CHECK(*beyond.status == request_status::unsupported_request);
    CHECK(b.root.unsupported.value() == 1);
    b.write(2 << 20, 1);  // is posted: none hears of it but the port
    b.reach(1);
    b.memory.respond_to_first();
    b.run();
    CHECK(b.root.unsupported.value() == 2);

    b.root.bridges[0]->space.set(0x04, 2, 0x2);  // no bus master
    b.put(0x100, 1);
    const auto refused = b.read(0x100);
    b.write(0x100, 2);
    b.reach(0);
    CHECK(*refused.status == request_status::unsupported_request);
    CHECK(b.root.unsupported.value() == 4);
    CHECK(b.at(0x100) == 1);
}

TEST_CASE("requests to another port's devices need a port that may send, too") {
    auto& b = fresh();
    const auto good = b.read(bench::memory_base + bench::window + 0x40);
    b.reach(0);
    CHECK(*good.status == request_status::ok);
    CHECK(b.root.peer_to_peer.value() == 2);  // the request and its completion
    b.root.bridges[0]->space.set(0x04, 2, 0x2);
    const auto refused = b.read(bench::memory_base + bench::window + 0x40);
    b.reach(0);
    CHECK(*refused.status == request_status::unsupported_request);
    CHECK(b.root.unsupported.value() == 1);
    CHECK(b.root.peer_to_peer.value() == 2);
}

TEST_CASE("completions of a root port keep to its Max_Payload_Size") {
    auto& b = fresh();
    auto& space = b.root.bridges[0]->space;
    const auto control = space.find_capability(express_id) + express::device_control;
    REQUIRE(b.root.root_port(0).params.max_payload == 256);
    // The largest that software sets and the port can: 128 after a reset; 512 is more than it has.
    for (const auto& [code, completions] : {std::pair{0u, 4u}, {1u, 2u}, {2u, 2u}}) {
        space.set(control, 2, (space.get(control, 2) & ~0xe0u) | code << 5);
        const auto before = b.root.root_port(0).tlps_sent.value();
        bench::request r{allocate_slice(512)};
        b.engine.dma.read(0x1000, r.data, [s = r.status](request_status status) { *s = status; });
        b.reach(1);
        b.memory.respond_to_first();
        b.run();
        CHECK(*r.status == request_status::ok);
        CHECK(b.root.root_port(0).tlps_sent.value() - before == completions);
    }
}

TEST_CASE("a function that is not ready for too long is an error of its configuration request") {
    auto& b = fresh();
    b.engine.not_ready.order()->apply();
    std::optional<request_status> status;
    const auto data = allocate_slice(4);
    b.root.host_configuration(std::uint64_t{1} << 20, false, data, [&](request_status s) { status = s; });
    b.run(25'000'000);
    CHECK(!status);
    CHECK(b.root.configuration_retries.value() == 3);
    b.run(15'000'000);
    CHECK(status == request_status::unsupported_request);
    b.run(1'000'000'000'000);  // ready again
}

TEST_CASE("a poisoned write reaches no memory") {
    auto& b = fresh();
    b.put(0x100, 1);
    b.write(0x100, 2, true);
    b.reach(0);
    CHECK(b.at(0x100) == 1);
}

TEST_CASE("responses to requests from before a reset are nothing") {
    auto& b = fresh();
    const auto lost = b.read(0x100);
    b.write(0x200, 5);
    b.reach(2);
    b.root.reset();
    b.engine.reset();
    std::vector<buffer_slice> others;  // that have its buffers if the memory has them no longer
    for (unsigned i = 0; i < 16; ++i) {
        others.push_back(allocate_slice(8));
        std::memset(others.back().data(), 7, 8);
    }
    b.put(0x100, 44);
    b.memory.respond_to_last();
    b.memory.respond_to_first();
    b.run();
    CHECK(b.at(0x200) == 5);
    for (const auto& o : others) CHECK(std::count(o.data(), o.data() + 8, 7) == 8);
    CHECK((!*lost.status || **lost.status != request_status::ok));
    b.enumerate();
    const auto again = b.read(0x100);
    b.reach(1);
    b.memory.respond_to_first();
    b.run();
    CHECK(*again.status == request_status::ok);
    CHECK(again.word() == 44);
}

TEST_CASE("a debugger reads and writes registers where they are, and nothing beside") {
    auto& b = fresh();
    const auto read = [&](unsigned bus, unsigned device, unsigned function) -> std::uint32_t {
        std::uint32_t id = 0;
        const auto at = std::uint64_t{bus} << 20 | device << 15 | function << 12;
        return b.root.debug_configuration(at, &id) == 4 ? id : 0;
    };
    CHECK(read(0, 1, 0) == 0x1052fab0);
    CHECK(read(1, 0, 0) == 0x1f00fab0);
    for (const auto& [device, function] : {std::pair(0u, 0u), {1u, 1u}, {3u, 0u}})
        CHECK(read(0, device, function) == 0);
    CHECK(read(3, 0, 0) == 0);
    for (const auto at : {std::uint64_t{1} << 15 | 0x3c, std::uint64_t{1} << 20 | 0x3c}) {
        std::uint32_t value = 0;
        CHECK(b.root.debug_configure(at, 0x5a) == 4);
        CHECK(b.root.debug_configuration(at, &value) == 4);
        CHECK((value & 0xff) == 0x5a);
    }
    CHECK(b.root.debug_configure(std::uint64_t{9} << 20, 1) == 0);
    // Bytes that are not enabled stay.
    const auto windows = std::uint64_t{1} << 15 | 0x18;
    std::uint32_t value = 0;
    b.root.debug_configure(windows, 0x00030201);
    b.root.debug_configure(windows, 0x00aabbcc, 0b0010);
    CHECK(b.root.debug_configuration(windows, &value) == 4);
    CHECK(value == 0x0003bb01);
}
