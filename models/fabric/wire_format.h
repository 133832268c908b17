// SPDX-License-Identifier: Apache-2.0
// What a packet is on a link, byte by byte, for stages that send bytes and for bits that flip. All numbers are
// little-endian.
//
//   header, 4 bytes:  bits 0–4 type, 5–6 what follows, 7–18 destination, 19–31 ID
//   address, 8 bytes: of requests. Lines have 64 bytes, so its low six bits are free: for reads the trim bits, for
//   atomics,
//                     load-reserved and page tables the offset in the line; page tables' offsets are multiples of 8, so
//                     bit 0 says that the walk is on the read critical path
//   data:             a line, operands, sectors, an entry of a page table
//   sub-header:       before the end of a packet that rides ahead of the rest: what follows, size in units of 4 bytes,
//   ID
//
// "What follows" says whether the next byte behind this packet begins another packet, the end of one, or padding: the
// unused encodings of the published type field that mark a stitched flit. IDs are the link's own, given in turns. Of
// what the published format does not have, the packet itself is the side record.
#pragma once

#include <array>
#include <cstdint>

#include "fabric/packet.h"

namespace fabricvp::fabric {

inline constexpr unsigned header_bytes = 4, address_bytes = 8, sector_bytes = 16;
inline constexpr unsigned max_packet_bytes = header_bytes + address_bytes + line_bytes;
inline constexpr unsigned destinations = 1 << 12, ids = 1 << 13;

/// Type field of the header. Zero is none; so is what lies between the last and `sectors`.
enum class wire_type : std::uint8_t {
    none = 0,
    read_request = 1,
    page_table_request = 2,
    write_line = 3,  ///< also atomics with several operands, which stand where they belong
    write_8 = 4,     ///< atomics, store-conditional: with 8 bytes of operands
    write_16 = 5,    ///< compare and swap
    write_bare = 6,  ///< locks
    load_reserved = 7,
    write_response = 8,
    page_table_response = 9,
    value_response = 10,                ///< the old value of an atomic
    critical_page_table_response = 11,  ///< of a walk on the read critical path
    sectors = 16  ///< + a mask: read response with those sectors of 16 bytes; without any if the read failed. Also
                  ///< old values of several operands
};

/// What lies behind a packet in its last flit.
enum class follower : std::uint8_t { padding = 0, packet = 1, tail = 2 };

struct wire_header {
    wire_type type;
    follower next;
    std::uint16_t destination;
    std::uint16_t id;
    std::uint32_t bits() const;
    static wire_header from(std::uint32_t bits);
};

struct wire_sub_header {
    follower next;
    std::uint8_t size;  ///< bytes that follow, a multiple of 4
    std::uint16_t id;
};

/// Sizes that both ends of a link have agreed on.
struct wire_format {
    std::uint16_t flit = 16;      ///< bytes of a flit that carry packets
    std::uint8_t sub_header = 4;  ///< bytes, 2 … 4

    /// Largest ID, and longest end of a packet, that a sub-header can name.
    unsigned max_tail_id() const { return sub_header == 2 ? (1u << 11) - 1 : ids - 1; }
    unsigned max_tail_bytes() const { return sub_header == 2 ? 4 * 7 : 4 * 63; }
    void put(const wire_sub_header& h, std::uint8_t* to) const;
    /// \returns false if bits are set that mean nothing
    bool get(const std::uint8_t* from, wire_sub_header& h) const;
};

/// Type of a packet as it is now; its class, kind and size say which.
wire_type type_of(const packet& p);
/// Bytes of a packet on the wire, 0 for what is no type.
unsigned length_of(wire_type t);
packet_class class_of(wire_type t);

/// Writes all `p.bytes` bytes.
void serialise(const packet& p, const wire_header& h, std::uint8_t* to);
/// Whether the address (if the type has one) has only bits set that mean something.
bool address_makes_sense(wire_type t, const std::uint8_t* bytes);
/// Restores class, destination, size, address, trim bits and data of a packet from its bytes, which must make sense.
/// Bytes of the line that were not carried are zero.
void restore(packet& p, const packet_format& f, const wire_header& h, const std::uint8_t* bytes);

/// What becomes of a packet that goes alone when bits of byte `at` are wrong. \returns false if that is an error: its
/// header does not fit the rest, or its address means nothing, or the format's header and address are not as long as
/// these
bool flip(packet& p, const packet_format& f, std::size_t at, std::uint8_t bits);

}  // namespace fabricvp::fabric
