// SPDX-License-Identifier: Apache-2.0
// Memory as kernels see it, through a whole GPU: latency of each level, bandwidth, stale data, queues that overflow.
#include "unit/gpu/core_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

gpu_core_params small() {
    gpu_core_params p;
    p.compute_units = 16;
    p.memory.capacity = {256 << 20};
    p.memory.l2.banks = 2;
    p.memory.l2.size = {2 << 20};
    p.memory.hbm.channels = 4;
    p.memory.unit.tlb.ways = 16;
    p.memory.l2_tlb.sets = 4;
    p.memory.l2_tlb.ways = 32;
    return p;
}
gpu_core_params narrow() {
    gpu_core_params p = small();
    p.compute_units = 2;
    p.memory.unit.queue = 1;
    return p;
}

constexpr std::uint64_t mapped = 32 << 20;

struct bench {
    calendar cal{"calendar"};
    core_bench large_pages{"gpu", small(), mapped}, small_pages{"paged", small(), mapped, true},
        narrow{"narrow", test_narrow(), mapped};
    static gpu_core_params test_narrow() { return ::narrow(); }
    bench() {
        cal.run_until(0);
        for (auto* b : {&large_pages, &small_pages, &narrow})
            b->load(std::string(FABRICVP_FIRMWARE_DIR) + "/test_memory.elf");
    }
};
bench& all() {
    static bench b;
    return b;
}

const gpu_core_params p = small();
const auto& m = p.memory;
constexpr double issue = 4;  // cycles of the load instruction itself
double cycles_of(cycles c) { return static_cast<double>(c); }
const double l1_hit = cycles_of(m.unit.latency) + cycles_of(m.unit.tlb.latency) + cycles_of(m.unit.l1.latency);
const double l2_round =
    cycles_of(m.router.request_latency) + cycles_of(m.router.response_latency) + cycles_of(m.l2.latency);
const double l2_hit = cycles_of(m.unit.latency) + cycles_of(m.unit.tlb.latency) + cycles_of(m.unit.l1.tag_latency) +
                      cycles_of(m.unit.l1.fill_latency) + l2_round;
const double memory_clock = 1e9 / static_cast<double>(m.hbm.clock.hertz);  // in cycles of the GPU, 1 ns
const double row_hit =
    memory_clock * (static_cast<double>(m.hbm.column_latency) + static_cast<double>(m.hbm.burst_length) / 2);
const double row_open = row_hit + memory_clock * static_cast<double>(m.hbm.row_to_column);
const double row_conflict = row_open + memory_clock * static_cast<double>(m.hbm.row_precharge);

struct chase_arguments {
    std::uint64_t start, out, iterations;
};
/// A ring through `count` places; `turns` after one round to warm up. \returns cycles of a turn
double chase(core_bench& b, std::uint64_t count, std::uint64_t stride, std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < count; ++i) b.poke(b.data + i * stride, b.data + (i + 1) % count * stride);
    const std::uint64_t out = b.data - 4096;
    const auto time = [&](std::uint64_t n) {
        b.run("chase", chase_arguments{b.data, out, n}, 1, 1);
        CHECK(b.peek<std::uint64_t>(out + 8) == b.data + n % count * stride);
        return static_cast<double>(b.peek<std::uint64_t>(out));
    };
    time(count);  // L2 and TLBs stay as they are between kernels, L1 does not
    const double once = time(count);
    return (time(count + iterations) - once) / static_cast<double>(iterations);
}

}  // namespace

TEST_CASE("a kernel that chases pointers meets the latency of each level") {
    auto& b = all().large_pages;
    CHECK(chase(b, 64, 64, 640) == l1_hit + issue);
    CHECK(chase(b, 4096, 64, 4096) == Approx(l2_hit + issue).epsilon(1e-12));  // 256 KiB: more than L1, less than L2
}

