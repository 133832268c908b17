// SPDX-License-Identifier: Apache-2.0
#include "platform/console/tcp_console.h"

#include <algorithm>

#include <fmt/format.h>
#include <boost/asio.hpp>

#include "platform/common/input_error.h"

namespace fabricvp {

namespace asio = boost::asio;
using asio::ip::tcp;

struct tcp_console::server {
    static constexpr std::size_t max_kept = std::size_t{64} << 20;
    asio::io_context context{1};
    tcp::acceptor acceptor{context};
    tcp::socket client{context};
    std::string printed;   ///< for clients that come later: the last `max_kept` bytes at least
    std::size_t sent = 0;  ///< of it, to the present client
    bool connected = false;

    void accept() {
        boost::system::error_code error;
        acceptor.accept(client, error);
        if (error) return;
        client.non_blocking(true, error);
        client.set_option(tcp::no_delay(true), error);
        connected = true;
        sent = 0;
    }

    void drop() {
        boost::system::error_code ignored;
        client.close(ignored);
        client = tcp::socket(context);
        connected = false;
    }

    void send() {
        while (connected && sent < printed.size()) {
            boost::system::error_code error;
            const auto done = client.write_some(asio::buffer(printed.data() + sent, printed.size() - sent), error);
            if (error == asio::error::would_block || error == asio::error::try_again) return;
            if (error) return drop();
            sent += done;
        }
    }

    /// A guest that prints for ever must not fill the host's memory.
    void drop_oldest() {
        if (printed.size() < 2 * max_kept) return;
        const auto oldest = printed.size() - max_kept;
        printed.erase(0, oldest);
        sent -= std::min(sent, oldest);
    }

    std::string receive() {
        char buffer[1024];
        boost::system::error_code error;
        const auto got = client.read_some(asio::buffer(buffer), error);
        if (!error) return {buffer, got};
        if (error != asio::error::would_block && error != asio::error::try_again) drop();
        return {};
    }
};

tcp_console::tcp_console(std::uint16_t port, const std::string& so_far) : m(std::make_unique<server>()) {
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
    try {
        m->acceptor.open(endpoint.protocol());
        m->acceptor.set_option(tcp::acceptor::reuse_address(true));
        m->acceptor.bind(endpoint);
        m->acceptor.listen();
        m->acceptor.non_blocking(true);
    } catch (const boost::system::system_error& e) {
        throw input_error(fmt::format("console tcp:{}: cannot listen: {}", port, e.code().message()));
    }
    m->printed = so_far;
}

tcp_console::~tcp_console() { m->send(); }

void tcp_console::write(std::string_view text) {
    m->printed += text;
    m->drop_oldest();
}

std::string tcp_console::poll(bool room) {
    if (!m->connected) m->accept();
    if (!m->connected) return {};
    m->send();
    return m->connected && room ? m->receive() : std::string();
}

void tcp_console::abandon() { m->sent = m->printed.size(); }

std::uint16_t tcp_console::port() const { return m->acceptor.local_endpoint().port(); }

}  // namespace fabricvp
