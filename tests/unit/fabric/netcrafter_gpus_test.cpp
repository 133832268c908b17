// SPDX-License-Identifier: Apache-2.0
// GPUs whose remote lines are trimmed, always or as a predictor says, and GPUs with sector caches.
#include "unit/fabric/gpu_bench.h"

#include "abi/gpu_links.h"
#include "fabric/netcrafter/controller.h"
#include "fabric/netcrafter/settings.h"

using namespace fabricvp;
using namespace fabricvp::test;
using operation = atomic_extension::operation;

namespace {

using fabric::netcrafter::sequencing_mode;

fabric::interconnect_params quad(bool on, sequencing_mode first) {
    auto p = two_clusters();
    for (auto& s : p.switches) {
        auto& n = fabric::netcrafter::use(s.stage);
        n.stitching = n.trimming = on;
        if (on) n.pooling = fabric::netcrafter::pooling_mode::selective;
        if (on) n.sequencing = first;
    }
    return p;
}

vector_cache_params sector_cache() {
    vector_cache_params p;
    p.sectored = true;
    return p;
}

/// A small L1, so that lines leave it soon.
vector_cache_params predicting(bool reserves_ways) {
    vector_cache_params p;
    p.size = {1 << 10};
    p.reserves_ways = reserves_ways;
    p.trim_predictor = true;
    p.trim_history = 2;
    return p;
}

struct bench : linked_gpus {
    bench(const std::string& name, bool on, const vector_cache_params& l1 = {},
          sequencing_mode first = sequencing_mode::page_tables)
        : linked_gpus(name.c_str(), quad(on, first), name + "_", l1) {}
    vector_cache& l1(unsigned i) { return gpus[i]->machine.system.units[0]->l1; }
    std::uint64_t bytes(fabric::packet_class c, bool to_first) {
        const auto& slow = net.links()[4];
        return (to_first ? slow.b : slow.a)->sent.of(c).bytes;
    }
    fabric::netcrafter::controller& controller(unsigned cluster) {
        auto& s = *net.switches[cluster];
        for (unsigned i = 0; i < s.ports(); ++i)
            if (auto* c = dynamic_cast<fabric::netcrafter::controller*>(&s.egress_of(i))) return *c;
        throw std::logic_error("no controller");
    }
};

struct machines {
    calendar timeline;
    bench on{"on", true}, sectors{"sectors", false, sector_cache()}, both{"both", true, sector_cache()},
        critical{"critical", true, {}, sequencing_mode::read_critical}, predictor{"predictor", true, predicting(false)},
        reserving{"reserving", true, predicting(true)};
    static machines& get() {
        static machines m;
        return m;
    }
};

constexpr std::uint64_t at = 0x4000'0000'0000 >> 8 | 0x8000'0000, offset = 0x40'0000;

void share(bench& b, unsigned home) {
    b.linked_gpus::share(home, at, offset);
    for (unsigned i = 0; i < 64; ++i) b[home].poke<std::uint32_t>(offset + 4 * i, 0x1000 + i);
}

}  // namespace

