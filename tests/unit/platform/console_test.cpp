// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <unistd.h>

#include <fmt/format.h>
#include <boost/asio.hpp>

#include "platform/common/input_error.h"
#include "platform/console/line_console.h"
#include "temporary_folder.h"

using namespace fabricvp;
using Catch::Matchers::Contains;
using fabricvp::test::contents_of;
using fabricvp::test::temporary_folder;
namespace asio = boost::asio;

namespace {

struct bench {
    ticks now = 0;
    std::string sent;
    line_console serial{"node0", [this](std::string_view text) { sent += text; }, [this] { return now; }};

    void print(const std::string& text) {
        for (const char c : text) serial.printed(c);
    }
};

}  // namespace

TEST_CASE("what is printed is kept and shown to sinks") {
    bench b;
    std::string seen;
    b.serial.on_output([&](char c) { seen += c; });
    b.print("hello\n");
    CHECK(b.serial.output() == "hello\n");
    CHECK(seen == "hello\n");
}

TEST_CASE("what is typed goes to the line, and its recording types the same again") {
    bench b;
    b.now = 100;
    b.serial.type("ab");
    b.serial.type("c");
    b.now = 2'000;
    b.serial.type("\n");
    CHECK(b.sent == "abc\n");
    const auto recording = b.serial.recorded_input();
    CHECK(recording == "100 616263\n2000 0a\n");

    bench again;
    again.serial.replay(recording, "r");
    CHECK(again.serial.next_input() == 100);
    again.serial.poll();
    CHECK(again.sent.empty());
    again.now = 100;
    again.serial.poll();
    CHECK(again.sent == "abc");
    CHECK(again.serial.next_input() == 2'000);
    again.now = 2'000;
    again.serial.poll();
    CHECK(again.sent == "abc\n");
    CHECK(again.serial.next_input() == never);
    CHECK(again.serial.recorded_input() == recording);
}

TEST_CASE("broken recordings are refused with their line") {
    bench b;
    CHECK_THROWS_WITH(b.serial.replay("100 6\n", "r"), Contains("r:1: not a recording"));
    CHECK_THROWS_WITH(b.serial.replay("100 61\nx 61\n", "r"), Contains("r:2: not a recording"));
    CHECK_THROWS_WITH(b.serial.replay("100 61\n99 61\n", "r"), Contains("r:2: a recording's times must not go back"));
    CHECK_THROWS_WITH(b.serial.replay("100000000000000000000 61\n", "r"), Contains("r:1"));
}

TEST_CASE("a file console holds what was printed before and after it was attached") {
    temporary_folder folder;
    const auto path = (folder.path / "log").string();
    bench b;
    b.print("before ");
    b.serial.attach("file:" + path);
    b.print("after");
    b.serial.poll();
    CHECK(contents_of(path) == "before after");
    CHECK_FALSE(b.serial.may_type());
}

TEST_CASE("what a guest prints is kept up to a limit, and goes to files beyond it") {
    temporary_folder folder;
    const auto path = (folder.path / "out").string();
    bench b;
    console_options options;
    options.max_kept_bytes = 4;
    b.serial.configure(options);
    b.serial.attach("file:" + path);
    b.print("abcdef");
    b.serial.poll();
    b.print("ghi");
    b.serial.poll();
    b.serial.attach("none");
    CHECK(b.serial.output() == "abcd");
    CHECK(contents_of(path) == "abcdefghi");
}

TEST_CASE("piped input waits until the guest reads, and no more is taken than the line has room for") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const int standard_input = ::dup(STDIN_FILENO);
    REQUIRE(::dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    const std::string text(6000, 'x');
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    bench b;
    bool reads = false;
    std::size_t queued = 0;
    b.serial.hold_piped_input([&] { return reads; }, [&] { return queued; });
    b.serial.attach("stdio");
    for (int i = 0; i < 20; ++i) b.serial.poll();
    CHECK(b.sent.empty());
    CHECK(b.serial.may_type());  // the rest still waits in the pipe
    reads = true;
    b.serial.poll();
    CHECK(b.sent.size() >= 4096);
    queued = 4096;
    const auto before = b.sent.size();
    for (int i = 0; i < 20; ++i) b.serial.poll();
    CHECK(b.sent.size() == before);
    queued = 0;
    for (int i = 0; i < 20; ++i) b.serial.poll();
    CHECK(b.sent == text);
    CHECK_FALSE(b.serial.may_type());
    b.serial.attach("none");
    ::dup2(standard_input, STDIN_FILENO);
    ::close(standard_input);
    ::close(ends[0]);
}

TEST_CASE("bad places are refused") {
    bench b;
    for (const char* where :
         {"", "stdioo", "file:", "tcp:", "tcp:x", "tcp:65536", "tcp:-1", "file:/no/such/folder/x"}) {
        INFO(where);
        CHECK_THROWS_AS(b.serial.attach(where), input_error);
    }
}

TEST_CASE("a TCP console serves one client after the other") {
    bench b;
    b.print("boot\n");
    b.serial.attach("tcp:0");
    REQUIRE(b.serial.port() != 0);
    CHECK(b.serial.may_type());
    asio::io_context context;
    const asio::ip::tcp::endpoint there(asio::ip::address_v4::loopback(), b.serial.port());
    for (int client = 0; client < 2; ++client) {
        asio::ip::tcp::socket socket(context);
        socket.connect(there);
        b.serial.poll();
        b.serial.poll();
        char text[5];
        asio::read(socket, asio::buffer(text));  // a late client sees what was printed before
        CHECK(std::string(text, 5) == "boot\n");
        asio::write(socket, asio::buffer("hi", 2));
        b.sent.clear();
        for (int i = 0; i < 1000 && b.sent.size() < 2; ++i) {
            b.serial.poll();
            usleep(1000);
        }
        CHECK(b.sent == "hi");
        socket.close();
        for (int i = 0; i < 5; ++i) {
            b.serial.poll();
            usleep(1000);
        }
    }
    asio::ip::tcp::acceptor taken(context, {asio::ip::address_v4::loopback(), 0});
    CHECK_THROWS_WITH(b.serial.attach(fmt::format("tcp:{}", taken.local_endpoint().port())), Contains("cannot listen"));
}
