// SPDX-License-Identifier: Apache-2.0
// The registers by which a command processor launches kernels, as its firmware uses them, with two harts and a
// dispatcher that has room for two launches.
#include "unit/gpu/core_bench.h"

#include <string>
#include <vector>

#include "base/bus_log.h"
#include "gpu/control/packet_text.h"
#include "unit/host/bus_master.h"

using namespace fabricvp;
using namespace fabricvp::test;
using namespace fabricvp::time_literals;

namespace {

constexpr std::uint64_t mapped = 4 << 20;
constexpr ticks overhead = 5_us;

gpu_core_params two_harts() {
    gpu_core_params p;
    p.compute_units = 2;
    p.memory.capacity = {64 << 20};
    p.processor.harts = 2;
    p.dispatcher.queue_depth = 2;
    p.launches.software_overhead.value = overhead;
    return p;
}

/// Where kernels of an instruction or two stand in the image.
enum kernel : std::uint64_t { ends = 0, loops = 64, loads_from_0 = 128 };

struct bench {
    calendar cal{"calendar"};
    core_bench gpu{"gpu", two_harts(), mapped};
    stopwatch watch;
    std::vector<std::string> lines;

    bench() {
        cal.run_until(0);
        bus_log::set_sink([this](const std::string&, const std::string& text) { lines.push_back(text); });
    }

    void put(std::uint64_t kernel, std::initializer_list<std::uint32_t> words) {
        for (const auto word : words) {
            gpu.poke(core_bench::image + kernel, word);
            kernel += 4;
        }
    }
    void set(unsigned hart, unsigned offset, std::uint64_t value, unsigned bytes = 4) {
        REQUIRE(gpu.core.processor.registers.write(offset + 0x100 * hart, &value, bytes));
    }
    std::uint64_t get(unsigned offset, unsigned bytes = 4, unsigned hart = 0) {
        std::uint64_t value = 0;
        REQUIRE(gpu.core.processor.registers.read(offset + 0x100 * hart, &value, bytes));
        return value;
    }
    void launch(unsigned hart, std::uint32_t cookie, kernel what, std::uint32_t groups = 1, std::uint32_t flags = 0) {
        set(hart, CP_DISPATCH_IMAGE, core_bench::image, 8);
        set(hart, CP_DISPATCH_ENTRY, GPU_CODE_BASE + what, 8);
        set(hart, CP_DISPATCH_SPACE, 1);
        for (const auto size : {CP_DISPATCH_GRID_X, CP_DISPATCH_GROUP_X}) set(hart, size, 64);
        set(hart, CP_DISPATCH_GRID_X, 64 * groups);
        for (const auto size : {CP_DISPATCH_GRID_Y, CP_DISPATCH_GRID_Z, CP_DISPATCH_GROUP_Y, CP_DISPATCH_GROUP_Z})
            set(hart, size, 1);
        set(hart, CP_DISPATCH_FLAGS, flags);
        set(hart, CP_DISPATCH_START, cookie);
    }
    void reject(std::uint32_t cookie) { launch(0, cookie, ends, 0); }
    void abort(unsigned hart, std::uint32_t cookie) { set(hart, CP_DISPATCH_ABORT, cookie); }
    std::uint64_t events(unsigned hart) { return get(CP_EVENT_PENDING + 4 * hart); }
    std::uint64_t result(unsigned hart = 0) { return get(CP_DISPATCH_DONE, 8, hart); }
    std::uint64_t free() { return get(CP_DISPATCH_FREE); }
    auto& port() { return gpu.core.launches; }
};

/// As a result stands in the register.
std::uint64_t ended(std::uint32_t cookie, gpu_fault fault = GPU_FAULT_NONE) {
    return CP_DISPATCH_DONE_VALID | std::uint64_t{fault} << 32 | cookie;
}

bench& fresh() {
    static bench b;
    b.gpu.core.hold_processor();
    b.watch.run_for(1_ms);  // what was under way is gone
    b.gpu.core.reset();
    b.gpu.set_root();
    restart_statistics();
    b.put(ends, {0x0000000b});
    b.put(loops, {0x0000006f});
    b.put(loads_from_0, {0x00002303});  // lw x6, 0(x0)
    b.lines.clear();
    return b;
}

}  // namespace