TEST_CASE("a kernel that chases pointers through HBM pays for every row") {
    auto& b = all().large_pages;
    auto& dram = b.core.memory.hbm;
    const std::uint64_t lines = 65536, stride = 64;  // 4 MiB: more than L2 holds
    for (std::uint64_t i = 0; i < lines; ++i) b.poke(b.data + i * stride, b.data + (i + 1) % lines * stride);
    const auto counts = [&] {
        return std::array<double, 3>{static_cast<double>(dram.row_hits.value()),
                                     static_cast<double>(dram.row_opens.value()),
                                     static_cast<double>(dram.row_conflicts.value())};
    };
    const std::uint64_t out = b.data - 4096, iterations = 8192;
    std::array<double, 2> time{}, memory{};
    for (unsigned n = 0; n < 2; ++n) {
        const auto before = counts();
        b.run("chase", chase_arguments{b.data + n * (2 << 20), out, iterations * (n + 1)}, 1, 1);
        const auto after = counts();
        time[n] = static_cast<double>(b.peek<std::uint64_t>(out));
        memory[n] = (after[0] - before[0]) * row_hit + (after[1] - before[1]) * row_open +
                    (after[2] - before[2]) * row_conflict;
        CHECK(after[0] > before[0]);
        CHECK(after[1] + after[2] > before[1] + before[2]);
    }
    // A few fetches of code, arguments and tables beside the chase itself are in the counts of both runs.
    const double expected = static_cast<double>(iterations) * (l2_hit + issue) + memory[1] - memory[0];
    CHECK(time[1] - time[0] == Approx(expected).epsilon(0.002));
}

TEST_CASE("a kernel that chases pointers over pages meets the latency of each TLB and of walks") {
    auto& b = all().small_pages;
    const double shared = cycles_of(m.l2_tlb.latency), walk = cycles_of(m.gmmu.latency) + l2_round;
    // Lines at this stride lie in different sets of L1.
    CHECK(chase(b, 8, 4096 + 64, 800) == l1_hit + issue);
    CHECK(chase(b, 64, 4096 + 64, 640) == l1_hit + shared + issue);           // more pages than the first TLB has
    CHECK(chase(b, 250, 4096 + 64, 1000) == l1_hit + shared + walk + issue);  // than the second has; tables are in L2
}

struct stream_arguments {
    std::uint64_t from, out, words, iterations;
};

TEST_CASE("a kernel that streams comes within 5 % of the peak of HBM and of L2") {
    auto& b = all().large_pages;
    const std::uint64_t out = b.data, from = b.data + (8 << 20);  // where nothing was before
    const auto time = [&](std::uint64_t bytes, std::uint64_t iterations, std::uint32_t items) {
        return static_cast<double>(b.run("stream", stream_arguments{from, out, bytes / 8, iterations}, items, 256));
    };
    for (std::uint64_t i = 0; i < (8 << 20) / 8; i += 4096) b.poke(from + i * 8, i);
    const double memory = (16 << 20) * 1e12 / time(16 << 20, 1, 16 * 1024);  // from the launch to the last result
    INFO("HBM: " << memory / 1e9 << " of " << b.core.memory.hbm.peak() / 1e9 << " GB/s");
    CHECK(memory > 0.95 * b.core.memory.hbm.peak());
    CHECK(memory <= 1.001 * b.core.memory.hbm.peak());
    CHECK(b.peek<std::uint64_t>(out) != 0);
    const double peak = static_cast<double>(m.l2.banks) * 64 / static_cast<double>(m.l2.service) * 1e9;
    time(1 << 20, 1, 4096);  // into L2
    const double warm = time(1 << 20, 2, 4096);
    const double l2 = 6 * (1 << 20) * 1e12 / (time(1 << 20, 8, 4096) - warm);
    INFO("L2: " << l2 / 1e9 << " of " << peak / 1e9 << " GB/s");
    CHECK(l2 > 0.95 * peak);
    CHECK(l2 <= 1.001 * peak);
}

TEST_CASE("atomics add numbers") {
    auto& b = all().large_pages;
    b.poke(b.data, std::uint64_t{0});
    b.poke(b.data + 64, std::uint64_t{0});
    b.run("sum_numbers", std::array<std::uint64_t, 2>{b.data, b.data + 64}, 3 * 256, 256);
    CHECK(b.peek<float>(b.data) == 3 * 255 * 256 / 4);  // whole numbers and halves, in any order
    CHECK(b.peek<double>(b.data + 64) == 3 * 256 * 0.25);
}