TEST_CASE("a line that crosses is cut to the sector that is needed, and the rest is fetched when asked") {
    auto& b = machines::get().on;
    b.fresh();
    share(b, 2);
    CHECK(b[0].load(0, at + 20) == 0x1005);
    CHECK(b.controller(1).trimmed.value() == 1);
    CHECK(b.bytes(fabric::packet_class::read_response, true) == 20);
    CHECK(b[0].load(0, at + 16) == 0x1004);  // the same sector: in L1
    CHECK(b.l1(0).hits.value() == 1);
    CHECK(b[0].load(0, at + 4) == 0x1001);  // another one: fetched
    CHECK(b.l1(0).sector_misses.value() == 1);
    CHECK(b.bytes(fabric::packet_class::read_response, true) == 40);
    CHECK(b[0].load(0, at + 24) == 0x1006);  // the first is still there
    CHECK(b.l1(0).hits.value() == 2);
    // Two sectors at once bring the line.
    auto wide = b[0].clients[0]->make(access_kind::read, 4);
    wide->mask = 3;
    wide->address[0] = at + 128;
    wide->address[1] = at + 128 + 32;
    b[0].time(0, wide);
    CHECK(wide->data[0] == 0x1020);
    CHECK(wide->data[1] == 0x1028);
    CHECK(b.bytes(fabric::packet_class::read_response, true) == 40 + 68);
    CHECK(b.controller(1).trimmed.value() == 2);
    // Inside the cluster lines are whole.
    CHECK(b[3].load(0, at + 20) == 0x1005);
    CHECK(b.net.terminals[3]->link->partner()->sent.of(fabric::packet_class::read_response).bytes == 68);
    CHECK(b[3].load(0, at + 4) == 0x1001);
    CHECK(b.l1(3).sector_misses.value() == 0);
}

TEST_CASE("loads of one line that differ in their sector get theirs, one after the other") {
    auto& b = machines::get().on;
    b.fresh();
    share(b, 1);
    auto& client = *b[3].clients[0];
    std::vector<vector_access_ptr> loads;
    for (unsigned i = 0; i < 4; ++i) loads.push_back(client.one(access_kind::read, at + 16 * i));
    for (auto& a : loads) client.memory.issue(a);
    memory_machine::run_all();
    for (unsigned i = 0; i < 4; ++i) CHECK(loads[i]->data[0] == 0x1000 + 4 * i);
    CHECK(b.l1(3).mshr_merges.value() == 3);
    CHECK(b.l1(3).refetches.value() >= 1);
    CHECK(b.l1(3).refetches.value() <= 3);
}

TEST_CASE("all kinds of accesses work through the controllers") {
    auto& b = machines::get().on;
    b.fresh();
    share(b, 1);
    constexpr unsigned rounds = 20;
    for (unsigned r = 0; r < rounds; ++r) {
        for (unsigned g = 0; g < 4; ++g)
            for (unsigned u = 0; u < 2; ++u) {
                auto a = b[g].clients[u]->make(access_kind::atomic, 4, u);
                a->operation = operation::add;
                a->scope = memory_scope::system;
                a->mask = ~lane_mask{0};
                a->address.fill(at);
                a->data.fill(1);
                b[g].clients[u]->memory.issue(a);
                b[g].clients[u]->memory.issue(
                    b[g].clients[u]->one(access_kind::write, at + 1024 + 64 * g + 4 * u + 1, r, 2));
                b[g].clients[u]->memory.issue(b[g].clients[u]->one(access_kind::read, at + 2048 + 64 * r + 16 * g));
            }
        memory_machine::run_all();
    }
    CHECK(b[1].peek<std::uint32_t>(offset) == 0x1000 + 4 * 2 * 64 * rounds);
    for (unsigned g = 0; g < 4; ++g)
        for (unsigned u = 0; u < 2; ++u) {
            const auto word = b[1].peek<std::uint32_t>(offset + 1024 + 64 * g + 4 * u);
            CHECK((word >> 8 & 0xffff) == rounds - 1);
        }
    // Compare and swap, load-reserved, store-conditional, locks.
    line_listener listener;
    auto swap = listener.make(access_kind::atomic, b[1].base() | (offset + 512));
    b[1].poke<std::uint64_t>(offset + 512, 77);
    swap->operation = operation::compare_swap;
    swap->compare = 77;
    swap->operand = 99;
    b[2].system.router.send(swap);
    memory_machine::run_all();
    CHECK(listener.responses[0].operand == 77);
    CHECK(b[1].peek<std::uint64_t>(offset + 512) == 99);
    b[3].system.router.send(listener.make(access_kind::lock, b[1].base() | offset));
    memory_machine::run_all();
    CHECK(listener.responses[1].succeeded);
    b[3].system.router.send(listener.make(access_kind::unlock, b[1].base() | offset));
    memory_machine::run_all();
    CHECK(listener.responses[2].succeeded);
    auto reserve = b[2].clients[0]->one(access_kind::load_reserved, at + 512);
    b[2].time(0, reserve);
    CHECK(reserve->data[0] == 99);
    auto conditional = b[2].clients[0]->one(access_kind::store_conditional, at + 512, 55);
    b[2].time(0, conditional);
    CHECK(conditional->data[0] == 0);
    CHECK(b[1].peek<std::uint32_t>(offset + 512) == 55);
    for (const unsigned c : {0u, 1u}) {
        CHECK(b.controller(c).empty());
        CHECK(b.controller(c).packets.value() == b.controller(c).left.value());
        CHECK(b.controller(c).stitched.value() > 0);
    }
}

