// SPDX-License-Identifier: Apache-2.0
// The worked examples of the paper, and what must hold for any graph.
#include <catch2/catch.hpp>

#include "analytic/congestion_model.h"
#include "analytic/graph_families.h"

using namespace fabricvp::analytic;

namespace {

constexpr double message = 300e6;
constexpr double reference_s = 25.3e-3;  // one message without contention, as printed
constexpr double bandwidth = message / reference_s;

congestion_model::result solve(congestion_form form, double tau, const communication_graph& graph) {
    std::vector<communication> c;
    for (const auto& [s, d] : graph) c.push_back({s, d, message, 0.0});
    return congestion_model(cs_storm_socket(), tau, bandwidth, form).solve(c);
}

const communication_graph worked_example{{0, 2}, {1, 4}, {3, 2}, {6, 4}};
const communication_graph conflict_slide{{0, 7}, {1, 4}, {6, 7}};

}  // namespace

TEST_CASE("the worked example comes out as printed, in both forms") {
    const auto form = GENERATE(congestion_form::martinasso2016, congestion_form::maxmin);
    SECTION("tau = 0.2") {
        const auto r = solve(form, 0.2, worked_example);
        REQUIRE(r.phases.size() == 2);
        const std::vector<double> first{0.3, 0.3, 0.7, 0.7}, second{0.5, 0.5, 0, 0};
        for (int i = 0; i < 4; ++i) {
            CHECK(r.phases[0].factor(i) == Approx(first[i]));
            CHECK(r.phases[1].factor(i) == Approx(second[i]));
        }
        CHECK(r.phases[0].end * 1e3 == Approx(36.14).margin(0.01));
        CHECK(r.end * 1e3 == Approx(65.06).margin(0.01));
    }
    SECTION("tau = 0.1735") {
        const auto r = solve(form, 0.1735, worked_example);
        CHECK(r.phases[0].factor(0) == Approx(0.3265));
        CHECK(r.phases[0].factor(3) == Approx(0.6735));
        CHECK(r.phases[0].end * 1e3 == Approx(37.56).margin(0.01));
        CHECK(r.end * 1e3 == Approx(63.64).margin(0.01));
    }
}

TEST_CASE("the conflict slide comes out as printed, in both forms") {
    const auto form = GENERATE(congestion_form::martinasso2016, congestion_form::maxmin);
    const auto r = solve(form, 0.1735, conflict_slide);
    CHECK(r.phases[0].factor(0) == Approx(0.3265));
    CHECK(r.phases[0].factor(1) == Approx(0.3265));
    CHECK(r.phases[0].factor(2) == Approx(0.6735));
    CHECK(r.end * 1e3 == Approx(63.64).margin(0.01));
}

TEST_CASE("the steps of the published fastest schedules have no conflict") {
    const auto form = GENERATE(congestion_form::martinasso2016, congestion_form::maxmin);
    const std::vector<communication_graph> steps{
        {{0, 4}, {1, 0}, {2, 1}, {3, 2}, {4, 5}, {5, 6}, {6, 7}, {7, 3}},   // 2-D, step 1
        {{1, 2}, {2, 6}, {5, 1}, {6, 5}},                                   // 2-D, step 3
        {{0, 1}, {1, 3}, {2, 6}, {3, 2}, {4, 0}, {5, 4}, {6, 7}, {7, 5}},   // 3-D, step 1
        {{0, 2}, {1, 0}, {2, 3}, {3, 7}, {4, 5}, {5, 1}, {6, 4}, {7, 6}}};  // 3-D, step 3
    for (const auto& s : steps) {
        const auto r = solve(form, 0.1735, s);
        for (const auto& f : r.phases[0].factors) CHECK(f.second == Approx(1.0));
        CHECK(r.end == Approx(reference_s));
    }
}

