// SPDX-License-Identifier: Apache-2.0
// Patterns of traffic, what generators notice when the fabric goes wrong, and a fabric of a thousand of them.
#include "unit/fabric/fabric_bench.h"

#include "fabric/egress.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

using list = std::vector<unsigned>;

list some(unsigned n) {
    list l(n);
    for (unsigned i = 0; i < n; ++i) l[i] = i;
    return l;
}

interconnect_params generators_on(unsigned leaves, unsigned each, unsigned spines, const generator_params& like) {
    interconnect_params p;
    for (unsigned s = 0; s < spines; ++s) p.switches.push_back(make_switch("spine" + std::to_string(s), 1000));
    for (unsigned l = 0; l < leaves; ++l) {
        const auto leaf = "leaf" + std::to_string(l);
        p.switches.push_back(make_switch(leaf, l));
        for (unsigned i = 0; i < each; ++i) {
            interconnect_params::generator_node g;
            static_cast<generator_params&>(g) = like;
            g.name = "g" + std::to_string(l * each + i);
            p.generators.push_back(g);
            p.links.push_back(make_link(g.name, leaf));
        }
        for (unsigned s = 0; s < spines; ++s) p.links.push_back(make_link(leaf, "spine" + std::to_string(s)));
    }
    return p;
}

generator_params like(traffic_pattern pattern, std::uint64_t requests) {
    generator_params g;
    g.pattern = pattern;
    g.requests = requests;
    return g;
}

/// Does something to the packets that it passes on.
class meddler final : public egress_stage {
public:
    using deed = std::function<void(const packet_ptr&, egress_stage&)>;
    meddler(const char* name, deed d)
        : egress_stage(name), m_queue((std::string(name) + "_queue").c_str(), 0, 0), m_deed(std::move(d)) {}
    bool has_room(virtual_channel c, unsigned flits, unsigned to) const override {
        return m_queue.has_room(c, flits, to);
    }
    void push(const packet_ptr& p) override {
        m_queue.push(p);
        m_deed(p, m_queue);
    }
    bool empty() const override { return m_queue.empty(); }
    packet_ptr next(port& out) override { return m_queue.next(out); }

private:
    fifo_egress m_queue;
    deed m_deed;
};

struct meddling final : stage_settings_of<meddling> {
    meddler::deed deed;
    void describe(parameter_visitor&) override {}
    std::unique_ptr<egress_stage> make_egress(const char* name, const stage_place&) const override {
        return std::make_unique<meddler>(name, deed);
    }
};

struct fabrics {
    calendar timeline;
    unsigned deeds = 0;
    std::unique_ptr<interconnect> thousand, alternating, bursty, corrupting, repeating;
    fabrics() {
        thousand = make("thousand", generators_on(64, 16, 16, like(traffic_pattern::transpose, 20)));
        auto g = like(traffic_pattern::alternating, 0);
        g.writes = 1;
        g.interval = {100'000};
        g.random_intervals = false;
        alternating = make("alternating", generators_on(2, 2, 1, g));
        g = like(traffic_pattern::all_to_all, 0);
        g.burst = 6;
        g.pause = {10'000'000};
        bursty = make("bursty", generators_on(2, 2, 1, g));
        g = like(traffic_pattern::neighbour, 10);
        g.one_sector = 1;
        g.outstanding = 1;
        const auto once = [this](packet_class type, auto what) {
            return [this, type, what, done = false](const packet_ptr& p, egress_stage& queue) mutable {
                if (done || p->type != type) return;
                done = true;
                ++deeds;
                what(p, queue);
            };
        };
        corrupting = make("corrupting", generators_on(2, 1, 1, g),
                          once(packet_class::read_response, [](const packet_ptr& p, egress_stage&) {
                              p->data[16 * static_cast<unsigned>(__builtin_ctz(p->needed_sectors)) + 11] ^= 1;
                          }));
        repeating = make("repeating", generators_on(1, 2, 0, g),
                         once(packet_class::read_response, [](const packet_ptr& p, egress_stage& queue) {
                             const auto again = make_packet();
                             static_cast<packet_fields&>(*again) = *p;
                             again->data = p->data;
                             queue.push(again);
                         }));
    }
    static std::unique_ptr<interconnect> make(const char* name, interconnect_params p, meddler::deed deed = {}) {
        if (deed) {
            [[maybe_unused]] static const bool added =
                (add_stage_kind(make_stage_kind<meddling>("meddling", "does what a test says")), true);
            for (auto& s : p.switches) {
                s.stage.choose("meddling");
                static_cast<meddling&>(s.stage.settings()).deed = deed;
            }
        }
        auto net = std::make_unique<interconnect>(name, p);
        net->start();
        return net;
    }
    static fabrics& get() {
        static fabrics f;
        return f;
    }
};

std::uint64_t sum(const interconnect& net, counter generator::*what) {
    std::uint64_t s = 0;
    for (const auto& g : net.generators) s += ((*g).*what).value();
    return s;
}

}  // namespace

