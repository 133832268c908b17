// SPDX-License-Identifier: Apache-2.0
#include <boost/asio.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "fake_machine.h"
#include "platform/gdb/gdb_server.h"
#include "platform/gdb/packet_parser.h"

using namespace fabricvp;
using boost::asio::ip::tcp;
using fabricvp::testing::fake_machine;

namespace {

/// A machine with a server; `poll_once` is one round of the simulation loop, and does not wait for the debugger.
struct bench {
    bench() : server(machine.process(), hooks_that_wait()) { port = server.listen(0); }

    gdb_hooks hooks_that_wait() {
        auto h = machine.hooks();
        h.while_stopped = [] { return false; };
        return h;
    }
    void poll_once() {
        server.poll();
        if (!server.holding()) machine.run(10);
    }
    /// Sockets deliver when they like.
    template <class Condition>
    bool comes_true(Condition condition) {
        for (int attempts = 0; attempts < 2000; ++attempts) {
            if (condition()) return true;
            poll_once();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return false;
    }
    bool freed() {
        return comes_true([this] { return !server.attached(); });
    }

    fake_machine machine{2};
    gdb_server server;
    std::uint16_t port = 0;
};

struct client {
    explicit client(bench& b) : machine(b) {
        socket.connect({boost::asio::ip::address_v4::loopback(), b.port});
        socket.non_blocking(true);
        // One that is refused is never attached.
        if (!b.server.attached()) REQUIRE(b.comes_true([&] { return b.server.attached(); }));
    }
    void write(const std::string& bytes) { boost::asio::write(socket, boost::asio::buffer(bytes)); }
    /// Lets the machine run until `wanted` bytes have come, or the connection is closed, or nothing happens.
    std::string read(std::size_t wanted) {
        std::string got;
        for (int attempts = 0; attempts < 2000 && got.size() < wanted && !closed; ++attempts) {
            machine.poll_once();
            char bytes[4096];
            boost::system::error_code error;
            const auto n = socket.read_some(boost::asio::buffer(bytes), error);
            if (!error)
                got.append(bytes, n);
            else if (error == boost::asio::error::would_block)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            else
                closed = true;
        }
        return got;
    }
    /// Sends a packet; expects '+' and the reply's payload, acknowledges it.
    void expect(const std::string& payload, const std::string& reply) {
        write(gdb::encode_packet(payload));
        const auto framed = "+" + gdb::encode_packet(reply);
        CHECK(read(framed.size()) == framed);
        write("+");
    }