TEST_CASE("the forms differ where an uplink is fed unequally") {
    // 0 and 1 share a board and 1 stays on the switch; 2 goes up alone. Proportional: 1/3 and 2/3; round robin: halves.
    const communication_graph g{{0, 4}, {1, 3}, {2, 6}};
    const auto printed = solve(congestion_form::martinasso2016, 0.1735, g).phases[0];
    const auto fair = solve(congestion_form::maxmin, 0.1735, g).phases[0];
    CHECK(printed.factor(0) == Approx(1.0 / 3));
    CHECK(printed.factor(2) == Approx(2.0 / 3));
    CHECK(fair.factor(0) == Approx(0.5));
    CHECK(fair.factor(2) == Approx(0.5));
}

TEST_CASE("for every family no link is overfull, no message starves, and all bytes arrive") {
    const auto form = GENERATE(congestion_form::martinasso2016, congestion_form::maxmin);
    const auto tree = cs_storm_socket();
    const congestion_model model(tree, 0.1735, bandwidth, form);
    std::vector<communication_graph> graphs = random_graphs(tree, 500, 7, 16);
    for (auto family : {all_scatters(8), all_gathers(8), all_to_all_subsets(8)})
        for (std::size_t i = 0; i < family.size(); i += 7) graphs.push_back(family[i]);
    for (const auto& g : graphs) {
        std::vector<communication> c;
        for (const auto& [s, d] : g) c.push_back({s, d, message, 0.0});
        const auto rho = model.factors(c);
        std::vector<double> load(tree.directions());
        for (std::size_t i = 0; i < c.size(); ++i) {
            REQUIRE(rho[i] > 1e-3);
            for (auto d : tree.route(c[i].source, c[i].destination).directions) load[d] += rho[i];
        }
        for (auto l : load) REQUIRE(l <= 1 + 1e-9);
        const auto r = model.solve(c);
        for (std::size_t i = 0; i < c.size(); ++i) {
            double bytes = 0, begin = 0;
            for (const auto& p : r.phases) {
                bytes += p.factor(i) * bandwidth * (p.end - begin);
                begin = p.end;
            }
            REQUIRE(bytes == Approx(message));
        }
    }
}

TEST_CASE("factors do not depend on the order or the labels of communications") {
    const auto form = GENERATE(congestion_form::martinasso2016, congestion_form::maxmin);
    const auto tree = cs_storm_socket();
    const congestion_model model(tree, 0.1735, bandwidth, form);
    const auto relabellings = tree.automorphisms();
    CHECK(relabellings.size() == 128);
    for (const auto& g : random_graphs(tree, 60, 3, 10)) {
        std::vector<communication> c, moved;
        const auto& r = relabellings[g.size() * 11 % relabellings.size()];
        for (const auto& [s, d] : g) c.push_back({s, d, message, 0.0});
        for (auto e = g.rbegin(); e != g.rend(); ++e) moved.push_back({r[e->first], r[e->second], message, 0.0});
        const auto a = model.factors(c), b = model.factors(moved);
        for (std::size_t i = 0; i < c.size(); ++i) CHECK(a[i] == Approx(b[c.size() - 1 - i]).epsilon(1e-6));
    }
}

TEST_CASE("messages that start later open a phase of their own") {
    const congestion_model model(cs_storm_socket(), 0.1735, bandwidth);
    const auto r = model.solve({{0, 2, message, 0.0}, {1, 2, message, reference_s / 2}});
    REQUIRE(r.phases.size() == 3);
    CHECK(r.phases[0].factor(0) == Approx(1.0));
    CHECK(r.phases[1].factor(0) == Approx(0.5));
    CHECK(r.finish[0] == Approx(1.5 * reference_s));
    CHECK(r.finish[1] == Approx(2.0 * reference_s));
}