TEST_CASE("a kernel sees stale data without a fence and the right ones behind it") {
    auto& b = all().large_pages;
    const struct {
        std::uint64_t data, ready, written, out;
    } arguments{b.data, b.data + 256, b.data + 512, b.data + 1024};
    for (const auto at : {arguments.ready, arguments.written}) b.poke(at, std::uint64_t{0});
    b.poke(arguments.data, std::uint64_t{1});
    b.run("handoff", arguments, 2, 1);
    CHECK(b.peek<std::uint64_t>(arguments.out) == 1);
    CHECK(b.peek<std::uint64_t>(arguments.out + 8) == 1);
    CHECK(b.peek<std::uint64_t>(arguments.out + 16) == 2);
    CHECK(b.peek<std::uint64_t>(arguments.out + 24) != b.peek<std::uint64_t>(arguments.out + 32));
}

TEST_CASE("wavefronts that all wait for a memory unit with room for one get their turns") {
    auto& b = all().narrow;
    constexpr unsigned groups = 20, iterations = 10;
    std::vector<std::uint32_t> words(groups * 256), next(256);
    for (std::uint32_t i = 0; i < words.size(); ++i) b.poke(b.data + i * 4, words[i] = i * 2654435761u);
    b.run("rotate", std::array<std::uint64_t, 2>{b.data, iterations}, groups * 256, 256);
    for (unsigned g = 0; g < groups; ++g) {
        std::uint32_t* const w = &words[g * 256];
        for (unsigned iteration = 0; iteration < iterations; ++iteration) {
            for (unsigned i = 0; i < 256; ++i) next[i] = w[i] + 3 * w[(i + 64) % 256] + 5 * w[(i + 128) % 256];
            for (unsigned i = 0; i < 256; ++i) w[i] = next[(i + 1) % 256];
        }
        for (unsigned i = 0; i < 256; ++i)
            if (b.peek<std::uint32_t>(b.data + (g * 256 + i) * 4) != w[i]) FAIL("work-group " << g << ", word " << i);
    }
    CHECK(b.core.memory.units[0]->in_flight() == 0);
    CHECK(b.core.compute_units[0]->stall_queue.value() > 0);
}

namespace {

/// Memory that others own too, as an APU has it: without a bus between, lines come and go in order.
class shared_memory final : public line_target {
public:
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(1 << 20);
    void send(const line_request_ptr& r) override {
        m_scheduler.schedule<&shared_memory::arrive>(r, calendar::current().now() + 60'000, *this);
    }

private:
    void arrive(const line_request_ptr& r) {
        std::uint8_t* const line = &bytes[offset_of(r->line)];
        switch (r->kind) {
            case access_kind::read:
                std::memcpy(r->data.data(), line, line_bytes);
                r->valid_sectors = 0xf;
                break;
            case access_kind::write:
                for (unsigned i = 0; i < line_bytes; ++i)
                    if (r->byte_mask >> i & 1) line[i] = r->data[i];
                break;
            case access_kind::atomic:
                r->operand = perform_atomic(r->operation, line + r->offset, r->size, r->operand);
                break;
            default: r->fault = memory_fault::bus_error; break;
        }
        m_scheduler.respond(r, calendar::current().now() + 1000);
    }
    line_request_scheduler m_scheduler;
};

}  // namespace

TEST_CASE("a GPU core works on memory that is coherent with others") {
    auto& b = all().large_pages;
    static shared_memory shared;
    const std::uint64_t offset = 30 << 20, at = b.image + offset;
    b.map(offset, std::uint64_t{GPU_PA_SYSTEM} << GPU_PA_APERTURE_SHIFT);
    b.core.memory.invalidate_translations(1);
    b.core.router().set_aperture(GPU_PA_SYSTEM, &shared);
    const auto word = [&](unsigned n) -> std::uint32_t& {
        return *reinterpret_cast<std::uint32_t*>(&shared.bytes[n * 4]);
    };
    for (unsigned i = 0; i < 1024; ++i) word(i) = i;
    b.run("add", std::array<std::uint64_t, 2>{at, 1024 * 4}, 1024, 256);
    unsigned wrong = 0;
    for (unsigned i = 0; i < 1024; ++i) wrong += word(i) != 3 * i;
    CHECK(wrong == 0);
    CHECK(word(1024) == 1024);
    b.core.router().set_aperture(GPU_PA_SYSTEM, nullptr);
}