    bench& machine;
    boost::asio::io_context io;
    tcp::socket socket{io};
    bool closed = false;
};

}  // namespace

TEST_CASE("a debugger halts the machine when it comes and frees it when it goes") {
    bench b;
    b.poll_once();
    CHECK(b.machine.harts[0]->x[5] == 10);
    CHECK_FALSE(b.server.attached());
    SECTION("by detaching") {
        client c(b);
        CHECK(b.server.holding());
        c.expect("Z0,80000010,4", "OK");
        c.expect("D", "OK");
    }
    SECTION("by closing its socket") {
        client c(b);
        c.expect("Z0,80000010,4", "OK");
        CHECK_FALSE(b.machine.clean());
        c.socket.close();
    }
    SECTION("by resetting its connection while the machine runs") {
        client c(b);
        c.expect("Z2,80009000,4", "OK");
        c.write(gdb::encode_packet("c"));
        CHECK(b.comes_true([&] { return !b.server.holding(); }));
        CHECK(b.server.attached());
        c.socket.set_option(boost::asio::socket_base::linger(true, 0));
        c.socket.close();
    }
    SECTION("in the middle of a packet") {
        client c(b);
        c.write("$m8000");
        b.poll_once();
        c.socket.close();
    }
    CHECK(b.freed());
    CHECK(b.machine.clean());
    const auto before = b.machine.harts[0]->x[5];
    b.poll_once();
    CHECK(b.machine.harts[0]->x[5] > before);
}

TEST_CASE("debuggers come one after the other") {
    bench b;
    for (int n = 0; n < 5; ++n) {
        client c(b);
        c.expect("qC", "QC1");
        CHECK(b.server.attached());
        c.socket.close();
    }
    CHECK(b.freed());
    CHECK(b.machine.clean());
}

TEST_CASE("a second debugger waits a moment for the first to go, and is refused if it stays") {
    bench b;
    client c(b), early(b);
    c.expect("qC", "QC1");
    SECTION("goes") {
        c.socket.close();
        early.expect("qC", "QC1");
    }
    SECTION("stays") {
        early.read(1);
        CHECK(early.closed);
        c.expect("qC", "QC1");
    }
}

TEST_CASE("packets are acknowledged until the debugger asks not to") {
    bench b;
    client c(b);
    c.write("$qC#00");
    CHECK(c.read(1) == "-");
    c.expect("qC", "QC1");
    c.write("-");
    CHECK(c.read(7) == gdb::encode_packet("QC1"));
    c.expect("QStartNoAckMode", "OK");
    c.write(gdb::encode_packet("qC"));
    CHECK(c.read(7) == gdb::encode_packet("QC1"));
    c.write("$qC#00-" + gdb::encode_packet("?"));
    CHECK(c.read(4).substr(0, 4) == "$T05");
}

TEST_CASE("stops are sent when they happen, interrupts are heard") {
    bench b;
    client c(b);
    c.expect("QStartNoAckMode", "OK");
    c.write(gdb::encode_packet("Z0,8000001c,4") + gdb::encode_packet("vCont;c"));
    const auto stop = c.read(20);
    CHECK(stop.substr(0, 9) == "$OK#9a$T0");
    CHECK(b.server.holding());
    c.write(gdb::encode_packet("z0,8000001c,4") + gdb::encode_packet("vCont;c"));
    CHECK(c.read(6) == "$OK#9a");
    CHECK(b.comes_true([&] { return !b.server.holding(); }));
    c.write("\x03");
    CHECK(c.read(4).substr(0, 4) == "$T02");
    CHECK(b.server.holding());
}

TEST_CASE("a run can be held until a debugger has come") {
    bench b;
    b.server.hold();
    b.poll_once();
    CHECK(b.machine.harts[0]->x[5] == 0);
    client c(b);
    CHECK(b.machine.harts[0]->x[5] == 0);
    c.expect("D", "OK");
    CHECK(b.comes_true([&] { return b.machine.harts[0]->x[5] > 0; }));
}

TEST_CASE("poll waits while the debugger holds the machine, and serves others meanwhile") {
    fake_machine machine(1);
    auto hooks = machine.hooks();
    unsigned turns = 0;
    hooks.while_stopped = [&] { return ++turns < 3; };
    gdb_server server(machine.process(), hooks);
    server.listen(0);
    server.hold();
    server.poll();
    CHECK(turns == 3);
    CHECK(server.holding());
}

TEST_CASE("the end of the simulation is told") {
    bench b;
    client c(b);
    c.expect("QStartNoAckMode", "OK");
    c.write(gdb::encode_packet("vCont;c"));
    CHECK(b.comes_true([&] { return !b.server.holding(); }));
    b.server.ended(1);
    CHECK(c.read(100) == gdb::encode_packet("W01"));
    CHECK(c.closed);
    CHECK(b.machine.clean());
}

TEST_CASE("a port that is taken is one clear error") {
    bench b;
    fake_machine machine(1);
    gdb_server second(machine.process(), machine.hooks());
    CHECK_THROWS_WITH(second.listen(b.port), Catch::Contains(std::to_string(b.port)) && Catch::Contains("in use"));
    CHECK(second.listen(0) != b.port);
}

TEST_CASE("noise does no harm") {
    bench b;
    client c(b);
    std::string noise;
    for (unsigned n = 0, x = 1; n < 100000; ++n, x = x * 1103515245 + 12345)
        noise.push_back(static_cast<char>(x >> 16));
    for (std::size_t at = 0; at < noise.size(); at += 1000) {
        boost::system::error_code ignored;
        boost::asio::write(c.socket, boost::asio::buffer(noise.data() + at, 1000), ignored);
        b.poll_once();
    }
    c.socket.close();
    CHECK(b.freed());
    client next(b);
    next.expect("qC", "QC1");
}
