// SPDX-License-Identifier: Apache-2.0
// Order of a wavefront's accesses to remote lines: which accesses wait for which, and that no others do.
#include <catch2/catch.hpp>

#include <memory>
#include <random>
#include <vector>

#include "gpu/memory/remote_order.h"

using namespace fabricvp;
using namespace fabricvp::gpu;

namespace {

/// Accesses of one piece each.
struct accesses {
    pool<vector_access> made;
    std::vector<std::unique_ptr<access_state>> all;
    std::uint64_t serial = 0;

    access_state& make(std::uint64_t line, std::uint32_t wavefront) {
        all.push_back(std::make_unique<access_state>());
        access_state& s = *all.back();
        s.access = made.make();
        s.access->wavefront = wavefront;
        s.transactions[0].line = line;
        s.count = 1;
        s.serial = ++serial;
        return s;
    }
};

std::vector<access_state*> states_in(transaction_queue q) {
    std::vector<access_state*> list;
    while (!q.empty()) list.push_back(&access_state::of(q.pop()));
    return list;
}

}  // namespace

TEST_CASE("accesses to other lines, and of other wavefronts, do not wait") {
    accesses a;
    remote_order order;
    std::vector<access_state*> under_way;
    for (std::uint64_t line = 0; line < 200; ++line)
        for (std::uint32_t wavefront = 0; wavefront < 40; ++wavefront) {
            access_state& s = a.make((std::uint64_t{3} << 48) + line * line_bytes, wavefront);
            REQUIRE(order.enter(s, 0, true));
            under_way.push_back(&s);
        }
    CHECK(order.size() == under_way.size());
    for (auto* s : under_way) CHECK(order.leave(*s, 0, true).empty());
    CHECK(order.size() == 0);
}

TEST_CASE("reads of a line go together, a write waits for them, and what comes behind it waits too") {
    accesses a;
    remote_order order;
    access_state &first = a.make(64, 1), &second = a.make(64, 1), &write = a.make(64, 1), &third = a.make(64, 1);
    CHECK(order.enter(first, 0, false));
    CHECK(order.enter(second, 0, false));
    CHECK_FALSE(order.enter(write, 0, true));
    CHECK_FALSE(order.enter(third, 0, false));
    CHECK(order.leave(first, 0, false).empty());
    CHECK(states_in(order.leave(second, 0, false)) == std::vector<access_state*>{&write, &third});
    CHECK(order.enter(write, 0, true));
    CHECK_FALSE(order.enter(third, 0, false));
    CHECK(states_in(order.leave(write, 0, true)) == std::vector<access_state*>{&third});
    CHECK(order.enter(third, 0, false));
    CHECK(order.leave(third, 0, false).empty());
    CHECK(order.size() == 0);
}

TEST_CASE("posted writes wait for reads alone, and nothing waits for them but behind one that waits") {
    accesses a;
    remote_order order;
    CHECK(order.enter_posted(a.make(64, 1), 0));  // in an empty table
    access_state &read = a.make(64, 1), &write = a.make(64, 1), &next = a.make(64, 1), &load = a.make(64, 1);
    CHECK(order.enter_posted(a.make(64, 1), 0));
    CHECK(order.enter(read, 0, false));
    CHECK_FALSE(order.enter_posted(write, 0));
    CHECK_FALSE(order.enter_posted(next, 0));
    CHECK_FALSE(order.enter(load, 0, false));
    CHECK(order.enter_posted(a.make(64, 2), 0));   // of another wavefront
    CHECK(order.enter_posted(a.make(128, 1), 0));  // to another line
    CHECK(states_in(order.leave(read, 0, false)) == std::vector<access_state*>{&write, &next, &load});
    CHECK(order.enter_posted(write, 0));
    CHECK(order.enter_posted(next, 0));
    CHECK(order.enter(load, 0, false));
    CHECK(order.leave(load, 0, false).empty());
    CHECK(order.size() == 0);
}

TEST_CASE("lanes of one access need no order among each other") {
    accesses a;
    remote_order order;
    access_state& s = a.make(128, 7);
    s.transactions[1].line = 128;
    s.count = 2;
    CHECK(order.enter(s, 0, true));
    CHECK(order.enter(s, 1, true));
    CHECK(order.leave(s, 0, true).empty());
    CHECK(order.leave(s, 1, true).empty());
}

TEST_CASE("random accesses: whatever is parked is freed by the last that it waited for, in order") {
    accesses a;
    remote_order order;
    std::mt19937_64 random(5);
    struct going {
        access_state* s;
        bool write;
    };
    std::vector<going> under_way;
    std::vector<bool> write_of;  // by serial - 1
    std::size_t entered = 0;
    const auto enter = [&](access_state& s) {
        if (!order.enter(s, 0, write_of[s.serial - 1])) return;
        for (const auto& o : under_way)  // of the same key only reads are together
            if (o.s->transactions[0].line == s.transactions[0].line && o.s->access->wavefront == s.access->wavefront)
                REQUIRE((!o.write && !write_of[s.serial - 1]));
        under_way.push_back({&s, write_of[s.serial - 1]});
        ++entered;
    };
    const auto leave = [&] {
        const auto at = random() % under_way.size();
        const auto ended = under_way[at];
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(at));
        std::uint64_t last = 0;
        for (auto* s : states_in(order.leave(*ended.s, 0, ended.write))) {
            REQUIRE(s->serial > last);
            last = s->serial;
            enter(*s);
        }
    };
    for (unsigned i = 0; i < 20000; ++i) {
        write_of.push_back(random() % 3 == 0);
        enter(a.make(random() % 64 * line_bytes, static_cast<std::uint32_t>(random() % 8)));
        while (under_way.size() > random() % 300) leave();
    }
    while (!under_way.empty()) leave();
    CHECK(entered == 20000);
    CHECK(order.size() == 0);
}

TEST_CASE("a reset clears all of it") {
    accesses a;
    remote_order order;
    CHECK(order.enter(a.make(64, 1), 0, true));
    order.clear();
    CHECK(order.size() == 0);
    access_state& s = a.make(64, 1);
    CHECK(order.enter(s, 0, true));
    CHECK(order.leave(s, 0, true).empty());
}
