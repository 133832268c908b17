// SPDX-License-Identifier: Apache-2.0
// Links and switches that die between GPUs, with NetCrafter at the links between clusters and without: accesses take
// another way where there is one; where there is none each ends with one error. And bits that flip on the way of a
// line.
#include "unit/fabric/gpu_bench.h"

#include "fabric/netcrafter/settings.h"

#include "base/fault.h"

using namespace fabricvp;
using namespace fabricvp::test;
using operation = atomic_extension::operation;

namespace {

/// Three switches in a ring or a row, a GPU at each.
fabric::interconnect_params three(bool ring, bool netcrafter) {
    fabric::interconnect_params p;
    p.switches.resize(3);
    for (unsigned i = 0; i < 3; ++i) {
        p.devices.push_back("gpu" + std::to_string(i));
        p.switches[i].name = "s" + std::to_string(i);
        p.switches[i].cluster = i;
        auto& n = fabric::netcrafter::use(p.switches[i].stage);
        n.stitching = n.trimming = netcrafter;
        if (netcrafter) n.pooling = fabric::netcrafter::pooling_mode::selective;
    }
    const auto join = [&](const std::string& from, const std::string& to, std::uint64_t rate) {
        p.links.emplace_back();
        p.links.back().from = from;
        p.links.back().to = to;
        p.links.back().lane_rate = {rate};
    };
    for (unsigned i = 0; i < 3; ++i) join(p.devices[i], p.switches[i].name, 16'000'000'000);
    for (unsigned i = 0; i < (ring ? 3 : 2); ++i) join(p.switches[i].name, p.switches[(i + 1) % 3].name, 2'000'000'000);
    return p;
}

struct machines {
    calendar timeline;
    linked_gpus ring{"ring", three(true, false), "r"}, stitched_ring{"stitched_ring", three(true, true), "sr"};
    linked_gpus row{"row", three(false, false), "w"}, stitched_row{"stitched_row", three(false, true), "sw"};
    static machines& get() {
        static machines m;
        return m;
    }
};

constexpr std::uint64_t at = 0x4000'0000'0000 >> 8 | 0x8000'0000, offset = 0x40'0000;

void order(const std::string& target, const std::string& kind) {
    for (auto* f : all_faults())
        if (f->target() == target && f->kind() == kind) return f->order()->apply();
    FAIL("nothing of the kind can happen to " << target);
}

struct ends {
    unsigned good = 0, failed = 0;
};

constexpr unsigned accesses = 200;

/// GPU 0 loads, stores and adds at lines of GPU `home`; in the middle of it something dies. Each access ends once.
ends use(linked_gpus& b, unsigned home, const std::string& victim) {
    b.fresh();
    b.share(home, at, offset);
    for (unsigned i = 0; i < 1024; ++i) b[home].poke<std::uint32_t>(offset + 4 * i, 0x1000 + i);
    CHECK(b[0].load(0, at + 4) == 0x1001);  // TLBs are warm
    auto& client = *b[0].clients[0];
    client.done.clear();
    std::vector<vector_access_ptr> all;
    for (unsigned i = 0; i < accesses; ++i) {
        auto a = client.one(i % 4 == 1 ? access_kind::write : access_kind::read, at + (i * 64 + 128) % 4096, 7);
        if (i % 4 == 1) a->address[0] += 32;
        if (i % 4 == 2) {
            a = client.one(access_kind::atomic, at + 60, 1);
            a->operation = operation::add;
            a->scope = memory_scope::system;
        }
        a->wavefront = i % 16;
        all.push_back(a);
        client.memory.issue(a);
    }
    calendar::current().run_until(calendar::current().now() + 700'000);
    REQUIRE(client.done.size() > 0);
    REQUIRE(client.done.size() < accesses);
    order(victim, "dead");
    memory_machine::run_all();
    CHECK(client.done.size() == accesses);
    ends found;
    for (const auto& a : all) {
        CHECK(std::count_if(client.done.begin(), client.done.end(), [&](const auto& d) { return d.access == a; }) == 1);
        if (a->fault == memory_fault::none) {
            ++found.good;
            if (a->kind == access_kind::read && a->address[0] % 64 == 0)
                CHECK((a->data[0] == 0x1000 + (a->address[0] - at) / 4));
        } else {
            CHECK(a->fault == memory_fault::bus_error);
            ++found.failed;
        }
    }
    client.done.clear();
    return found;
}

double stat(const std::string& path) { return snapshot_statistics(path.substr(0, path.find('.'))).at(path); }

}  // namespace

TEST_CASE("where there is another way, GPUs notice nothing of a link that dies") {
    auto& m = machines::get();
    for (auto* b : {&m.ring, &m.stitched_ring}) {
        const std::string name = b->net.name();
        INFO(name);
        const auto found = use(*b, 1, name + ".s0.to_s1");
        CHECK(found.failed == 0);
        CHECK(found.good == accesses);
        CHECK(stat(name + ".rerouted") == 1);
        CHECK(stat(name + ".s0.to_s2.sent.packets") > 0);
        CHECK((*b)[1].load(1, at + 4) == 0x1001);
    }
}

TEST_CASE("where there is none, each access across ends with one bus error, and later ones as well") {
    auto& m = machines::get();
    for (auto* b : {&m.row, &m.stitched_row}) {
        const std::string name = b->net.name();
        INFO(name);
        const auto found = use(*b, 2, name + ".s1.to_s2");
        CHECK(found.failed > 0);
        CHECK(found.good + found.failed == accesses);
        auto a = (*b)[0].clients[1]->one(access_kind::read, at + 2048);
        (*b)[0].time(1, a);
        CHECK(a->fault == memory_fault::bus_error);
        // The others reach each other as before.
        (*b)[0].map(at + 4096, (*b)[1].base() | offset);
        (*b)[1].poke<std::uint32_t>(offset, 55);
        CHECK((*b)[0].load(0, at + 4096) == 55);
    }
}

TEST_CASE("a switch that dies cuts its GPU off, and no other") {
    auto& m = machines::get();
    for (auto* b : {&m.ring, &m.stitched_ring}) {
        const std::string name = b->net.name();
        INFO(name);
        const auto found = use(*b, 1, name + ".s1");
        CHECK(found.failed > 0);
        CHECK(stat(name + ".gpu0.packets_failed") > 0);
        (*b)[0].map(at + 4096, (*b)[2].base() | offset);
        (*b)[2].poke<std::uint32_t>(offset, 56);
        CHECK((*b)[0].load(0, at + 4096) == 56);
        // Its own memory is still its own.
        CHECK((*b)[1].load(0, at + 4) == 0x1001);
    }
}
