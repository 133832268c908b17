// SPDX-License-Identifier: Apache-2.0
// Generators on fabrics with NetCrafter at the links between clusters, with all parts and each alone, with buffers that
// hold hardly anything, with errors: everything arrives whole, and flits saved are the sum by mechanism.
#include "unit/fabric/fabric_bench.h"

#include <map>
#include <random>

#include "fabric/netcrafter/controller.h"
#include "fabric/netcrafter/settings.h"

using namespace fabricvp;
using namespace fabricvp::test;
using netcrafter::controller;
using netcrafter::pooling_mode;
using netcrafter::sequencing_mode;

namespace {

constexpr std::uint64_t each = 1200;

interconnect_params stress(interconnect_params p) {
    p = generators(std::move(p), each);
    for (auto& g : p.generators) g.one_sector = 0.5;
    return p;
}

netcrafter::parameters all_parts() {
    netcrafter::parameters n;
    n.stitching = n.trimming = true;
    n.pooling = pooling_mode::selective;
    n.sequencing = sequencing_mode::page_tables;
    return n;
}

interconnect_params with(interconnect_params p, const netcrafter::parameters& n) {
    for (auto& s : p.switches) netcrafter::use(s.stage) = n;
    return p;
}

interconnect_params tiny(interconnect_params p, std::uint64_t clusters = 1) {
    const auto longest = p.packet.flits(76);
    p.device.input.entries = 2 * longest;
    p.device.serving = 1;
    for (auto& s : p.switches) {
        s.input.entries = s.output_entries = 2 * longest;
        netcrafter::use(s.stage).entries = 2 * longest * clusters;
    }
    return p;
}

interconnect_params flits_of(interconnect_params p, std::uint64_t bytes) {
    p.packet.flit = {bytes};
    return p;
}

struct machines {
    calendar timeline;
    std::vector<std::unique_ptr<interconnect>> all;
    std::vector<std::unique_ptr<probed_fabric>> fixed;  // probes send all of them the same
    std::vector<std::pair<std::string, std::string>> refusals;
    machines() {
        const auto add = [&](const char* name, const interconnect_params& p) {
            all.push_back(std::make_unique<interconnect>(name, p));
            all.back()->start();
        };
        const auto on = [](interconnect_params p) { return with(std::move(p), all_parts()); };
        const auto probe = [&](const char* name, const netcrafter::parameters& n) {
            fixed.push_back(std::make_unique<probed_fabric>((std::string("fixed_") + name).c_str(), with(quad(), n)));
        };
        add("plain", stress(quad()));
        add("all", stress(on(quad())));
        add("tiny", stress(tiny(on(quad()))));
        add("ring", stress(tiny(on(ring()), 4)));
        add("eight", stress(tiny(on(flits_of(quad(), 8)), 2)));
        add("large", stress(tiny(on(flits_of(quad(), 32)))));
        add("noisy", stress(noisy(on(ring()))));
        auto p = stress(on(quad()));
        p.packet.crc = {4};
        add("checked", p);
        p = stress(tiny(on(ring()), 4));
        p.packet.page_table_channels = true;
        p.device.input.page_table_entries = 2;
        for (auto& s : p.switches) {
            s.input.page_table_entries = 2;
            netcrafter::use(s.stage).entries = 12 * 4;
        }
        add("walks", p);
        p = stress(tiny(quad()));
        p.packet.page_table_channels = true;
        add("apart", p);
        netcrafter::parameters n;
        probe("plain", n);
        probe("all", all_parts());
        const auto both = [&](const char* name) {
            add(name, stress(with(quad(), n)));
            probe(name, n);
        };
        n.stitching = true;
        both("stitching");
        n.sub_header = {2};
        n.pooling = pooling_mode::plain;
        both("pooling");
        n = {};
        n.trimming = true;
        both("trimming");
        n = {};
        n.sequencing = sequencing_mode::page_tables;
        both("sequencing");
        n.sequencing = sequencing_mode::data;
        both("control");
        reject();
    }
    void reject() {
        const auto attempt = [&](const interconnect_params& p, const std::string& words) {
            try {
                interconnect net("refused", p);
                refusals.emplace_back(words, "not refused");
            } catch (const std::invalid_argument& e) {
                refusals.emplace_back(words, e.what());
            }
        };
        auto p = with(quad(), all_parts());
        for (auto& s : p.switches) s.cluster = 0;
        attempt(p, "cluster0.stage of kind netcrafter needs a link to another cluster");
        p = with(quad(), all_parts());
        netcrafter::use(p.switches[1].stage).entries = 9;
        attempt(p, "cluster1.stage.entries of 9 flits: 1 other cluster needs 10");
        p = with(quad(), all_parts());
        netcrafter::use(p.switches[0].stage).stitching = false;
        attempt(p, "cluster0.stage.pooling waits for packets to stitch");
        p = with(quad(), all_parts());
        p.packet.header = {8};
        attempt(p, "packet.header is 8 B: it must be 4 B for cluster0.stage of kind netcrafter");
        p = with(quad(), all_parts());
        p.packet.flit = {18};
        attempt(p, "packet.flit less packet.crc is 18");
        p = quad();
        p.packet.crc = {16};
        attempt(p, "packet.crc leaves no byte of a flit");
        p = quad();
        p.packet.page_table_channels = true;
        p.packet.flit = {8};
        for (auto& s : p.switches) s.input.entries = s.output_entries = 20;
        p.switches[1].input.page_table_entries = 2;
        attempt(p, "cluster1.input.page_table_entries of 2 flits leaves 1 for requests: a page-table packet has 2");
    }
    static machines& get() {
        static machines m;
        return m;
    }
    interconnect& operator[](const std::string& name) {
        for (auto& n : all)
            if (name == n->name()) return *n;
        throw std::out_of_range(name);
    }
};

std::vector<const controller*> controllers(const interconnect& net) {
    std::vector<const controller*> found;
    for (const auto& s : net.switches)
        for (unsigned i = 0; i < s->ports(); ++i)
            if (const auto* c = dynamic_cast<const controller*>(&s->egress_of(i))) found.push_back(c);
    return found;
}

std::uint64_t wire_flits(const interconnect& net) {
    std::uint64_t sum = 0;
    for (const auto& l : net.links())
        for (const auto* p : {l.a, l.b})
            if (p->crosses_clusters) sum += p->sent.wire().flits;
    return sum;
}

void check_conservation(const interconnect& net, bool poisoned = false) {
    INFO(net.name());
    std::uint64_t sent = 0, heard = 0, served = 0;
    for (const auto& g : net.generators) {
        CHECK(g->finished());
        CHECK(g->corrupt.value() == 0);
        if (!poisoned) CHECK(g->refused.value() == 0);
        sent += g->requests.value();
        heard += g->responses.value();
        served += g->served.value();
    }
    CHECK(sent == each * net.generators.size());
    CHECK(heard == sent);
    CHECK(served == sent);
    for (const auto* c : controllers(net)) {
        CHECK(c->empty());
        CHECK(c->detached_tails() == 0);
        CHECK(c->packets.value() == c->left.value());
        CHECK(c->units.value() + c->stitched.value() == c->left.value());
        // Buffers behind the link take what the link carried and what it was spared; trimmed flits have gone before.
        CHECK(c->buffer_flits.value() ==
              c->wire_flits.value() + c->saved_by_stitching.value() + c->saved_by_ends.value());
    }
    for (const auto& s : net.switches) CHECK(s->malformed.value() == 0);
    for (const auto& l : net.links())
        for (const auto* p : {l.a, l.b}) {
            for (unsigned c = 0; c < virtual_channels; ++c) CHECK(p->occupied(static_cast<virtual_channel>(c)) == 0);
            CHECK_FALSE(p->waits());
            // Every flit that was paid for on the lanes is accounted for.
            const auto w = p->sent.wire();
            CHECK(w.flits * net.params.packet.payload() == w.bytes + w.padding);
        }
}

statistics_snapshot all_numbers() {
    statistics_snapshot s;
    for (const auto& net : machines::get().all)
        for (const auto& [k, v] : snapshot_statistics(net->name()))
            if (k.find(".load.") == std::string::npos && k.find("utilisation") == std::string::npos) s[k] = v;
    return s;
}

}  // namespace

