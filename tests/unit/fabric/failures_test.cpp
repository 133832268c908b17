// SPDX-License-Identifier: Apache-2.0
// Links and switches that die under load: packets take other ways, or their accesses fail, each once; nothing vanishes.
#include "unit/fabric/fabric_bench.h"

#include "fabric/netcrafter/settings.h"

#include <map>

#include "base/fault.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

/// Four switches with a device each, in a ring or in a row.
interconnect_params four(bool ring) {
    interconnect_params p;
    for (unsigned i = 0; i < 4; ++i) {
        p.devices.push_back("d" + std::to_string(i));
        p.switches.push_back(make_switch("s" + std::to_string(i), i));
    }
    for (unsigned i = 0; i < 4; ++i) p.links.push_back(make_link("d" + std::to_string(i), "s" + std::to_string(i)));
    for (unsigned i = 0; i < (ring ? 4 : 3); ++i)
        p.links.push_back(make_link("s" + std::to_string(i), "s" + std::to_string((i + 1) % 4), 2'000'000'000));
    return p;
}

interconnect_params stitched(interconnect_params p) {
    for (auto& s : p.switches) {
        auto& n = netcrafter::use(s.stage);
        n.stitching = n.trimming = true;
        n.pooling = netcrafter::pooling_mode::selective;
        n.sequencing = netcrafter::sequencing_mode::page_tables;
    }
    return p;
}

struct machines {
    calendar timeline;
    probed_fabric ring{"ring", four(true)}, stitched_ring{"stitched_ring", stitched(four(true))};
    probed_fabric row{"row", four(false)}, stitched_row{"stitched_row", stitched(four(false))};
    static machines& get() {
        static machines m;
        return m;
    }
};

void kill(const std::string& target) {
    for (auto* f : all_faults())
        if (f->target() == target && f->kind() == "dead") return f->order()->apply();
    FAIL("nothing can die at " << target);
}

constexpr unsigned packets = 300;

/// Each device reads from and writes to all others; something dies in the middle of it.
void stress_run(probed_fabric& f, const std::string& victim) {
    f.reset();
    for (unsigned i = 0; i < packets; ++i)
        for (unsigned s = 0; s < 4; ++s)
            for (unsigned d = 0; d < 4; ++d)
                if (s != d) f.probes[s]->at.send(f.probes[s]->make(d, i % 2 ? access_kind::write : access_kind::read));
    auto& c = calendar::current();
    c.run_until(c.now() + 3'000'000);
    REQUIRE(f.probes[0]->responses.size() > 0);
    REQUIRE(f.probes[0]->responses.size() < 3 * packets);
    kill(victim);
    run_all();
}

/// Every request of every device has been answered exactly once. \returns how many failed, by device and peer
std::map<std::pair<unsigned, unsigned>, unsigned> failures(const probed_fabric& f) {
    std::map<std::pair<unsigned, unsigned>, unsigned> failed;
    for (unsigned s = 0; s < 4; ++s) {
        std::map<std::uint32_t, unsigned> responses_by_tag;
        for (const auto& r : f.probes[s]->responses) {
            ++responses_by_tag[r.tag];
            if (r.status == access_status::unreachable)
                ++failed[{s, r.source}];
            else
                CHECK(r.status == access_status::ok);
        }
        CHECK(f.probes[s]->responses.size() == 3 * packets);
        CHECK(responses_by_tag.size() == 3 * packets);
    }
    CHECK(stat(std::string(f.net.name()) + ".packets_in_flight") == 0);
    return failed;
}

double sum(const probed_fabric& f, const std::string& what) {
    double all = 0;
    for (unsigned d = 0; d < 4; ++d) all += stat(fmt::format("{}.d{}.{}", f.net.name(), d, what));
    return all;
}

}  // namespace

TEST_CASE("where there is another way, nothing fails when a link dies") {
    auto& m = machines::get();
    for (auto* f : {&m.ring, &m.stitched_ring})
        for (const auto* victim : {"s0.to_s1", "s3.to_s2", "s3.to_s0"}) {
            const std::string name = f->net.name();
            INFO(name << victim);
            stress_run(*f, name + "." + victim);
            CHECK(failures(*f).empty());
            CHECK(sum(*f, "packets_sent") == sum(*f, "packets_received"));
            CHECK(stat(name + ".rerouted") == 1);
        }
    // A dead link outlasts a reset of the fabric.
    auto& f = m.ring;
    f.net.reset();
    restart_statistics("ring");
    f.probes[0]->at.send(f.probes[0]->make(3));
    run_all();
    CHECK(stat("ring.s0.to_s3.sent.packets") == 0);
    CHECK(stat("ring.packets_in_flight") == 0);
    f.reset();  // and a repair
    f.probes[0]->at.send(f.probes[0]->make(3));
    run_all();
    CHECK(stat("ring.s0.to_s3.sent.packets") == 1);
}

TEST_CASE("where there is none, accesses across fail, each once, and the others do not") {
    auto& m = machines::get();
    for (auto* each : {&m.row, &m.stitched_row}) {
        auto& f = *each;
        const std::string name = f.net.name();
        INFO(name);
        stress_run(f, name + ".s1.to_s2");
        const auto failed = failures(f);
        CHECK(failed.size() == 8);
        for (const auto& [pair, count] : failed) {
            CHECK((pair.first < 2) != (pair.second < 2));
            CHECK(count < packets);
        }
        CHECK(sum(f, "packets_sent") == sum(f, "packets_received") + sum(f, "packets_failed"));
        // What is sent later fails after the time that it takes to notice.
        f.probes[0]->responses.clear();
        const auto begin = calendar::current().now();
        f.probes[0]->at.send(f.probes[0]->make(2));
        run_all();
        REQUIRE(f.probes[0]->responses.size() == 1);
        CHECK(f.probes[0]->responses[0].status == access_status::unreachable);
        CHECK(f.probes[0]->responses[0].when == begin + f.net.params.failure_time);
        CHECK_FALSE(f.net.terminals[0]->reaches(2));
        CHECK(f.net.terminals[0]->reaches(1));
    }
}

TEST_CASE("a switch that dies takes its device and what it holds with it; the others find ways around it") {
    auto& m = machines::get();
    for (auto* each : {&m.ring, &m.stitched_ring}) {
        auto& f = *each;
        const std::string name = f.net.name();
        INFO(name);
        stress_run(f, name + ".s2");
        const auto failed = failures(f);
        unsigned of_device = 0;
        for (const auto& [pair, count] : failed)
            if (pair.first == 2 || pair.second == 2) of_device += count;
        CHECK(of_device > 0);
        CHECK(sum(f, "packets_sent") == sum(f, "packets_received") + sum(f, "packets_failed"));
        f.probes[1]->responses.clear();
        f.probes[1]->at.send(f.probes[1]->make(3));
        run_all();
        REQUIRE(f.probes[1]->responses.size() == 1);
        CHECK(f.probes[1]->responses[0].status == access_status::ok);
    }
}

TEST_CASE("a device whose link dies is alone") {
    auto& m = machines::get();
    for (auto* f : {&m.ring, &m.stitched_ring}) {
        const std::string name = f->net.name();
        INFO(name);
        stress_run(*f, name + ".d1.link");
        for (const auto& [pair, count] : failures(*f)) CHECK((pair.first == 1 || pair.second == 1));
        CHECK(stat(name + ".d1.packets_failed") > 0);
    }
}
