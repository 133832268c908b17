// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fabricvp::gdb {

/// What a debugger sent: a packet, one that is corrupted, '+', '-', or the interrupt byte 0x03 between packets.
enum class packet_event { packet, bad_packet, acknowledge, retransmit, interrupt };

/// Cuts a byte stream into packets `$payload#checksum`. It knows nothing of sockets or commands, takes any bytes, and
/// holds at most `max_payload` of them.
class packet_parser {
public:
    static constexpr std::size_t max_payload = 0x4000;

    /// \returns what is complete with this byte.
    std::optional<packet_event> feed(char byte);
    /// The last packet's payload, escapes undone. Valid until the next feed().
    const std::string& payload() const { return m_payload; }
    void reset();

private:
    enum class state { between, body, escape, first_digit, second_digit };

    void begin();
    void append(char byte);

    state m_state = state::between;
    std::string m_payload;
    std::uint8_t m_sum = 0;
    std::uint8_t m_expected = 0;
    bool m_bad = false;
};

/// Frames a payload: escapes, '$', '#', checksum.
std::string encode_packet(std::string_view payload);

}  // namespace fabricvp::gdb
