// SPDX-License-Identifier: Apache-2.0
// Lines that stay in the L2: by request, and those of queues.
#include "unit/gpu/memory_bench.h"

using namespace fabricvp;
using namespace fabricvp::test;

namespace {

constexpr std::uint64_t home = 0x200000;
memory_machine& fresh() { return after_reset<four_banks, 1>(); }

}  // namespace

TEST_CASE("locked lines stay, up to the cap of a set") {
    auto& m = fresh();
    line_listener l;
    auto& router = m.system.router;
    const std::uint64_t way = 64 << 10 >> 2;  // lines at this distance share a set (4 ways)
    const auto send = [&](access_kind kind, std::uint64_t n) {
        router.send(l.make(kind, gpu0 | (home + n * way)));
        m.run();
        CHECK(l.responses.back().fault == memory_fault::none);
        return l.responses.back().succeeded;
    };
    const auto holds = [&](std::uint64_t n) { return m.system.l2.bank_of(home).holds(home + n * way); };
    CHECK(send(access_kind::lock, 0));
    CHECK(send(access_kind::lock, 1));
    CHECK(send(access_kind::lock, 1));        // it is
    CHECK_FALSE(send(access_kind::lock, 2));  // the cap is 2
    for (std::uint64_t n = 3; n < 20; ++n) send(access_kind::read, n);
    CHECK(holds(0));
    CHECK(holds(1));
    CHECK_FALSE(holds(2));
    CHECK(holds(19));
    CHECK(holds(18));
    CHECK_FALSE(holds(17));
    CHECK(send(access_kind::unlock, 0));
    CHECK_FALSE(send(access_kind::unlock, 0));
    CHECK(send(access_kind::lock, 2));
    for (std::uint64_t n = 20; n < 30; ++n) send(access_kind::read, n);
    CHECK_FALSE(holds(0));
    CHECK(holds(1));
    CHECK(holds(2));
}

TEST_CASE("lines of queues are locked by their producers and unlocked by the command processor") {
    auto& m = fresh();
    auto& l2 = m.system.l2;
    auto& bank = l2.bank_of(home);
    const std::uint64_t way = 64 << 10 >> 2;  // lines at this distance share a set (4 ways)
    line_listener l;
    const auto send = [&](access_kind kind, std::uint64_t n, bool by_processor) {
        m.system.router.send(
            l.make(kind, gpu0 | (home + n * way), by_processor ? std::uint64_t{1} << 32 | 0xffff0000u : 0));
        m.run();
        CHECK(l.responses.back().fault == memory_fault::none);
    };
    const auto stream = [&] {
        for (std::uint64_t n = 10; n < 20; ++n) send(access_kind::read, n, false);
    };
    const auto read_before = bank.queue_reads.total(), missed_before = bank.queue_misses.total();
    for (const bool lock : {false, true}) {
        l2.watch(gpu0 | home, way + 64, lock);  // lines 0 and 1
        const auto locks = bank.locks.total();
        send(access_kind::write, 0, false);
        send(access_kind::write, 0, false);  // the rest of the request
        send(access_kind::write, 5, false);  // of no queue
        CHECK(bank.locks.total() - locks == lock);
        stream();
        CHECK(bank.holds(home) == lock);
        CHECK_FALSE(bank.holds(home + 5 * way));
        send(access_kind::read, 0, true);
        send(access_kind::write, 0, true);  // it has ended
        CHECK_FALSE(bank.locked(home));
        stream();
        CHECK_FALSE(bank.holds(home));
    }
    CHECK(bank.queue_reads.total() - read_before == 2);
    CHECK(bank.queue_misses.total() - missed_before == 1);
    send(access_kind::write, 1, false);
    CHECK(bank.locked(home + way));
    l2.watch(0, 0, false);
    CHECK_FALSE(bank.locked(home + way));
}