TEST_CASE("page tables in another cluster are walked with entries of eight bytes") {
    auto& b = machines::get().on;
    b.fresh();
    b[0].map(at, b[0].base() | offset);
    b[0].poke<std::uint32_t>(offset, 77);
    b[3].system.gmmu.set_root(1, b[0].base() | b[0].root);
    CHECK(b[3].load(0, at) == 77);
    CHECK(b.bytes(fabric::packet_class::page_table_response, false) == 4 * 12);
    CHECK(b.controller(0).prioritized.value() == 4);
    CHECK(b.controller(1).prioritized.value() == 4);
}

TEST_CASE("walks that a load waits for go first, those of stores do not, there and back") {
    auto& b = machines::get().critical;
    b.fresh();
    for (unsigned page = 0; page < 2; ++page) b[0].map(at + 4096 * page, b[0].base() | offset | 4096 * page);
    b[3].system.gmmu.set_root(1, b[0].base() | b[0].root);
    b[3].store(0, at, 1);
    CHECK(b.bytes(fabric::packet_class::page_table_response, false) == 4 * 12);
    CHECK(b.controller(0).prioritized.value() == 0);
    CHECK(b.controller(1).prioritized.value() == 0);
    b[3].load(0, at + 4096);  // the walk caches know all but the last level
    CHECK(b.bytes(fabric::packet_class::page_table_response, false) == 5 * 12);
    CHECK(b.controller(0).prioritized.value() == 1);
    // The registers' one bit for sequencing stands for what the machine was built with.
    auto& controls = *b.controller(0).controls();
    CHECK(controls.settings() & GPU_LINK_SEQUENCING);
    controls.set(0);
    CHECK(b.controller(0).parts().sequencing == sequencing_mode::none);
    controls.set(GPU_LINK_SEQUENCING);
    CHECK(b.controller(0).parts().sequencing == sequencing_mode::read_critical);
    CHECK(b.controller(1).prioritized.value() == 1);
}

TEST_CASE("a sector cache fetches sectors, from everywhere") {
    for (auto* machine : {&machines::get().sectors, &machines::get().both}) {
        auto& b = *machine;
        b.fresh();
        share(b, 0);
        for (const unsigned g : {0u, 1u, 2u}) {
            INFO(g);
            CHECK(b[g].load(0, at + 20) == 0x1005);
            CHECK(b[g].load(0, at + 16) == 0x1004);
            CHECK(b.l1(g).hits.value() == 1);
            CHECK(b[g].load(0, at + 4) == 0x1001);
            CHECK(b.l1(g).sector_misses.value() == 1);
            auto wide = b[g].clients[0]->make(access_kind::read, 4);
            wide->mask = 7;
            for (unsigned i = 0; i < 3; ++i) wide->address[i] = at + 128 + 16 * i;
            b[g].time(0, wide);
            for (unsigned i = 0; i < 3; ++i) CHECK(wide->data[i] == 0x1020 + 4 * i);
            CHECK(b[g].load(0, at + 128 + 48) == 0x102c);
            CHECK(b.l1(g).sector_misses.value() == 2);
        }
        CHECK(b.net.terminals[1]->link->partner()->sent.of(fabric::packet_class::read_response).bytes ==
              20 + 20 + 52 + 20);
        CHECK(b.bytes(fabric::packet_class::read_response, false) == 20 + 20 + 52 + 20);
    }
}