TEST_CASE("everything arrives, whatever is on and however small buffers are; and twice the same way") {
    auto& m = machines::get();
    run_all();
    for (const auto& net : m.all) check_conservation(*net);
    const auto first = all_numbers();
    CHECK(stat("noisy.s0.to_s1.transmitter.replays") > 0);
    CHECK(stat("tiny.cluster0.blocked") > 0);
    for (const char* net : {"all", "tiny", "eight", "large", "checked"}) {
        INFO(net);
        const auto at = std::string(net) + ".cluster0.to_cluster1_egress.";
        CHECK(stat(at + "stitched") > 0);
        CHECK(stat(at + "trimmed") > 0);
        CHECK(stat(at + "prioritized") > 0);
    }
    CHECK(stat("all.cluster0.to_cluster1_egress.stitched_ends") > 0);
    CHECK(stat("pooling.cluster0.to_cluster1_egress.pooled") > 0);
    CHECK(stat("ring.s0.to_s1_egress.stitched") > 0);
    restart_statistics();
    for (const auto& net : m.all) net->reset();
    run_all();
    for (const auto& net : m.all) check_conservation(*net);
    const auto second = all_numbers();
    for (const auto& [k, v] : first) {
        INFO(k);
        CHECK(second.at(k) == v);
    }
}

