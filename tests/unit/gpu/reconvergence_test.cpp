// SPDX-License-Identifier: Apache-2.0
// Diverged lanes reconverge where control flow joins, and those that wait for each other end; code as compilers make
// it, code that changes, and code that no compiler writes.
#include <random>

#include "lane_bench.h"

#include "../riscv/assembler.h"
#include "gpu/lanes/block_order.h"

using namespace fabricvp;
using namespace fabricvp::gpu;
using namespace assembler;

namespace {

constexpr std::uint64_t out = lane_bench::data + 4096, shared = lane_bench::data + (8 << 20);
constexpr word end = GPU_OPCODE;

/// Wavefront-instructions of a kernel with one work-group.
double instructions(const std::string& name, std::uint64_t value, std::uint32_t items = 64, ticks longest = 0) {
    auto& b = lane_bench::restart();
    b.memory.longest = longest;
    b.load_file(std::string(FABRICVP_FIRMWARE_DIR) + "/test_diverging.elf");
    b.memory.at<std::uint64_t>(b.data) = out;
    b.memory.at<std::uint64_t>(b.data + 8) = shared;
    b.memory.at<std::uint64_t>(b.data + 16) = value;
    auto what = b.kernel(name, b.data);
    what.grid = what.group = {items, 1, 1};
    REQUIRE_FALSE(b.run(what, 10'000'000'000'000).aborted);
    return b.statistic(".wavefront_instructions");
}

std::uint64_t result(unsigned n) { return lane_bench::instance().memory.at<std::uint64_t>(out + 8 * n); }

double run_words(const std::vector<word>& words) {
    auto& b = lane_bench::instance();
    b.load(words);
    const double before = b.statistic(".wavefront_instructions");
    REQUIRE_FALSE(b.run(b.words(64, 64)).aborted);
    return b.statistic(".wavefront_instructions") - before;
}

code_reader reader_of(const std::vector<word>& words) {
    return [&words](std::uint32_t number, std::uint8_t* to) {
        const std::size_t first = std::size_t{number} * 1024;
        if (first >= words.size()) return false;
        std::memset(to, 0, 4096);
        std::memcpy(to, words.data() + first, std::min<std::size_t>(1024, words.size() - first) * 4);
        return true;
    };
}

/// Who goes on never comes before where they were, so every lane waits for all that are behind it.
void check_order(const control_flow_graph& g, const block_order& order) {
    unsigned wrong = 0;
    for (std::uint32_t e = 0; e < g.edges.size(); ++e) wrong += order.edge_key[e] <= order.position[g.edges[e].from];
    CHECK(wrong == 0);
    auto all = order.position;
    std::sort(all.begin(), all.end());
    CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

}  // namespace

TEST_CASE("lanes that continue a loop wait for those in its body") {
    // Both sides of the condition are executed in each turn, and nothing is executed twice.
    const double few = instructions("continues", 100), many = instructions("continues", 300);
    CHECK((many - few) / 200 <= 13);
    CHECK(lane_bench::instance().statistic(".lane_instructions") > 45 * many);
}

TEST_CASE("lanes reconverge behind a loop whatever their trip counts") {
    for (const unsigned trips : {64u, 6400u, 64000u}) {
        INFO(trips << " turns");
        const double executed = instructions("unequal", trips);
        CHECK(executed < 1.03 * (trips * 3 + trips * 5) + 60);
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < trips; ++i) sum += i;
        for (std::uint64_t i = 0; i < trips; ++i) sum = sum * 3 + i;
        CHECK(result(63) == sum);
    }
}