TEST_CASE("a launch ends with its cookie and an event, at the hart that has launched it") {
    auto& b = fresh();
    b.launch(1, 7, ends, 3);
    CHECK(b.result(1) == 0);
    b.watch.run_for(overhead - 1);
    CHECK(b.gpu.core.dispatcher.in_flight() == 0);
    b.watch.run_for(1_ms);
    CHECK(b.gpu.core.dispatcher.work_groups.value() == 3);
    CHECK(b.events(0) == 0);
    CHECK(b.events(1) == GPU_EVENT_DISPATCH);
    CHECK(b.result(0) == 0);
    CHECK(b.result(1) == ended(7));
    CHECK(b.events(1) == 0);
    CHECK(b.result(1) == 0);
    CHECK(b.port().launch_to_start.count() == 1);
    CHECK(b.port().launch_to_start.mean() >= static_cast<double>(overhead));
    CHECK(b.get(CP_FAULT_KIND) == GPU_FAULT_NONE);
}

TEST_CASE("the way from a doorbell to a launch is that of a GPU that was idle") {
    auto& b = fresh();
    b.gpu.core.processor.ring(0, 0);
    b.watch.run_for(3_us);
    b.launch(0, 1, loops);
    b.gpu.core.processor.ring(0, 1);  // while a launch waits
    b.launch(0, 2, ends);
    b.watch.run_for(1_ms);
    CHECK(b.result() == ended(2));
    b.abort(0, 1);
    b.watch.run_for(1_ms);
    CHECK(b.port().doorbell_to_launch.count() == 1);
    CHECK(b.port().doorbell_to_launch.mean() == 3_us);
    CHECK(b.port().doorbell_to_instruction.count() == 1);
    CHECK(b.port().launch_to_start.count() == 2);
}

TEST_CASE("launches for which the dispatcher has no room wait in order, and count as taken") {
    auto& b = fresh();
    CHECK(b.free() == 2);
    for (std::uint32_t cookie = 1; cookie <= 4; ++cookie) {
        b.launch(cookie % 2, cookie, loops);
        CHECK(b.free() == (cookie == 1 ? 1 : 0));
    }
    b.watch.run_for(100_us);
    CHECK(b.gpu.core.dispatcher.in_flight() == 2);

    // One that waits ends at once; one that runs when its wavefronts have ended, and the next takes its place.
    b.abort(0, 4);
    CHECK(b.result(0) == ended(4, GPU_FAULT_ABORTED));
    CHECK(b.gpu.core.dispatcher.in_flight() == 2);
    b.abort(0, 1);   // is the other hart's
    b.abort(1, 99);  // of none
    b.watch.run_for(100_us);
    CHECK(b.events(1) == 0);
    b.abort(1, 1);
    CHECK(b.events(1) == 0);
    b.watch.run_for(100_us);
    CHECK(b.result(1) == ended(1, GPU_FAULT_ABORTED));
    CHECK(b.gpu.core.dispatcher.in_flight() == 2);
    CHECK(b.free() == 0);
    b.abort(0, 2);
    b.abort(1, 3);
    b.watch.run_for(100_us);
    CHECK(b.result(0) == ended(2, GPU_FAULT_ABORTED));
    CHECK(b.result(1) == ended(3, GPU_FAULT_ABORTED));
    CHECK(b.free() == 2);
    CHECK(b.get(CP_FAULT_KIND) == GPU_FAULT_NONE);  // what the firmware has ended is no fault
}

TEST_CASE("launches that cannot be are faults without a place") {
    auto& b = fresh();
    b.reject(5);
    b.launch(1, 6, ends, 1 << 20, KERNEL_COOPERATIVE);
    CHECK(b.get(CP_DISPATCH_FLAGS, 4, 1) == 0);  // a launch leaves none
    CHECK(b.port().rejected.value() == 2);
    CHECK(b.result(0) == ended(5, GPU_FAULT_RESOURCES));
    CHECK(b.result(1) == ended(6, GPU_FAULT_RESOURCES));
    for (const std::uint32_t cookie : {5, 6}) {
        CHECK(b.events(0) == GPU_EVENT_FAULT);
        CHECK(b.events(1) == GPU_EVENT_FAULT);
        CHECK(b.get(CP_FAULT_KIND) == GPU_FAULT_RESOURCES);
        CHECK(b.get(CP_FAULT_COOKIE) == cookie);
        CHECK(b.get(CP_FAULT_ADDRESS, 8) == 0);
        b.set(0, CP_FAULT_POP, 0);
    }
    CHECK(b.get(CP_FAULT_KIND) == GPU_FAULT_NONE);
    CHECK(b.events(0) == 0);
    b.set(0, CP_FAULT_POP, 0);  // of nothing
    CHECK(b.get(CP_FAULT_KIND) == GPU_FAULT_NONE);
}

