// SPDX-License-Identifier: Apache-2.0
// Messages of ranks by rings in shared memory. Threads stand in for processes where only the messages matter.
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>
#include <catch2/catch.hpp>

#include "platform/ranks/fork_ranks.h"
#include "platform/ranks/ring_communicator.h"

using namespace fabricvp;
using namespace fabricvp::ranks;

namespace {

/// What one rank sends to another one in an exchange: other bytes each time, of any length.
bytes message_of(unsigned from, unsigned to, unsigned exchange, std::size_t max_size) {
    std::uint64_t state = (from * 31 + to) * 1'000'003 + exchange;
    const auto draw = [&] { return state = state * 6364136223846793005u + 1442695040888963407u, state >> 33; };
    bytes m(draw() % (max_size + 1));
    for (auto& b : m) b = static_cast<std::uint8_t>(draw());
    return m;
}

/// Runs the exchanges of one rank. \returns the number of messages that were not as they were sent
unsigned wrong_messages(communicator& c, unsigned exchanges, std::size_t max_size) {
    unsigned wrong = 0;
    std::vector<bytes> to(c.count()), from(c.count());
    for (unsigned e = 0; e < exchanges; ++e) {
        for (unsigned r = 0; r < c.count(); ++r) to[r] = message_of(c.rank(), r, e, max_size);
        c.all_to_all(to, from);
        for (unsigned r = 0; r < c.count(); ++r)
            if (r != c.rank()) wrong += from[r] != message_of(r, c.rank(), e, max_size);
    }
    return wrong;
}

unsigned wrong_in_threads(unsigned count, std::size_t ring_bytes, unsigned exchanges, std::size_t max_size) {
    shared_segment segment(count, ring_bytes);
    std::vector<unsigned> wrong(count, 1);
    std::vector<std::thread> threads;
    for (unsigned r = 0; r < count; ++r)
        threads.emplace_back([&, r] {
            ring_communicator c(segment, r);
            wrong[r] = wrong_messages(c, exchanges, max_size);
        });
    for (auto& t : threads) t.join();
    unsigned sum = 0;
    for (const auto w : wrong) sum += w;
    return sum;
}

}  // namespace

TEST_CASE("a ring holds what it has room for, and no more") {
    alignas(64) unsigned char memory[sizeof(ring_header) + 256] = {};
    ring_writer out(memory, 256);
    ring_reader in(memory, 256);
    const bytes long_message(1000, 7);
    std::size_t done = 0;
    bool complete = false;
    CHECK(out.write(long_message, 9, done, complete));
    CHECK(done == 256 - 2 * sizeof(std::uint32_t));  // one record
    CHECK_FALSE(complete);
    CHECK_FALSE(out.write(long_message, 9, done, complete));  // full
    bytes received;
    std::uint32_t mark = 0;
    bool all = false;
    unsigned rounds = 0;
    while (!all && rounds++ < 100) {
        in.read(received, mark, all);
        out.write(long_message, 9, done, complete);
    }
    CHECK(complete);
    CHECK(all);
    CHECK(received == long_message);
    CHECK(mark == 9);
    bytes nothing;
    all = false;
    CHECK_FALSE(in.read(nothing, mark, all));
    done = 0, complete = false;
    CHECK(out.write({}, 9, done, complete));  // an empty message is one, too
    CHECK(in.read(nothing, mark, all));
    CHECK(all);
    CHECK(nothing.empty());
}

TEST_CASE("messages of all lengths come as they were sent") {
    CHECK(wrong_in_threads(2, 0, 2000, 200) == 0);
    CHECK(wrong_in_threads(4, 0, 300, 3000) == 0);
}

TEST_CASE("messages that are longer than their ring come in parts, in both directions at one time") {
    CHECK(wrong_in_threads(2, 128, 200, 5000) == 0);
    CHECK(wrong_in_threads(5, 256, 50, 5000) == 0);
    CHECK(wrong_in_threads(2, 1024, 2, 3 << 20) == 0);
}

TEST_CASE("a rank that waits long sleeps, and knows for whom it has waited") {
    shared_segment segment(2);
    ring_communicator late(segment, 1);
    std::uint64_t sleeps = 0;
    unsigned last = 9;
    std::thread early([&] {
        ring_communicator c(segment, 0);
        std::vector<bytes> to(2), from(2);
        c.all_to_all(to, from);
        sleeps = c.sleeps();
        last = c.last_sender();
    });
    while (segment.state(0).sleeps_for != 2) std::this_thread::yield();
    std::vector<bytes> to(2), from(2);
    late.all_to_all(to, from);
    early.join();
    CHECK(sleeps == 1);
    CHECK(last == 1);
}

TEST_CASE("all ranks know which one was the last") {
    shared_segment segment(3);
    unsigned last[3] = {9, 9, 9};
    const auto exchange = [&](unsigned rank) {
        ring_communicator c(segment, rank);
        std::vector<bytes> to(3), from(3);
        c.all_to_all(to, from);
        last[rank] = c.last_sender();
    };
    std::thread first(exchange, 0), third(exchange, 2);
    while (segment.all().begun != 2) std::this_thread::yield();
    exchange(1);
    first.join();
    third.join();
    for (const auto l : last) CHECK(l == 1);
}

TEST_CASE("processes exchange messages, and rank 0 has the last word") {
    const auto exchange = [](process_communicator& c, const auto& results_written) {
        if (wrong_messages(c, 500, 1000)) return 9;
        if (c.rank() == 0) results_written();
        c.finish();
        return c.rank() == 0 ? 7 : 0;
    };
    const auto run = fork_ranks(3, exchange);
    CHECK(run.status == 7);
    CHECK(run.results_written);
}

TEST_CASE("a process that ends before all have parted ends the others") {
    const auto leave = [](process_communicator& c, const auto&) {
        if (c.rank() == 1) return 5;
        std::vector<bytes> to(c.count()), from(c.count());
        c.all_to_all(to, from);  // never comes back
        c.finish();
        return 0;
    };
    const auto run = fork_ranks(3, leave);
    CHECK(run.status == 5);
    CHECK_FALSE(run.results_written);
    const auto die = [](process_communicator& c, const auto&) -> int {
        if (c.rank() == 2) ::_exit(0);  // with status 0, yet without a word
        for (;;) ::pause();
    };
    CHECK(fork_ranks(3, die).status == 1);
}

TEST_CASE("a rank that throws ends the others, and goes no further") {
    const auto test = ::getpid();
    const auto refuse = [](process_communicator& c, const auto&) -> int {
        std::signal(SIGABRT, SIG_DFL);  // Catch2's handler would report a failure
        if (c.rank() == 1) throw std::runtime_error("not this one");
        for (;;) ::pause();
    };
    try {
        const auto run = fork_ranks(3, refuse);
        CHECK(run.status == 128 + SIGABRT);
        CHECK_FALSE(run.results_written);
    } catch (const std::runtime_error&) {
        if (::getpid() != test) ::_exit(3);  // a second process would run the other tests
        FAIL("it came out of the rank's process");
    }
}
