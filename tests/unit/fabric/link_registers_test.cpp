// SPDX-License-Identifier: Apache-2.0
// NetCrafter and lanes, switched while a fabric runs by the registers that GPUs have for it.
#include "unit/fabric/gpu_bench.h"

#include "fabric/netcrafter/controller.h"
#include "fabric/netcrafter/settings.h"
#include "gpu/control/link_registers.h"

using namespace fabricvp;
using namespace fabricvp::test;
using link::lane_policy_kind;

namespace {

constexpr std::uint64_t at = 0x8000'0000, offset = 0x40'0000, pages = 16;
constexpr unsigned slow = 2;  // port of cluster 0 to cluster 1
constexpr std::uint32_t all = GPU_LINK_STITCHING | GPU_LINK_TRIMMING | GPU_LINK_SELECTIVE_POOLING | GPU_LINK_SEQUENCING;

fabric::interconnect_params quad() {
    auto p = two_clusters();
    for (auto& s : p.switches) fabric::netcrafter::use(s.stage).trimming = true;
    p.links.back().reversible.policy = lane_policy_kind::milic2017;
    p.links.back().reversible.sample_time = {200'000};
    p.links.back().reversible.threshold = 0.3;
    return p;
}

struct panel {
    const fabric_port& fabric;
    explicit panel(const fabric_port& f) : fabric(f) {}
    std::uint64_t get(std::uint64_t from, unsigned bytes = 4) {
        std::uint64_t value = 0;
        REQUIRE(link_registers(fabric.attached()).bank.read(from, &value, bytes));
        return value;
    }
    void set(std::uint64_t to, std::uint32_t value) {
        REQUIRE(link_registers(fabric.attached()).bank.write(to, &value, 4));
    }
    std::uint64_t waits() { return get(GPU_LINK_PENDING, 8); }
};

struct bench {
    calendar timeline;
    linked_gpus gpus{"net", quad()};
    panel first{gpus.port(0)}, second{gpus.port(1)}, third{gpus.port(2)};
    memory_machine alone{"alone_gpu", small_gpu(), 2, 0};
    fabric_port unlinked{"unlinked", alone.system.router};
    panel without{unlinked};

    static bench& fresh() {
        static bench b;
        b.gpus.fresh();
        for (unsigned p = 0; p < pages; ++p) b.gpus.share(2, at + 4096 * p, offset + 4096 * p);
        return b;
    }
    const fabric::netcrafter::controller& controller(unsigned cluster) {
        return dynamic_cast<const fabric::netcrafter::controller&>(gpus.net.switches[cluster]->egress_of(slow));
    }
    link::lane_controller& lanes() { return *gpus.net.reversible[0]; }
    link::programmable_policy& policy() { return gpus.net.links()[4].lanes->policy(); }
    /// Lines of GPU 2 to GPU 0, in order of their addresses.
    void load(unsigned lines) {
        auto& client = *gpus[0].clients[0];
        for (unsigned i = 0; i < lines; ++i) client.memory.issue(client.one(access_kind::read, at + 64 * i));
    }
};

}  // namespace

TEST_CASE("registers tell what the switch's links have, to all GPUs of the switch alike") {
    auto& b = bench::fresh();
    for (auto* p : {&b.first, &b.second}) {
        CHECK(p->get(GPU_LINKS) == 3);
        for (unsigned l = 0; l < 2; ++l) {
            CHECK(p->get(GPU_LINK_NETCRAFTER + 4 * l) == 0);
            CHECK(p->get(GPU_LINK_LANES + 4 * l) == 0);
        }
        CHECK(p->get(GPU_LINK_NETCRAFTER + 4 * slow) == (GPU_LINK_PRESENT | GPU_LINK_TRIMMING));
        CHECK(p->get(GPU_LINK_LANES + 4 * slow) == (GPU_LINK_PRESENT | GPU_LINK_MILIC2017));
        CHECK(p->get(GPU_LINK_LANES + 4 * 3) == 0);
        CHECK(p->waits() == 0);
    }
    b.first.set(GPU_LINK_NETCRAFTER + 4 * slow, all);
    CHECK(b.second.get(GPU_LINK_NETCRAFTER + 4 * slow) == (GPU_LINK_PRESENT | all));
    CHECK(b.third.get(GPU_LINK_NETCRAFTER + 4 * slow) ==
          (GPU_LINK_PRESENT | GPU_LINK_TRIMMING));  // what the other switch sends
    b.third.set(GPU_LINK_LANES + 4 * slow, GPU_LINK_PREDICTIVE);
    CHECK(b.first.get(GPU_LINK_LANES + 4 * slow) ==
          (GPU_LINK_PRESENT | GPU_LINK_PREDICTIVE));  // the lanes are those of both
    b.first.set(GPU_LINK_NETCRAFTER + 4 * slow, GPU_LINK_POOLING | GPU_LINK_DATA_FIRST);
    CHECK(b.first.get(GPU_LINK_NETCRAFTER + 4 * slow) ==
          (GPU_LINK_PRESENT | GPU_LINK_DATA_FIRST));  // nothing to pool for
    b.first.set(GPU_LINK_NETCRAFTER, all);            // a link without a controller
    CHECK(b.first.get(GPU_LINK_NETCRAFTER) == 0);
    b.gpus.net.reset();
    CHECK(b.first.get(GPU_LINK_NETCRAFTER + 4 * slow) == (GPU_LINK_PRESENT | GPU_LINK_TRIMMING));
    CHECK(b.first.get(GPU_LINK_LANES + 4 * slow) == (GPU_LINK_PRESENT | GPU_LINK_MILIC2017));
    CHECK(b.without.get(GPU_LINKS) == 0);
    b.without.set(GPU_LINK_NETCRAFTER, all);
    CHECK(b.without.get(GPU_LINK_NETCRAFTER) == 0);
    CHECK(b.without.waits() == 0);
}

TEST_CASE("parts of NetCrafter go off and on, and what is sent shows it") {
    auto& b = bench::fresh();
    b.load(20);
    memory_machine::run_all();
    CHECK(b.controller(1).trimmed.value() == 20);
    b.third.set(GPU_LINK_NETCRAFTER + 4 * slow, 0);
    CHECK(b.third.waits() == 0);  // nothing was there to wait for
    b.gpus[0].clients[0]->memory.issue(b.gpus[0].clients[0]->one(access_kind::read, at + 64 * 30));
    memory_machine::run_all();
    CHECK(b.controller(1).trimmed.value() == 20);
    b.third.set(GPU_LINK_NETCRAFTER + 4 * slow, GPU_LINK_TRIMMING);
    b.gpus[0].clients[0]->memory.issue(b.gpus[0].clients[0]->one(access_kind::read, at + 64 * 31));
    memory_machine::run_all();
    CHECK(b.controller(1).trimmed.value() == 21);
}

TEST_CASE("a link that carries something goes on as before until it is empty") {
    auto& b = bench::fresh();
    auto& c = calendar::current();
    b.third.set(GPU_LINK_NETCRAFTER + 4 * slow, 0);
    b.load(200);
    while (b.controller(1).queue().packets() < 4) {
        REQUIRE(c.next_event_time() != never);
        c.run_until(c.next_event_time());
    }
    b.third.set(GPU_LINK_NETCRAFTER + 4 * slow, all);
    b.third.set(GPU_LINK_LANES + 4 * slow, GPU_LINK_FIXED);
    CHECK(b.third.waits() == 1u << slow);
    CHECK(b.third.get(GPU_LINK_NETCRAFTER + 4 * slow) == (GPU_LINK_PRESENT | all));
    const auto before = b.controller(1).queue().packets();
    const auto left = b.controller(1).left.value();
    while (b.controller(1).pending()) {
        REQUIRE(b.controller(1).trimmed.value() == 0);
        REQUIRE(c.next_event_time() != never);
        c.run_until(c.next_event_time());
    }
    CHECK(b.controller(1).left.value() - left >= before);
    memory_machine::run_all();
    CHECK(b.third.waits() == 0);
    CHECK(!b.policy().pending());
    CHECK(b.gpus.net.count_in_flight() == 0);
    const auto trimmed = b.controller(1).trimmed.value();
    b.gpus[0].clients[0]->memory.issue(b.gpus[0].clients[0]->one(access_kind::read, at + 64 * 300));
    memory_machine::run_all();
    CHECK(b.controller(1).trimmed.value() == trimmed + 1);
}

TEST_CASE("lanes reverse by the policy that was set, and turn back when there is none") {
    auto& b = bench::fresh();
    auto& both = b.gpus.net.links()[4].a->duplex();
    const auto flood = [&] {
        b.load(1000);
        memory_machine::run_all();
    };
    b.third.set(GPU_LINK_NETCRAFTER + 4 * slow, 0);  // whole lines
    b.first.set(GPU_LINK_LANES + 4 * slow, GPU_LINK_FIXED);
    CHECK(b.policy().kind() == lane_policy_kind::none);
    flood();
    CHECK(b.lanes().reversals.value() == 0);
    b.gpus[0].system.units[0]->l1.invalidate();
    b.first.set(GPU_LINK_LANES + 4 * slow, GPU_LINK_MILIC2017);
    flood();
    CHECK(b.lanes().reversals.value() > 0);
    CHECK(both.lanes(link::side::b) > 8);
    b.first.set(GPU_LINK_LANES + 4 * slow, GPU_LINK_FIXED);
    memory_machine::run_all();
    CHECK(both.lanes(link::side::b) == 8);
    CHECK(both.lanes(link::side::a) == 8);
}
