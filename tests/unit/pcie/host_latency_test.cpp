// SPDX-License-Identifier: Apache-2.0
// What a device's access to the host's memory takes in the root complex.
#include <catch2/catch.hpp>

#include "pcie/copy_engine.h"
#include "pcie/root_complex.h"

#include "cs_storm_bench.h"

using namespace fabricvp;
using namespace fabricvp::pcie;

namespace {

/// An endpoint below a root port.
struct one_device : model {
    static constexpr std::uint64_t memory_base = 0x1'0000'0000;
    test::host_memory memory{"memory"};
    root_complex root;
    copy_engine engine;

    one_device(const sc_core::sc_module_name& name, const root_complex_params& r, const copy_engine_params& e)
        : model(name), root("root", r), engine("engine", e) {
        root.memory.bind(memory.bus);
        connect(root.root_port(0), engine.link);
        auto& b = *root.bridges[0];
        b.space.set(0x18, 3, 0x010100);
        b.space.set(0x24, 4, 0x0ff0'0000 | 0);
        b.space.set(0x28, 4, memory_base >> 32);
        b.space.set(0x2c, 4, memory_base >> 32);
        b.space.set(0x04, 2, 0x6);
        engine.dma.id = 1 << 8;
        engine.dma.max_payload = 256;
        engine.config.space.set(0x18, 8, memory_base | 0xc);
        engine.config.space.set(0x04, 2, 0x6);
    }
};

}  // namespace

TEST_CASE("a device reads host memory, and reads back what it wrote, in the time that was measured on real hosts") {
    // The card of pcie-bench (Neugebauer et al., SIGCOMM 2018) has eight lanes of generation 3.
    calendar timeline;
    root_complex_params r;
    r.root_ports = 1;
    r.root_port.width = 8;
    copy_engine_params e;
    e.link.width = 8;
    one_device bench("bench", r, e);
    const auto read = [&](std::uint64_t address, bool write_first, bool relaxed = false) {
        bench.engine.dma.relaxed_ordering = relaxed;
        const auto begin = timeline.now();
        auto data = allocate_slice(64), seen = allocate_slice(64);
        std::memset(data.data(), 0x5a, 64);
        if (write_first) bench.engine.dma.write(address, data);
        ticks end = 0;
        bench.engine.dma.read(address, seen, [&](request_status s) {
            CHECK(s == request_status::ok);
            end = timeline.now();
        });
        timeline.run_until(begin + 10'000'000);
        REQUIRE(end > begin);
        if (write_first) CHECK(std::memcmp(data.data(), seen.data(), 64) == 0);
        return static_cast<double>(end - begin) / 1000;
    };
    // Of the Xeon E5-2620 v2: 440 and 547 ns. There are no interconnect and no cache here that take 10 ns more.
    const auto alone = read(0x1000, false), behind = read(0x2000, true);
    CHECK(alone == Approx(430).margin(10));
    CHECK(behind - alone == Approx(547 - 440).margin(10));
    // Relaxed ordering lets completions pass writes, no request.
    CHECK(read(0x3000, true, true) == Approx(behind).margin(1));

    // A write is seen after its own latency, and not before.
    auto word = allocate_slice(4);
    std::memset(word.data(), 0xee, 4);
    const auto seen = [&] {
        std::uint32_t v = 0;
        bench.memory.bytes.read(0x4000, &v, 4);
        return v == 0xeeeeeeee;
    };
    const auto begin = timeline.now();
    bench.engine.dma.write(0x4000, word);
    timeline.run_until(begin + r.write_latency);
    CHECK(!seen());
    timeline.run_until(begin + r.write_latency + 70'000);
    CHECK(seen());

    // The completion of a hart's read pushes what the device has written before.
    word.data()[0] = 0x11;
    bool read_done = false, was_seen = false;
    auto memory = allocate_slice(4);
    const auto now = timeline.now();
    bench.root.host_read(one_device::memory_base, memory, [&](request_status status) {
        CHECK(status == request_status::ok);
        std::uint8_t first = 0;
        bench.memory.bytes.read(0x5000, &first, 1);
        was_seen = first == 0x11;
        read_done = true;
    });
    timeline.run_until(now + 100'000);  // the request is at the device, and its completion on its way soon
    REQUIRE(!read_done);
    bench.engine.dma.write(0x5000, word);
    timeline.run_until(now + 10'000'000);
    CHECK((read_done && was_seen));
}
