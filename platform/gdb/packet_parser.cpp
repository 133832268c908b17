// SPDX-License-Identifier: Apache-2.0
#include "platform/gdb/packet_parser.h"

#include "platform/gdb/hex.h"

namespace fabricvp::gdb {

void packet_parser::reset() {
    m_state = state::between;
    m_payload.clear();
}

void packet_parser::begin() {
    m_state = state::body;
    m_payload.clear();
    m_sum = 0;
    m_bad = false;
}

void packet_parser::append(char byte) {
    if (m_payload.size() < max_payload)
        m_payload.push_back(byte);
    else
        m_bad = true;
}

std::optional<packet_event> packet_parser::feed(char byte) {
    // A '$' is never part of a packet's body: whatever came before it was cut off.
    if (byte == '$') {
        begin();
        return std::nullopt;
    }
    switch (m_state) {
        case state::between:
            if (byte == '+') return packet_event::acknowledge;
            if (byte == '-') return packet_event::retransmit;
            if (byte == '\x03') return packet_event::interrupt;
            return std::nullopt;
        case state::body:
            if (byte == '#') {
                m_state = state::first_digit;
                return std::nullopt;
            }
            m_sum = static_cast<std::uint8_t>(m_sum + static_cast<std::uint8_t>(byte));
            if (byte == '}')
                m_state = state::escape;
            else
                append(byte);
            return std::nullopt;
        case state::escape:
            if (byte == '#') {
                m_bad = true;
                m_state = state::first_digit;
                return std::nullopt;
            }
            m_sum = static_cast<std::uint8_t>(m_sum + static_cast<std::uint8_t>(byte));
            append(static_cast<char>(byte ^ 0x20));
            m_state = state::body;
            return std::nullopt;
        case state::first_digit:
        case state::second_digit: {
            const int digit = hex_digit(byte);
            if (digit < 0) m_bad = true;
            if (m_state == state::first_digit) {
                m_expected = static_cast<std::uint8_t>((digit & 0xf) << 4);
                m_state = state::second_digit;
                return std::nullopt;
            }
            m_expected = static_cast<std::uint8_t>(m_expected | (digit & 0xf));
            m_state = state::between;
            return !m_bad && m_expected == m_sum ? packet_event::packet : packet_event::bad_packet;
        }
    }
    return std::nullopt;
}

std::string encode_packet(std::string_view payload) {
    std::string framed = "$";
    framed.reserve(payload.size() + 4);
    std::uint8_t sum = 0;
    const auto put = [&](char c) {
        framed.push_back(c);
        sum = static_cast<std::uint8_t>(sum + static_cast<std::uint8_t>(c));
    };
    for (const char c : payload) {
        if (c == '$' || c == '#' || c == '}' || c == '*') {
            put('}');
            put(static_cast<char>(c ^ 0x20));
        } else {
            put(c);
        }
    }
    framed.push_back('#');
    framed += to_hex(std::string_view(reinterpret_cast<const char*>(&sum), 1));
    return framed;
}

}  // namespace fabricvp::gdb