TEST_CASE("on the same traffic, flits saved are the sum by mechanism") {
    auto& m = machines::get();
    std::map<std::string, std::uint64_t> wire, saved;
    for (auto& f : m.fixed) {
        const std::string name = f->net.name();
        INFO(name);
        std::mt19937_64 random{5};
        unsigned sent = 0, heard = 0;
        for (unsigned i = 0; i < 3000; ++i) {
            const auto from = random() % 4, to = (from + 1 + random() % 3) % 4;
            const auto what = random() % 10;
            const auto p = f->probes[from]->make(static_cast<unsigned>(to),
                                                 what < 3   ? access_kind::write
                                                 : what < 4 ? access_kind::atomic
                                                            : access_kind::read,
                                                 what == 9);
            if (what > 3 && random() % 2) p->needed_sectors = static_cast<std::uint8_t>(1u << random() % 4);
            f->probes[from]->at.send(p);
            ++sent;
        }
        run_all();
        for (const auto& p : f->probes) heard += static_cast<unsigned>(p->responses.size());
        CHECK(heard == sent);
        wire[name] = wire_flits(f->net);
        for (const auto* c : controllers(f->net)) {
            CHECK(c->empty());
            CHECK(c->packets.value() == c->left.value());
            saved[name] += c->saved_by_stitching.value() + c->saved_by_ends.value() + c->saved_by_trimming.value();
        }
    }
    REQUIRE(wire.size() == 7);
    for (const auto& [name, flits] : wire) {
        INFO(name);
        CHECK(wire["fixed_plain"] - flits == saved[name]);
        const bool saves = name != "fixed_plain" && name != "fixed_sequencing" && name != "fixed_control";
        CHECK((saved[name] > 0) == saves);
    }
    CHECK(saved["fixed_all"] > saved["fixed_trimming"]);
}

TEST_CASE("a reset in the middle of everything leaves nothing behind") {
    for (const char* name : {"all", "tiny", "ring"}) {
        auto& net = machines::get()[name];
        net.reset();
        calendar::current().run_until(calendar::current().now() + 2'000'000);
        net.reset();
        restart_statistics(net.name());
        for (auto& g : net.generators) (void)g;
        run_all();
        for (const auto* c : controllers(net)) {
            CHECK(c->empty());
            CHECK(c->detached_tails() == 0);
        }
        for (const auto& g : net.generators) {
            CHECK(g->finished());
            CHECK(g->corrupt.value() == 0);
            CHECK(g->refused.value() == 0);
        }
    }
}

TEST_CASE("descriptions that make no sense are refused") {
    for (const auto& [words, error] : machines::get().refusals) {
        INFO(error);
        CHECK(error.find(words) != std::string::npos);
    }
    CHECK(machines::get().refusals.size() == 7);
}

TEST_CASE("hardware overhead is computed from the configuration") {
    machines::get();
    CHECK(stat("all.cluster0.to_cluster1_egress.overhead.bytes") == 16400);  // 16.02 KB
}