TEST_CASE("faults that find the FIFO full are counted, and results are kept") {
    auto& b = fresh();
    constexpr unsigned room = 64;
    for (std::uint32_t cookie = 0; cookie < room + 3; ++cookie) b.reject(cookie);
    CHECK(b.port().faults_dropped.value() == 3);
    for (std::uint32_t cookie = 0; cookie < room; ++cookie) {
        CHECK(b.get(CP_FAULT_COOKIE) == cookie);
        b.set(0, CP_FAULT_POP, 0);
    }
    CHECK(b.get(CP_FAULT_KIND) == GPU_FAULT_NONE);
    for (std::uint32_t cookie = 0; cookie < room + 3; ++cookie) CHECK(b.result() == ended(cookie, GPU_FAULT_RESOURCES));
}

TEST_CASE("a lane that goes wrong ends its launch, and its place stands in the registers") {
    auto& b = fresh();
    b.launch(0, 9, loads_from_0);
    b.watch.run_for(1_ms);
    CHECK(b.events(0) == (GPU_EVENT_DISPATCH | GPU_EVENT_FAULT));
    const auto kind = static_cast<gpu_fault>(b.get(CP_FAULT_KIND));
    CHECK(fault_text(kind) == "bad aperture");
    CHECK(b.get(CP_FAULT_COOKIE) == 9);
    CHECK(b.get(CP_FAULT_PC, 8) == GPU_CODE_BASE + loads_from_0);
    CHECK(b.get(CP_FAULT_ADDRESS, 8) == 0);
    CHECK(b.get(CP_FAULT_GROUP_X) == 0);
    CHECK(b.result() == ended(9, kind));
}

TEST_CASE("a processor that is held in reset leaves no launch, result or fault behind") {
    auto& b = fresh();
    b.reject(1);
    for (std::uint32_t cookie = 2; cookie <= 4; ++cookie) b.launch(0, cookie, loops);
    b.watch.run_for(100_us);
    b.launch(0, 5, loops);  // still waits for the driver
    CHECK(b.gpu.core.dispatcher.in_flight() == 2);
    b.gpu.core.hold_processor();
    CHECK(b.events(0) == 0);
    CHECK(b.result() == 0);
    CHECK(b.get(CP_FAULT_KIND) == GPU_FAULT_NONE);
    b.watch.run_for(100_us);
    CHECK(b.gpu.core.dispatcher.in_flight() == 0);
    CHECK(b.events(0) == 0);
    CHECK(b.result() == 0);
    CHECK(b.free() == 2);
    CHECK(b.gpu.core.dispatcher.dispatches.value() == 2);
    b.launch(0, 6, ends);
    b.watch.run_for(100_us);
    CHECK(b.result() == ended(6));
}

TEST_CASE("the log of the bus tells of launches, rejections, ends and aborts") {
    auto& b = fresh();
    b.gpu.core.processor.set_log(b.gpu.core.log);
    REQUIRE(bus_log::show("gpu"));
    b.launch(0, 1, ends);
    b.launch(0, 2, loops);
    b.watch.run_for(1_ms);
    b.launch(0, 3, loops);
    b.abort(0, 3);
    b.abort(0, 2);
    b.reject(4);
    b.watch.run_for(1_ms);
    bus_log::show("gpu", false);
    const auto told = [&](const std::string& what) {
        unsigned count = 0;
        for (const auto& line : b.lines) count += line.find(what) != std::string::npos;
        return count;
    };
    CHECK(told("launched: kernel") == 3);
    CHECK(told("ended after 5.") == 1);
    CHECK(told("failed (aborted)") == 2);
    CHECK(told("not launched: the grid is empty") == 1);
    CHECK(b.lines.size() == 7);
}