TEST_CASE("lanes that wait for each other end, after so many instructions") {
    const ticks longest = GENERATE(0u, 300'000u);
    const struct {
        const char* name;
        std::uint64_t rounds;
        double bound;
    } cases[] = {{"hand_over", 100, 45'000}, {"limited_looks", 20, 900'000}, {"reserved_lock", 4, 10'000},
                 {"swap_lock", 4, 9'000},    {"paused_lock", 4, 8'000},      {"backoff_lock", 4, 35'000}};
    for (const auto& c : cases) {
        INFO(c.name);
        const double executed = instructions(c.name, c.rounds, 64, longest);
        CHECK(executed < c.bound);
        const auto counted = lane_bench::instance().memory.at<std::uint32_t>(shared + 128);
        if (std::string(c.name).find("lock") != std::string::npos)
            CHECK(counted == 64 * c.rounds);
        else
            CHECK(result(0) == 2 * c.rounds);
    }
}

TEST_CASE("code that was overwritten between two dispatches has an order of its own") {
    // Odd lanes take the body of an `if`, which lies behind the loop or in it.
    const auto looped = [](bool apart) {
        program p(GPU_CODE_BASE);
        p << csrr(t1, GPU_CSR_LANE) << li(t0, 50);
        const auto top = p.here();
        p << add(t2, t1, t0) << i_type(0x7013, t2, t2, 1);
        if (apart) {
            p << bne(t2, zero, 4 * 4);  // to the body
            const auto latch = p.here();
            p << addi(t0, t0, -1);
            p << bne(t0, zero, static_cast<int>(top) - static_cast<int>(p.here())) << end;
            p << addi(t3, t3, 1) << addi(t3, t3, 1);
            p << j(static_cast<int>(latch) - static_cast<int>(p.here()));
        } else {
            p << beq(t2, zero, 4 * 3) << addi(t3, t3, 1) << addi(t3, t3, 1) << addi(t0, t0, -1);
            p << bne(t0, zero, static_cast<int>(top) - static_cast<int>(p.here())) << end;
        }
        return p.words();
    };
    lane_bench::restart();
    CHECK(run_words(looped(true)) == 3 + 50 * 8);
    CHECK(run_words(looped(false)) == 3 + 50 * 7);
    CHECK(run_words(looped(true)) == 3 + 50 * 8);
    CHECK(run_words(looped(false)) == 3 + 50 * 7);
}

TEST_CASE("lanes whose code cannot be read beforehand still run") {
    auto& b = lane_bench::restart();
    auto read = std::exchange(b.dispatches.read_code, nullptr);
    run_words({csrr(t1, GPU_CSR_LANE), beq(t1, zero, 8), addi(t3, t3, 1), end});
    CHECK(b.dispatches.unread_kernels.value() == 1);
    b.dispatches.read_code = std::move(read);
    run_words({end});
    CHECK(b.dispatches.unread_kernels.value() == 1);
}

TEST_CASE("an inner loop that shares its head with the outer one comes first") {
    // head: body; to the head while inner; tail; to the head while outer
    const std::vector<word> words{addi(t0, t0, 1), bne(t1, zero, -4), addi(t2, t2, 1), bne(t3, zero, -12), end};
    const control_flow_graph g(reader_of(words), 0);
    const block_order order(g);
    check_order(g, order);
    REQUIRE(g.blocks.size() == 3);
    std::uint32_t inner = 0, outer = 0;
    for (std::uint32_t e = 0; e < g.edges.size(); ++e)
        if (g.edges[e].to == 0) (g.edges[e].from == 0 ? inner : outer) = order.edge_key[e];
    CHECK(order.position[0] < inner);
    CHECK(inner < order.position[1]);
    CHECK(order.position[1] < outer);
    CHECK(outer < order.position[2]);
}

TEST_CASE("code that no compiler writes costs a bounded effort") {
    std::mt19937 random(1);
    const unsigned kind = GENERATE(range(0u, 5u));
    constexpr int count = 200'000;
    std::vector<word> words;
    for (int i = 0; i < count; ++i) switch (kind) {
            case 0:
                words.push_back(bne(t0, t1, static_cast<int>(random() % 2048) * 2 * (random() % 2 ? 1 : -1) & ~3));
                break;
            case 1: words.push_back(i % 2 ? bne(t0, t1, -4 * std::min(i, 1023)) : addi(t0, t0, 1)); break;
            case 2:
                words.push_back(jal(i % 3 ? ra : zero, static_cast<int>(random() % 200'000 & ~3u) - 100'000));
                break;
            case 3: words.push_back(random()); break;
            default:  // loops in loops in loops
                words.push_back(i < 512 ? addi(t0, t0, 1) : bne(t0, t1, -4 * std::min(2 * (i - 512), 1023)));
                break;
        }
    const control_flow_graph g(reader_of(words), kind == 2 ? 30'000 : 0);
    CHECK(g.pages.size() <= control_flow_graph::max_pages);
    CHECK(g.blocks.size() > 0);
    const block_order order(g);
    CHECK(order.effort() < 10'000'000);
    auto all = order.position;
    std::sort(all.begin(), all.end());
    CHECK(all.front() > 0);
    CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

TEST_CASE("random control flow is ordered") {
    const unsigned seed = GENERATE(range(1u, 60u));
    std::mt19937 random(seed);
    const int count = 30 + static_cast<int>(random() % 200);
    std::vector<word> words;
    for (int i = 0; i + 1 < count; ++i) {
        const int to = 4 * (static_cast<int>(random() % static_cast<unsigned>(count)) - i);
        words.push_back(random() % 3 == 0 ? bne(t0, t1, to) : random() % 8 == 0 ? j(to) : addi(t0, t0, 1));
    }
    words.push_back(end);
    const control_flow_graph g(reader_of(words), 0);
    INFO("seed " << seed << ", " << g.blocks.size() << " blocks");
    check_order(g, block_order(g));
}
