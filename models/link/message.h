// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/buffer.h"
#include "base/pool.h"
#include "base/time.h"

namespace fabricvp::link {

enum class message_kind : std::uint8_t {
    packet,   ///< `when`: its head arrives
    credits,  ///< a buffer of the end that sends is free again
    signal    ///< of the protocol's own: port::tell_partner()
};

/// What one end of a link tells the other, where the two are in different simulations.
template <class Packet, unsigned Kinds>
struct message {
    message_kind what = message_kind::signal;
    std::uint8_t credit_class = 0;
    std::array<std::uint64_t, Kinds> credits{};
    std::uint32_t signal = 0;
    std::uint32_t end = 0;      ///< that is to hear it: a number by which the exchange knows it
    ticks sent = 0;             ///< now, where it is sent
    ticks when = 0;             ///< from when on it counts, where it is received
    pooled_ptr<Packet> packet;  ///< spans do not travel
};

/// Messages as bytes, for the same program on a machine of the same kind.
using message_bytes = std::vector<std::uint8_t>;

inline void append_bytes(message_bytes& to, const void* from, std::size_t bytes) {
    const auto* data = static_cast<const std::uint8_t*>(from);
    to.insert(to.end(), data, data + bytes);
}
/// \throws std::runtime_error if there are fewer
inline void check_left(const message_bytes& from, std::size_t at, std::size_t bytes) {
    if (from.size() - at < bytes) throw std::runtime_error("a message of a link ends in its middle");
}
inline void take_bytes(const message_bytes& from, std::size_t& at, void* to, std::size_t bytes) {
    check_left(from, at, bytes);
    if (bytes) std::memcpy(to, from.data() + at, bytes);
    at += bytes;
}
template <class T>
void append_value(message_bytes& to, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append_bytes(to, &value, sizeof value);
}
template <class T>
void take_value(const message_bytes& from, std::size_t& at, T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    take_bytes(from, at, &value, sizeof value);
}
inline void append_slice(message_bytes& to, const buffer_slice& s) {
    append_value(to, static_cast<std::uint32_t>(s.length));
    if (s.length) append_bytes(to, s.data(), s.length);
}
inline void take_slice(const message_bytes& from, std::size_t& at, buffer_slice& s) {
    std::uint32_t length = 0;
    take_value(from, at, length);
    check_left(from, at, length);
    if (length) s = allocate_slice(length);
    if (length) take_bytes(from, at, s.data(), length);
}

/// Puts a message behind others. The packet is put there by append_packet(message_bytes&, const Packet&), which stands
/// beside the packet.
template <class Packet, unsigned Kinds>
void append(message_bytes& to, const message<Packet, Kinds>& m) {
    append_value(to, m.what);
    append_value(to, m.credit_class);
    append_value(to, m.credits);
    append_value(to, m.signal);
    append_value(to, m.end);
    append_value(to, m.sent);
    append_value(to, m.when);
    if (m.what == message_kind::packet) append_packet(to, *m.packet);
}
/// Takes the next message out, beginning at `at`, which moves on. Its packet is taken by
/// take_packet(const message_bytes&, std::size_t&, pooled_ptr<Packet>&). \throws std::runtime_error if the bytes end in
/// the middle of one
template <class Packet, unsigned Kinds>
void take(const message_bytes& from, std::size_t& at, message<Packet, Kinds>& m) {
    take_value(from, at, m.what);
    take_value(from, at, m.credit_class);
    take_value(from, at, m.credits);
    take_value(from, at, m.signal);
    take_value(from, at, m.end);
    take_value(from, at, m.sent);
    take_value(from, at, m.when);
    if (m.what == message_kind::packet) take_packet(from, at, m.packet);
}

}  // namespace fabricvp::link
