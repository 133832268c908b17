// SPDX-License-Identifier: Apache-2.0
// Ways through switches; sizes of packets.
#include <catch2/catch.hpp>

#include "fabric/packet.h"
#include "fabric/packet_counts.h"
#include "link/routing.h"

using namespace fabricvp;
using namespace fabricvp::fabric;
using namespace fabricvp::link;

namespace {

/// Vertices on the way from one terminal to another.
std::vector<std::size_t> way(const topology& t, const routing_table& table, std::size_t from, std::size_t to) {
    std::vector<std::size_t> seen{from};
    while (seen.back() != to && table[seen.back()][to] != no_link && seen.size() <= 2 * t.vertices()) {
        const auto& l = t.links[table[seen.back()][to]];
        seen.push_back(l.first == seen.back() ? l.second : l.first);
    }
    return seen;
}

/// A ring of switches with one terminal each.
topology ring(std::size_t n) {
    topology t{n, n, {}};
    for (std::size_t i = 0; i < n; ++i) t.links.emplace_back(i, n + i);
    for (std::size_t i = 0; i < n; ++i) t.links.emplace_back(n + i, n + (i + 1) % n);
    return t;
}

std::uint32_t bytes_of(access_kind kind, bool page_table, bool response, unsigned operands = 0,
                       unsigned sectors = 0xf) {
    const packet_format f;
    const auto p = make_packet();
    p->kind = kind;
    p->set_request(f, page_table, operands);
    p->valid_sectors = sectors;
    if (response) p->make_response(f);
    return p->bytes;
}

}  // namespace

TEST_CASE("two clusters: through one switch or two") {
    const topology t{4, 2, {{0, 4}, {1, 4}, {2, 5}, {3, 5}, {4, 5}}};
    const auto table = find_routes(t);
    CHECK(way(t, table, 0, 1) == std::vector<std::size_t>{0, 4, 1});
    CHECK(way(t, table, 0, 3) == std::vector<std::size_t>{0, 4, 5, 3});
    CHECK(way(t, table, 3, 0) == std::vector<std::size_t>{3, 5, 4, 0});
    CHECK_FALSE(can_deadlock(t, table));
}

TEST_CASE("terminals are not passed through") {
    // 0 - 3 - 1 and 1 - … : terminal 1 has one link only, so terminal 2 cannot be reached over it.
    const topology t{3, 2, {{0, 3}, {1, 3}, {2, 4}}};
    const auto table = find_routes(t);
    CHECK(table[0][2] == no_link);
    CHECK(table[3][2] == no_link);
    CHECK(table[0][1] != no_link);
}

TEST_CASE("destinations share links between the same switches") {
    topology t{8, 2, {}};
    for (std::size_t i = 0; i < 8; ++i) t.links.emplace_back(i, i < 4 ? 8 : 9);
    t.links.emplace_back(8, 9);
    t.links.emplace_back(8, 9);
    const auto table = find_routes(t);
    CHECK(table[8][4] != table[8][5]);
    CHECK(table[8][4] == table[8][6]);
}

TEST_CASE("rings of switches cannot deadlock") {
    for (const std::size_t n : {4, 5, 8}) {
        const auto t = ring(n);
        const auto table = find_routes(t);
        CHECK_FALSE(can_deadlock(t, table));
        for (std::size_t s = 0; s < n; ++s)
            for (std::size_t d = 0; d < n; ++d)
                if (s != d) CHECK(way(t, table, s, d).back() == d);
    }
}

TEST_CASE("a table that goes round a ring is recognised") {
    const auto t = ring(4);
    routing_table round(t.vertices(), std::vector<std::size_t>(t.terminals, no_link));
    for (std::size_t v = 0; v < t.vertices(); ++v)
        for (std::size_t d = 0; d < t.terminals; ++d) {
            if (v == d) continue;
            round[v][d] = v < t.terminals        ? v
                          : v - t.terminals == d ? d
                                                 : v;  // link i to its switch, 4 + i to the next switch
        }
    CHECK(way(t, round, 0, 3) == std::vector<std::size_t>{0, 4, 5, 6, 7, 3});
    CHECK(can_deadlock(t, round));
}

TEST_CASE("meshes and random graphs: every terminal is reached, nothing can deadlock") {
    std::uint64_t state = 1;
    const auto random = [&](std::size_t n) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>((state >> 33) % n);
    };
    for (unsigned round = 0; round < 50; ++round) {
        const std::size_t switches = 2 + random(8), terminals = 2 + random(10);
        topology t{terminals, switches, {}};
        for (std::size_t i = 0; i < terminals; ++i) t.links.emplace_back(i, terminals + random(switches));
        for (std::size_t i = 1; i < switches; ++i) t.links.emplace_back(terminals + i, terminals + random(i));
        for (std::size_t i = random(8); i; --i) {
            const auto a = random(switches), b = random(switches);
            if (a != b) t.links.emplace_back(terminals + a, terminals + b);
        }
        const auto table = find_routes(t);
        CHECK_FALSE(can_deadlock(t, table));
        for (std::size_t s = 0; s < terminals; ++s)
            for (std::size_t d = 0; d < terminals; ++d)
                if (s != d) CHECK(way(t, table, s, d).back() == d);
        CHECK(find_routes(t) == table);
    }
}

TEST_CASE("sizes of packets") {
    CHECK(bytes_of(access_kind::read, false, false) == 12);
    CHECK(bytes_of(access_kind::write, false, false) == 76);
    CHECK(bytes_of(access_kind::read, true, false) == 12);
    CHECK(bytes_of(access_kind::read, false, true) == 68);
    CHECK(bytes_of(access_kind::read, false, true, 0, 0b0100) == 20);  // what is left of it after trimming
    CHECK(bytes_of(access_kind::write, false, true) == 4);
    CHECK(bytes_of(access_kind::read, true, true) == 12);
    CHECK(bytes_of(access_kind::atomic, false, false, 8) == 20);
    CHECK(bytes_of(access_kind::atomic, false, true, 8) == 12);
    CHECK(bytes_of(access_kind::load_reserved, false, false) == 12);
    CHECK(bytes_of(access_kind::store_conditional, false, false, 8) == 20);
    CHECK(bytes_of(access_kind::store_conditional, false, true, 8) == 4);
    CHECK(bytes_of(access_kind::lock, false, false) == 12);
    const packet_format f;
    CHECK(f.flits(68) == 5);
    CHECK(f.wire_bytes(76) == 80);
    CHECK(f.flits(16) == 1);
}
