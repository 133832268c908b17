// SPDX-License-Identifier: Apache-2.0
// First-level caches that fetch the two lines of aligned 128 bytes together.
#include "unit/fabric/gpu_bench.h"

#include "abi/gpu_links.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

vector_cache_params in_pairs(bool reserves_ways) {
    vector_cache_params p;
    p.line_pairs = true;
    p.reserves_ways = reserves_ways;
    p.mshrs = 2;
    return p;
}

constexpr std::uint64_t at = 0x4000'0000'0000 >> 8 | 0x8000'0000, offset = 0x40'0000;
constexpr unsigned home = 2;

struct bench : linked_gpus {
    bench(const char* name, bool reserves_ways)
        : linked_gpus(name, two_clusters(), std::string(name) + "_", in_pairs(reserves_ways)) {}
    vector_cache& l1() { return gpus[0]->machine.system.units[0]->l1; }
    /// Lines that came over the slow link.
    std::uint64_t responses() {
        const auto& slow = net.links()[4];
        return slow.b->sent.of(fabric::packet_class::read_response).bytes / (4 + 64);
    }
    void begin() {
        fresh();
        share(home, at, offset);
        for (unsigned i = 0; i < 128; ++i) (*this)[home].poke<std::uint32_t>(offset + 4 * i, 0x1000 + i);
    }
};

struct machines {
    calendar timeline;
    bench later{"pairs", false}, reserving{"reserving_pairs", true};
    static machines& get() {
        static machines m;
        return m;
    }
};

}  // namespace

TEST_CASE("a miss brings both lines of its 128 bytes, from whichever half") {
    for (bench* b : {&machines::get().later, &machines::get().reserving}) {
        b->begin();
        CHECK((*b)[0].load(0, at + 20) == 0x1005);
        CHECK((*b)[0].load(0, at + 64 + 4) == 0x1011);
        CHECK((*b)[0].load(0, at + 128 + 64) == 0x1030);
        CHECK((*b)[0].load(0, at + 128) == 0x1020);
        CHECK(b->l1().misses.value() == 2);
        CHECK(b->l1().hits.value() == 2);
        CHECK(b->l1().pair_fetches.value() == 2);
        CHECK(b->responses() == 4);
        CHECK(b->l1().bytes_needed.count() == 2);  // what no lane has asked for counts as no line
    }
}

TEST_CASE("loads of both halves share what is under way, and a half that is there is not fetched again") {
    for (bench* b : {&machines::get().later, &machines::get().reserving}) {
        b->begin();
        auto& client = *(*b)[0].clients[0];
        std::vector<vector_access_ptr> loads;
        for (unsigned i = 0; i < 6; ++i) loads.push_back(client.one(access_kind::read, at + 64 * i));
        for (auto& a : loads) client.memory.issue(a);
        memory_machine::run_all();
        for (unsigned i = 0; i < 6; ++i) CHECK(loads[i]->data[0] == 0x1000 + 16 * i);
        CHECK(b->l1().misses.value() == 3);
        CHECK(b->l1().mshr_merges.value() + b->l1().hits.value() == 3);
        CHECK(b->responses() == 6);
        (*b)[0].clients[0]->memory.issue(client.one(access_kind::write, at + 64, 7));
        memory_machine::run_all();
        CHECK((*b)[0].load(0, at + 64) == 7);  // the store of another GPU's line has dropped this half
        CHECK(b->responses() == 7);
        CHECK((*b)[0].load(0, at) == 0x1000);
        CHECK(b->responses() == 7);
    }
}

TEST_CASE("a half that others have written is new after an acquire") {
    for (bench* b : {&machines::get().later, &machines::get().reserving}) {
        b->begin();
        CHECK((*b)[0].load(0, at) == 0x1000);
        (*b)[home].poke<std::uint32_t>(offset + 64, 99);
        CHECK((*b)[0].load(0, at + 64) == 0x1010);
        b->l1().invalidate();
        CHECK((*b)[0].load(0, at) == 0x1000);
        CHECK((*b)[0].load(0, at + 64) == 99);
        CHECK(b->l1().pair_fetches.value() == 2);
    }
}

TEST_CASE("the local memory's lines come in pairs as well") {
    auto& b = machines::get().later;
    b.begin();
    b[0].map(at + 4096, b[0].base() | (offset + 4096));
    b[0].poke<std::uint32_t>(offset + 4096 + 64, 5);
    CHECK(b[0].load(0, at + 4096) == 0);
    CHECK(b[0].load(0, at + 4096 + 64) == 5);
    CHECK(b.l1().misses.value() == 1);
    CHECK(b.responses() == 0);
}
