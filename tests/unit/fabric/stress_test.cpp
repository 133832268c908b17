// SPDX-License-Identifier: Apache-2.0
// Generators on fabrics of all shapes, with buffers that hold hardly anything: everything arrives whole, nothing stops,
// and it happens the same way twice.
#include "unit/fabric/fabric_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

constexpr std::uint64_t each = 1500;

interconnect_params stress(interconnect_params p, traffic_pattern pattern = traffic_pattern::uniform) {
    p = generators(std::move(p), each);
    for (auto& g : p.generators) g.pattern = pattern;
    return p;
}

interconnect_params tiny(interconnect_params p) {
    p.device.input.entries = 10;  // one packet of the longest for each channel
    p.device.serving = 1;
    for (auto& s : p.switches) {
        s.input.entries = 10;
        s.output_entries = 10;
    }
    return p;
}

interconnect_params small_flits(interconnect_params p) {
    p.packet.flit = {8};
    for (auto& s : p.switches) s.input.entries = s.output_entries = 20;
    return p;
}

interconnect_params apart(interconnect_params p, std::uint64_t window) {
    p.device.queues_by_destination = true;
    p.device.window = window;
    return p;
}

struct machines {
    calendar timeline;
    std::vector<std::unique_ptr<interconnect>> all;
    std::vector<std::pair<std::string, std::string>> refusals;  // what an error should say, and what it says
    machines() {
        const auto add = [&](const char* name, const interconnect_params& p) {
            all.push_back(std::make_unique<interconnect>(name, p));
            all.back()->start();
        };
        add("quad", stress(quad()));
        add("tiny", stress(tiny(quad())));
        add("ring", stress(tiny(ring())));
        add("hot", stress(tiny(quad()), traffic_pattern::hot_spot));
        add("next", stress(quad(), traffic_pattern::neighbour));
        add("eight", stress(small_flits(quad())));
        add("noisy", stress(noisy(ring())));
        add("apart", stress(apart(quad(), 32)));
        add("one", stress(apart(tiny(ring()), 1)));
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
        auto p = quad();
        p.links.push_back(make_link("d0", "cluster1"));
        attempt(p, "'d0' has more than one link");
        p = quad();
        p.links[4].to = "cluster7";
        attempt(p, "a link goes to 'cluster7'");
        p = quad();
        p.switches[1].name = "cluster0";
        attempt(p, "the name 'cluster0' is taken twice");
        p = quad();
        p.switches[1].input.entries = 8;
        attempt(p, "cluster1.input.entries of 8 flits leaves 4 for requests: the longest packet has 5");
        p = stress(quad());
        p.links.erase(p.links.begin());
        attempt(p, "the generator 'd0' has no link");
        p = quad();
        p.links[4].to = "cluster0";
        attempt(p, "to itself");
    }
    static machines& get() {
        static machines m;
        return m;
    }
};

void check_conservation(const interconnect& net) {
    const std::string base = net.name();
    INFO(base);
    double sent = 0, heard = 0, served = 0;
    for (const auto& g : net.generators) {
        CHECK(g->finished());
        CHECK(g->corrupt.value() == 0);
        CHECK(g->refused.value() == 0);
        sent += static_cast<double>(g->requests.value());
        heard += static_cast<double>(g->responses.value());
        served += static_cast<double>(g->served.value());
    }
    CHECK(sent == static_cast<double>(each * net.generators.size()));
    CHECK(heard == sent);
    CHECK(served == sent);
    // What leaves switches is what came in; every request has its response; all buffers are empty.
    packet_counts::sums in, out;
    std::array<std::uint64_t, packet_classes> by_class{};
    for (const auto& t : net.terminals) {
        in += t->link->sent.all();
        out += t->link->partner()->sent.all();
        for (unsigned c = 0; c < packet_classes; ++c)
            by_class[c] += t->link->sent.of(static_cast<packet_class>(c)).packets;
        CHECK(t->queue().empty());
    }
    CHECK(in.packets == out.packets);
    CHECK(in.flits == out.flits);
    CHECK(in.flits * net.params.packet.flit == in.bytes + in.padding);
    CHECK(in.flits == in.padded[0] + in.padded[1] + in.padded[2] + in.padded[3] + in.padded[4]);
    CHECK(by_class[0] + by_class[1] == by_class[3] + by_class[4]);  // atomics are write requests, answered as reads
    CHECK(by_class[2] == by_class[5]);
    CHECK(by_class[2] > 0);
    for (const auto& l : net.links())
        for (const auto* p : {l.a, l.b}) {
            CHECK(p->occupied(virtual_channel::request) == 0);
            CHECK(p->occupied(virtual_channel::response) == 0);
            CHECK_FALSE(p->waits());
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

TEST_CASE("everything arrives, whatever the shape; and twice the same way") {
    auto& m = machines::get();
    run_all();
    for (const auto& net : m.all) check_conservation(*net);
    const auto first = all_numbers();
    const auto blocked = stat("tiny.cluster0.blocked") + stat("tiny.cluster1.blocked");
    CHECK(blocked > 0);
    CHECK(stat("tiny.d0.held") > 0);
    CHECK(stat("noisy.s0.to_s1.transmitter.replays") > 0);
    restart_statistics();
    for (const auto& net : m.all) net->reset();
    run_all();
    for (const auto& net : m.all) check_conservation(*net);
    auto second = all_numbers();
    for (const auto& [k, v] : first) {
        INFO(k);
        CHECK(second[k] == v);
    }
}

TEST_CASE("patterns send where they say") {
    const auto requests_to = [](const char* net, unsigned to) {
        return stat(std::string(net) + ".d" + std::to_string(to) + ".requests_served");
    };
    for (unsigned i = 0; i < 4; ++i) CHECK(requests_to("next", i) == each);
    CHECK(requests_to("hot", 0) == Approx(3 * each * (0.5 + 0.5 / 3)).epsilon(0.05));
    CHECK(requests_to("quad", 1) == Approx(each).epsilon(0.1));
}

TEST_CASE("a reset in the middle of everything leaves nothing behind") {
    auto& m = machines::get();
    auto& net = *m.all[1];
    net.reset();
    calendar::current().run_until(calendar::current().now() + 2'000'000);
    restart_statistics(net.name());
    net.reset();
    run_all();
    check_conservation(net);
}

TEST_CASE("descriptions that make no sense are refused") {
    for (const auto& [words, error] : machines::get().refusals) {
        INFO(error);
        CHECK(error.find(words) != std::string::npos);
    }
    CHECK(machines::get().refusals.size() == 6);
}
