// SPDX-License-Identifier: Apache-2.0
#include "platform/gdb/gdb_server.h"

#include <poll.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "platform/gdb/connection.h"
#include "platform/gdb/run_control.h"
#include "platform/gdb/session.h"

namespace fabricvp {

namespace {

using boost::asio::ip::tcp;

/// Longest wait for the debugger before other services get their turn.
constexpr int wait_ms = 20;
/// A debugger that comes while another one is there is kept this long, because the first may be about to go: nothing
/// orders the end of one connection before the beginning of another.
constexpr std::chrono::milliseconds pending_client_timeout{1000};

}  // namespace

struct gdb_server::implementation {
    implementation(gdb_process p, gdb_hooks h) : process(std::move(p)), hooks(std::move(h)) {}

    void accept();
    void serve();
    void drop();
    void wait();
    bool holding() const { return waiting || (run.attached() && !run.running()); }

    const gdb_process process;
    const gdb_hooks hooks;
    gdb::run_control run{process.threads, hooks, process.lockstep_threads};
    boost::asio::io_context io;
    tcp::acceptor acceptor{io};
    std::optional<gdb::connection> client;
    std::optional<gdb::session> session;
    std::optional<tcp::socket> pending_client;
    std::chrono::steady_clock::time_point pending_client_deadline;
    bool waiting = false;
};

void gdb_server::implementation::accept() {
    while (acceptor.is_open()) {
        boost::system::error_code error;
        tcp::socket socket(io);
        acceptor.accept(socket, error);
        if (error) break;
        if (pending_client) continue;  // the socket closes here
        pending_client.emplace(std::move(socket));
        pending_client_deadline = std::chrono::steady_clock::now() + pending_client_timeout;
    }
    if (!pending_client) return;
    if (client) {
        if (std::chrono::steady_clock::now() > pending_client_deadline) pending_client.reset();
        return;
    }
    waiting = false;
    client.emplace(std::move(*pending_client));
    pending_client.reset();
    run.attach();
    session.emplace(process, hooks, run, [this](std::string_view payload) { client->send(payload); });
}

void gdb_server::implementation::serve() {
    if (!client) return;
    client->receive([this](gdb::packet_event event, std::string_view payload) {
        if (session->over()) return;
        if (event == gdb::packet_event::interrupt) session->interrupt();
        if (event == gdb::packet_event::packet) session->receive(payload);
        session->report_stop();
        if (session->no_acknowledge()) client->stop_acknowledging();
    });
    session->report_stop();
    client->flush();
    if (session->over() || !client->open()) drop();
}

void gdb_server::implementation::drop() {
    session.reset();
    client.reset();
    run.detach();
}

void gdb_server::implementation::wait() {
    pollfd handles[2] = {{acceptor.is_open() ? acceptor.native_handle() : -1, POLLIN, 0}, {-1, POLLIN, 0}};
    if (client) {
        handles[1].fd = client->handle();
        if (client->has_unsent()) handles[1].events |= POLLOUT;
    }
    ::poll(handles, 2, wait_ms);
}

gdb_server::gdb_server(gdb_process process, gdb_hooks hooks)
    : m(std::make_unique<implementation>(std::move(process), std::move(hooks))) {
    if (m->process.threads.empty()) throw std::runtime_error("a GDB server needs at least one hart");
}

gdb_server::~gdb_server() { ended(0); }

std::uint16_t gdb_server::listen(std::uint16_t port) {
    const tcp::endpoint here(boost::asio::ip::address_v4::loopback(), port);
    try {
        m->acceptor.open(here.protocol());
        m->acceptor.set_option(tcp::acceptor::reuse_address(true));
        m->acceptor.bind(here);
        m->acceptor.listen();
        m->acceptor.non_blocking(true);
        return m->acceptor.local_endpoint().port();
    } catch (const boost::system::system_error& e) {
        boost::system::error_code ignored;
        m->acceptor.close(ignored);
        throw std::runtime_error(fmt::format("GDB port {}: {}", port, e.code().message()));
    }
}

void gdb_server::hold() { m->waiting = true; }

void gdb_server::poll() {
    serve();
    while (m->holding()) {
        if (m->hooks.while_stopped && !m->hooks.while_stopped()) return;
        m->wait();
        serve();
    }
}

void gdb_server::serve() {
    m->serve();
    m->accept();
    m->serve();
}

bool gdb_server::holding() const { return m->holding(); }

bool gdb_server::attached() const { return m->run.attached(); }

void gdb_server::abandon() {
    boost::system::error_code ignored;
    m->acceptor.close(ignored);
    m->pending_client.reset();
    m->waiting = false;
    m->drop();
}

void gdb_server::ended(int status) {
    if (!m->session) return;
    m->session->report_exit(status);
    m->client->flush();
    m->drop();
}

}  // namespace fabricvp
