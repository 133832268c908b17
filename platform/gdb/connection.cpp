// SPDX-License-Identifier: Apache-2.0
#include "platform/gdb/connection.h"

#include <array>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

namespace fabricvp::gdb {

namespace asio = boost::asio;

connection::connection(asio::ip::tcp::socket socket) : m_socket(std::move(socket)) {
    boost::system::error_code ignored;
    m_socket.non_blocking(true, ignored);
    m_socket.set_option(asio::ip::tcp::no_delay(true), ignored);
}

void connection::put(std::string_view bytes) {
    if (!open()) return;
    m_unsent += bytes;
    if (m_unsent.size() > max_unsent) close();
}

void connection::send(std::string_view payload) {
    m_last = encode_packet(payload);
    put(m_last);
}

void connection::receive(const std::function<void(packet_event, std::string_view)>& handle) {
    std::array<char, 0x4000> bytes;
    // Bounded, so that a flood does not hold up the simulation.
    for (int round = 0; round < 16 && open(); ++round) {
        boost::system::error_code error;
        const std::size_t size = m_socket.read_some(asio::buffer(bytes), error);
        if (error == asio::error::would_block || error == asio::error::try_again) return;
        if (error) return close();
        for (std::size_t i = 0; i < size && open(); ++i) {
            const auto event = m_parser.feed(bytes[i]);
            if (!event) continue;
            if (*event == packet_event::retransmit && m_acknowledge) put(m_last);
            if (*event == packet_event::packet && m_acknowledge) put("+");
            if (*event == packet_event::bad_packet && m_acknowledge) put("-");
            handle(*event, m_parser.payload());
        }
    }
}

void connection::flush() {
    while (open() && !m_unsent.empty()) {
        boost::system::error_code error;
        const std::size_t sent = m_socket.write_some(asio::buffer(m_unsent), error);
        if (error == asio::error::would_block || error == asio::error::try_again) return;
        if (error) return close();
        m_unsent.erase(0, sent);
    }
}

void connection::close() {
    boost::system::error_code ignored;
    m_socket.close(ignored);
    m_unsent.clear();
}

}  // namespace fabricvp::gdb