TEST_CASE("destinations of each pattern") {
    using p = traffic_pattern;
    CHECK(link::partners(p::uniform, some(4), 1) == list{2, 3, 0});
    CHECK(link::partners(p::all_to_all, some(4), 3) == list{0, 1, 2});
    CHECK(link::partners(p::neighbour, {2, 5, 9}, 9) == list{2});
    CHECK(link::partners(p::transpose, some(9), 1) == list{3});
    CHECK(link::partners(p::transpose, some(9), 5) == list{7});
    CHECK(link::partners(p::transpose, some(9), 4).empty());
    CHECK(link::partners(p::transpose, some(10), 9).empty());
    CHECK(link::partners(p::halo, some(16), 5) == list{6, 4, 9, 1});
    CHECK(link::partners(p::halo, some(4), 0) == list{1, 2});
    CHECK(link::partners(p::halo, some(7), 0) == list{1, 6});
    CHECK(link::partners(p::alternating, some(4), 1) == list{3});
    CHECK(link::partners(p::alternating, some(4), 2) == list{0});
    CHECK(link::partners(p::alternating, some(5), 4).empty());
    CHECK(link::partners(p::neighbour, some(1), 0).empty());
}

TEST_CASE("halves of the terminals send in their phases only") {
    auto& f = fabrics::get();
    auto& c = calendar::current();
    const auto sent = [&](unsigned g) { return f.alternating->generators[g]->requests.value(); };
    c.run_until(9'999'999);
    CHECK(sent(0) == 100);
    CHECK(sent(1) == 100);
    CHECK(sent(2) == 0);
    c.run_until(19'999'999);
    CHECK(sent(0) == 100);
    CHECK(sent(2) == 100);
    CHECK(sent(3) == 100);
    c.run_until(29'999'999);
    CHECK(sent(1) == 200);
    CHECK(sent(3) == 100);
}

TEST_CASE("bursts have pauses between them, and go round all others") {
    auto& f = fabrics::get();
    const auto before = f.bursty->generators[0]->requests.value();
    CHECK(before == 3 * 6);  // in 30 us
    for (const auto& t : f.bursty->terminals) CHECK(t->requests_served.value() == 3 * 6);
}

TEST_CASE("a byte that changes on the way, and a response that comes twice, are noticed") {
    auto& f = fabrics::get();
    CHECK(f.deeds > 0);
    CHECK(sum(*f.corrupting, &generator::corrupt) > 0);
    CHECK(sum(*f.corrupting, &generator::unexpected) == 0);
    CHECK(sum(*f.corrupting, &generator::responses) == 20);
    CHECK(sum(*f.repeating, &generator::corrupt) == 0);
    CHECK(sum(*f.repeating, &generator::unexpected) > 0);
    CHECK(sum(*f.repeating, &generator::responses) == 20);
}

TEST_CASE("a thousand generators transpose") {
    auto& f = fabrics::get();
    unsigned idle = 0;
    for (const auto& g : f.thousand->generators) {
        idle += g->requests.value() == 0;
        CHECK(g->served.value() == g->requests.value());
        CHECK(g->responses.value() == g->requests.value());
    }
    CHECK(idle == 32);
    CHECK(sum(*f.thousand, &generator::responses) == 20 * (1024 - 32));
    CHECK(sum(*f.thousand, &generator::corrupt) == 0);
    CHECK(sum(*f.thousand, &generator::unexpected) == 0);
    CHECK(f.thousand->terminals[1023]->reaches(0));
    CHECK_FALSE(f.thousand->terminals[1023]->reaches(1023));
    CHECK(f.thousand->terminals[0]->cluster_of(1023) == 63);
}