namespace {

/// Loads of GPU 0 from one of the other cluster, whose L1 there predicts.
struct predicting_loads {
    bench& b;
    static constexpr std::uint64_t first = 0x10000000, second = first + 4;  ///< instructions
    explicit predicting_loads(bench& machine) : b(machine) {
        b.fresh();
        share(b, 2);
        for (unsigned page = 1; page < 4; ++page) b.linked_gpus::share(2, at + 4096 * page, offset + 4096 * page);
    }
    vector_access_ptr make(unsigned line, unsigned sector, std::uint64_t pc = first) {
        auto a = b[0].clients[0]->one(access_kind::read, at + 64 * line + 16 * sector);
        a->pc = pc;
        return a;
    }
    /// \returns bytes of the response that crossed; 0: it hit
    std::uint64_t load(unsigned line, unsigned sector, std::uint64_t pc = first) {
        const auto before = b.bytes(fabric::packet_class::read_response, true);
        auto a = make(line, sector, pc);
        b[0].time(0, a);
        CHECK(a->fault == memory_fault::none);
        if (line < 4) CHECK(a->data[0] == 0x1000 + 16 * line + 4 * sector);
        return b.bytes(fabric::packet_class::read_response, true) - before;
    }
    const reuse_predictor& predictor() { return *b.l1(0).predictor(); }
};
constexpr std::uint64_t trimmed_bytes = 20, whole_bytes = 68;

}  // namespace

TEST_CASE("the predictor keeps lines of an instruction whole once one was asked for another sector") {
    for (auto* machine : {&machines::get().predictor, &machines::get().reserving}) {
        predicting_loads m(*machine);
        CHECK(m.load(0, 1) == trimmed_bytes);  // nothing is known yet
        CHECK(m.load(0, 1) == 0);              // the same sector again is no reuse
        CHECK(m.predictor().reused.value() == 0);
        CHECK(m.load(0, 2) == whole_bytes);
        CHECK(m.predictor().reused.value() == 1);
        CHECK(m.load(0, 3) == 0);
        CHECK(m.load(1, 0) == whole_bytes);
        CHECK(m.load(1, 1) == 0);
        CHECK(m.predictor().reused.value() == 2);
        CHECK(m.load(2, 0, m.second) == trimmed_bytes);  // another instruction
        CHECK(m.predictor().trimmed.value() == 2);
        CHECK(m.predictor().kept_whole.value() == 2);
    }
}

TEST_CASE("an instruction's lines are trimmed again when as many in a row as the history has left unused") {
    for (auto* machine : {&machines::get().predictor, &machines::get().reserving}) {
        predicting_loads m(*machine);
        m.load(0, 0);
        m.load(0, 1);
        // An L1 of 16 lines in four sets: line n goes when four more of its set have come.
        for (unsigned n = 0; n < 5; ++n) CHECK(m.load(4 * n + 3, 0) == whole_bytes);
        CHECK(m.predictor().unused.value() == 1);
        // A line that takes its way at the request sends the other one away before the decision.
        const bool early = machine == &machines::get().reserving;
        CHECK(m.load(4 * 5 + 3, 0) == (early ? trimmed_bytes : whole_bytes));
        CHECK(m.predictor().unused.value() == 2);
        CHECK(m.load(4 * 6 + 3, 0) == trimmed_bytes);
        // Coming back for another sector of a line that has left is no reuse: a new lifetime.
        CHECK(m.load(3, 2) == trimmed_bytes);
        CHECK(m.predictor().reused.value() == 1);
        // An acquire ends them all: what lies there unused counts.
        const auto before = m.predictor().unused.value();
        m.load(8, 0);
        CHECK(m.load(8, 1) == whole_bytes);
        m.b[0].system.units[0]->invalidate();
        CHECK(m.predictor().unused.value() == before + 4);
        CHECK(m.load(9, 0) == trimmed_bytes);
    }
}

