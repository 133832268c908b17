// SPDX-License-Identifier: Apache-2.0
// What leaves by ports, as a capture file: pcap with nanoseconds and link type 197 (LINKTYPE_ERF), each packet an ERF
// record of type 21 (InfiniBand) that holds LRH to VCRC, so that Wireshark reads it. Or as a table of header fields,
// one line a packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "network/port.h"

namespace fabricvp::network {

/// Takes bytes of a file, one after the other.
using file_sink = std::function<void(const void* bytes, std::size_t size)>;

class packet_capture final : public packet_tap {
public:
    explicit packet_capture(file_sink to);
    void packet_sent(const port& by, const packet& p, ticks begin) override;
    std::uint64_t packets() const { return m_packets; }

private:
    const file_sink m_to;
    std::uint64_t m_packets = 0;
};

/// Columns, separated by commas: time_ps, port, lid numbers, … as in `heading`. Numbers are decimal; what a packet does
/// not have is empty.
class packet_table final : public packet_tap {
public:
    static const char* const heading;
    explicit packet_table(file_sink to);
    void packet_sent(const port& by, const packet& p, ticks begin) override;

private:
    const file_sink m_to;
};

}  // namespace fabricvp::network