TEST_CASE("a message that crosses the root complex is slower even alone, if the form is told so") {
    const congestion_model model(cs_storm_socket(), 1.0 / 6, 13.27, congestion_form::maxmin, 11.46);
    const double rate = 11.46 / 13.27;
    CHECK(model.factors({{0, 4, 1, 0}})[0] == Approx(rate));
    CHECK(model.factors({{0, 2, 1, 0}})[0] == Approx(1.0));
    // 128 bytes in 152 against 64 in 88 a turn; both fill the link.
    const auto against = model.factors({{0, 2, 1, 0}, {4, 2, 1, 0}});
    CHECK(against[0] == Approx(2 * against[1]));
    CHECK(against[0] + against[1] / rate == Approx(1.0));
    CHECK_THROWS_AS(congestion_model(cs_storm_socket(), 0.1, 10, congestion_form::maxmin, 11), std::invalid_argument);
    CHECK_THROWS_AS(congestion_model(cs_storm_socket(), 0.1, 10, congestion_form::martinasso2016, 9),
                    std::invalid_argument);
}

TEST_CASE("a message that is held behind a held one holds others in turn") {
    // 0 -> 2's board wins against 4 -> 3; that holds 6 -> 1 in its socket's uplink, which holds 6 -> 4 in its source's.
    const congestion_model model(cs_storm_socket(), 0.1735, bandwidth, congestion_form::maxmin);
    const auto f = model.factors({{0, 2, 1, 0}, {2, 3, 1, 0}, {4, 3, 1, 0}, {6, 1, 1, 0}, {6, 4, 1, 0}});
    CHECK(f[3] == Approx(f[2]));
    CHECK(f[4] == Approx(f[3]));
}

TEST_CASE("in steps a sender's next message waits for the last of all") {
    const congestion_model model(cs_storm_socket(), 0.1735, bandwidth);
    // Step 0: 0->2 and 1->2 share 2's link. Step 1: 0->1 alone. Starts are ignored.
    const auto r = model.solve_in_steps({{0, 2, message, 0.0}, {1, 2, message / 2, 7.0}, {0, 1, message, 0.0}});
    REQUIRE(r.phases.size() == 3);
    CHECK(r.phases[0].factor(1) > 0);
    CHECK(r.phases[1].factor(2) == 0);
    CHECK(r.phases[2].factor(0) == 0);
    CHECK(r.phases[2].factor(2) == Approx(1.0));
    CHECK(r.finish[0] == Approx(1.5 * reference_s));
    CHECK(r.finish[2] == Approx(2.5 * reference_s));
    CHECK(r.end == Approx(r.finish[2]));
    CHECK_THROWS_AS(model.solve_in_steps({{0, 0, 1, 0}}), std::invalid_argument);
}

TEST_CASE("wrong input is refused") {
    CHECK_THROWS_AS(congestion_model(cs_storm_socket(), 0.5, bandwidth), std::invalid_argument);
    CHECK_THROWS_AS(congestion_model(cs_storm_socket(), 0.1, 0), std::invalid_argument);
    const congestion_model model(cs_storm_socket(), 0.1735, bandwidth);
    CHECK_THROWS_AS(model.solve({{0, 0, 1, 0}}), std::invalid_argument);
    CHECK_THROWS_AS(model.solve({{0, 8, 1, 0}}), std::invalid_argument);
    CHECK_THROWS_AS(model.solve({{0, 1, 0, 0}}), std::invalid_argument);
    CHECK_THROWS_AS(model.solve({{0, 1, 1, -1}}), std::invalid_argument);
}

TEST_CASE("the families have the sizes that counting gives") {
    CHECK(all_scatters(8).size() == 8 * 127);
    CHECK(all_gathers(8).size() == 8 * 127);
    CHECK(all_to_all_subsets(8).size() == 247);
    const auto tree = cs_storm_socket();
    const auto a = random_graphs(tree, 200, 5), b = random_graphs(tree, 200, 5), other = random_graphs(tree, 200, 6);
    CHECK(a == b);
    CHECK(a != other);
    std::vector<communication_graph> canonical;
    for (const auto& g : a) canonical.push_back(canonical_graph(g, tree.automorphisms()));
    std::sort(canonical.begin(), canonical.end());
    CHECK(std::adjacent_find(canonical.begin(), canonical.end()) == canonical.end());
}
