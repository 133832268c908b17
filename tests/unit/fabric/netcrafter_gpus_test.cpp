// SPDX-License-Identifier: Apache-2.0
// GPUs whose remote lines are trimmed, and GPUs with sector caches.
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

struct bench : linked_gpus {
    bench(const std::string& name, bool on, bool sectored, sequencing_mode first = sequencing_mode::page_tables)
        : linked_gpus(name.c_str(), quad(on, first), name + "_", sectored) {}
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
    bench on{"on", true, false}, sectors{"sectors", false, true}, both{"both", true, true},
        critical{"critical", true, false, sequencing_mode::read_critical};
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