TEST_CASE("a load that joins a fetch for another sector is reuse as well") {
    for (auto* machine : {&machines::get().predictor, &machines::get().reserving}) {
        predicting_loads m(*machine);
        std::vector<vector_access_ptr> loads{m.make(0, 0), m.make(0, 1), m.make(0, 2)};
        for (auto& a : loads) m.b[0].clients[0]->memory.issue(a);
        memory_machine::run_all();
        for (unsigned i = 0; i < 3; ++i) CHECK(loads[i]->data[0] == 0x1000 + 4 * i);
        CHECK(m.predictor().reused.value() == 1);
        CHECK(m.load(1, 0) == whole_bytes);
    }
}

TEST_CASE("several sectors tell nothing, and a scoped load ends a lifetime") {
    predicting_loads m(machines::get().predictor);
    auto wide = m.make(1, 0);
    wide->mask = 3;
    wide->address[1] = at + 64 + 16;
    m.b[0].time(0, wide);
    m.load(1, 3);
    CHECK(m.predictor().reused.value() == 0);
    CHECK(m.load(2, 0) == trimmed_bytes);
    auto scoped = m.make(2, 0);
    scoped->scope = memory_scope::system;
    m.b[0].time(0, scoped);
    CHECK(m.predictor().unused.value() == 1);
    CHECK(m.load(2, 1) == trimmed_bytes);
    CHECK(m.predictor().reused.value() == 0);
    // Lines of the own memory are followed; their requests are no decisions.
    m.b[0].map(at + 64 * 1024, m.b[0].base() | offset);
    const auto decisions = m.predictor().trimmed.value() + m.predictor().kept_whole.value();
    m.load(1024, 0);
    m.load(1024, 1);
    CHECK(m.predictor().reused.value() == 1);
    CHECK(m.predictor().trimmed.value() + m.predictor().kept_whole.value() == decisions);
    CHECK(m.load(3, 0) == whole_bytes);
}

TEST_CASE("the predictor's table replaces the least recently used instruction") {
    predicting_loads m(machines::get().predictor);
    const auto pc = [](unsigned n) { return predicting_loads::first + 4 * n; };
    m.load(0, 0, pc(0));
    m.load(0, 1, pc(0));
    m.load(1, 0, pc(1));
    m.load(1, 1, pc(1));
    CHECK(m.load(2, 0, pc(0)) == whole_bytes);  // seen again, later than pc(1)
    for (unsigned n = 2; n <= reuse_predictor::instructions; ++n) m.load(4 + n, 0, pc(n));
    CHECK(m.load(200, 0, pc(0)) == whole_bytes);
    CHECK(m.load(201, 0, pc(1)) == trimmed_bytes);
}

TEST_CASE("predicted machines do the same after a reset") {
    const auto traffic = [] {
        predicting_loads m(machines::get().predictor);
        std::vector<std::uint64_t> seen;
        for (unsigned i = 0; i < 200; ++i) {  // one of three instructions comes back for another sector
            const unsigned line = i / 2, other = line % 3 == 0 ? i % 2 : 0;
            seen.push_back(m.load(4 + line * 7 % 40, (line * 5 + other) % 4, m.first + line % 3 * 4));
        }
        seen.push_back(m.predictor().trimmed.value());
        seen.push_back(m.predictor().kept_whole.value());
        seen.push_back(m.predictor().unused.value());
        return seen;
    };
    const auto once = traffic();
    CHECK(once[200] > 0);
    CHECK(once[201] > 0);
    CHECK(traffic() == once);
}
