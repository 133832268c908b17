// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "platform/gdb/packet_parser.h"

namespace fabricvp::gdb {

/// A debugger's socket: cuts what comes in into packets, acknowledges them, sends replies. Nothing here waits.
class connection {
public:
    /// A debugger that does not read its replies is dropped when this many bytes wait for it.
    static constexpr std::size_t max_unsent = std::size_t{4} << 20;

    explicit connection(boost::asio::ip::tcp::socket socket);

    /// Sends a packet.
    void send(std::string_view payload);
    /// Reads what has arrived, at most some packets of it, and calls back for each.
    void receive(const std::function<void(packet_event, std::string_view payload)>& handle);
    /// Sends what can be sent now.
    void flush();
    void close();

    /// After QStartNoAckMode neither side acknowledges.
    void stop_acknowledging() { m_acknowledge = false; }
    bool open() const { return m_socket.is_open(); }
    bool has_unsent() const { return !m_unsent.empty(); }
    int handle() { return m_socket.native_handle(); }

private:
    void put(std::string_view bytes);

    boost::asio::ip::tcp::socket m_socket;
    packet_parser m_parser;
    std::string m_unsent;
    std::string m_last;  // framed, for a debugger that asks again
    bool m_acknowledge = true;
};

}  // namespace fabricvp::gdb
