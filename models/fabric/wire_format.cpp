// SPDX-License-Identifier: Apache-2.0
#include "fabric/wire_format.h"

#include <array>
#include <cstring>

#include <boost/endian/conversion.hpp>

namespace fabricvp::fabric {

namespace {

using boost::endian::load_little_u64;
using boost::endian::store_little_u32;
using boost::endian::store_little_u64;

constexpr unsigned low_bits = line_bytes - 1;  // of an address: where in the line
constexpr unsigned one_sector = 1, some_sectors = 2, critical = 1;

constexpr unsigned code(wire_type t) { return static_cast<unsigned>(t); }
constexpr bool has_sectors(wire_type t) { return code(t) >= code(wire_type::sectors); }
constexpr unsigned sector_mask(wire_type t) { return code(t) - code(wire_type::sectors); }
constexpr bool has_address(wire_type t) {
    return code(t) >= code(wire_type::read_request) && code(t) <= code(wire_type::load_reserved);
}

/// Trim bits of a read. One sector: bit 0 and the sector's number where an address has it. What a sector cache wants
/// has a mask of sectors in bits 2–5, which the published format has not; all: nothing.
unsigned trim_bits(const packet& p) {
    const unsigned n = p.needed_sectors & 0xf;
    if (__builtin_popcount(n) == 1) return one_sector | static_cast<unsigned>(__builtin_ctz(n)) << 4;
    return p.sectored ? some_sectors | n << 2 : 0;
}

std::uint64_t address_of(wire_type t, const packet& p) {
    switch (t) {
        case wire_type::read_request: return p.line | trim_bits(p);
        case wire_type::write_line:
        case wire_type::write_bare: return p.line;
        case wire_type::page_table_request:
            return p.line | (p.offset & low_bits & ~7u) | (p.read_critical ? critical : 0);
        default: return p.line | (p.offset & low_bits);
    }
}

void restore_address(packet& p, wire_type t, std::uint64_t a) {
    const auto low = static_cast<unsigned>(a & low_bits);
    p.line = a & ~std::uint64_t{low_bits};
    if (t == wire_type::read_request)
        p.needed_sectors = static_cast<std::uint8_t>(low & one_sector     ? 1u << (low >> 4)
                                                     : low & some_sectors ? low >> 2
                                                                          : 0xfu);
    else if (t == wire_type::page_table_request) {
        p.offset = static_cast<std::uint8_t>(low & ~7u);
        p.read_critical = low & critical;
    } else
        p.offset = static_cast<std::uint8_t>(low);
}

}  // namespace

std::uint32_t wire_header::bits() const {
    return code(type) | static_cast<std::uint32_t>(next) << 5 | std::uint32_t{destination} << 7 |
           std::uint32_t{id} << 19;
}

wire_header wire_header::from(std::uint32_t bits) {
    return {static_cast<wire_type>(bits & 31), static_cast<follower>(bits >> 5 & 3),
            static_cast<std::uint16_t>(bits >> 7 & (destinations - 1)), static_cast<std::uint16_t>(bits >> 19)};
}

void wire_format::put(const wire_sub_header& h, std::uint8_t* to) const {
    const auto size_bits = sub_header == 2 ? 3u : 6u;
    const auto bits =
        static_cast<std::uint32_t>(h.next) | std::uint32_t{h.size} / 4 << 2 | std::uint32_t{h.id} << (2 + size_bits);
    for (unsigned i = 0; i < sub_header; ++i) to[i] = static_cast<std::uint8_t>(bits >> 8 * i);
}

bool wire_format::get(const std::uint8_t* from, wire_sub_header& h) const {
    const auto size_bits = sub_header == 2 ? 3u : 6u;
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < sub_header; ++i) bits |= std::uint32_t{from[i]} << 8 * i;
    h.next = static_cast<follower>(bits & 3);
    h.size = static_cast<std::uint8_t>((bits >> 2 & ((1u << size_bits) - 1)) * 4);
    const auto id = bits >> (2 + size_bits);
    h.id = static_cast<std::uint16_t>(id);
    return id < ids;
}

wire_type type_of(const packet& p) {
    switch (p.type) {
        case packet_class::read_request:
            return p.kind == access_kind::read ? wire_type::read_request : wire_type::load_reserved;
        case packet_class::page_table_request: return wire_type::page_table_request;
        case packet_class::write_request:
            return p.bytes == max_packet_bytes                     ? wire_type::write_line
                   : p.bytes == header_bytes + address_bytes + 16u ? wire_type::write_16
                   : p.bytes == header_bytes + address_bytes + 8u  ? wire_type::write_8
                                                                   : wire_type::write_bare;
        case packet_class::write_response: return wire_type::write_response;
        case packet_class::page_table_response:
            return p.read_critical ? wire_type::critical_page_table_response : wire_type::page_table_response;
        case packet_class::read_response: break;
    }
    if (p.bytes == header_bytes) return wire_type::sectors;
    return p.kind == access_kind::read || p.operands
               ? static_cast<wire_type>(code(wire_type::sectors) + (p.valid_sectors & 0xf))
               : wire_type::value_response;
}

unsigned length_of(wire_type t) {
    if (has_sectors(t)) return header_bytes + sector_bytes * static_cast<unsigned>(__builtin_popcount(sector_mask(t)));
    static constexpr std::uint8_t lengths[16] = {0, 12, 12, max_packet_bytes, 20, 28, 12, 12, 4, 12, 12, 12, 0,
                                                 0, 0,  0};
    return lengths[code(t)];
}

packet_class class_of(wire_type t) {
    switch (t) {
        case wire_type::read_request:
        case wire_type::load_reserved: return packet_class::read_request;
        case wire_type::page_table_request: return packet_class::page_table_request;
        case wire_type::write_line:
        case wire_type::write_8:
        case wire_type::write_16:
        case wire_type::write_bare: return packet_class::write_request;
        case wire_type::write_response: return packet_class::write_response;
        case wire_type::page_table_response:
        case wire_type::critical_page_table_response: return packet_class::page_table_response;
        default: return packet_class::read_response;
    }
}

void serialise(const packet& p, const wire_header& h, std::uint8_t* to) {
    store_little_u32(to, h.bits());
    to += header_bytes;
    const auto t = h.type;
    if (has_address(t)) {
        store_little_u64(to, address_of(t, p));
        to += address_bytes;
    }
    if (has_sectors(t)) {
        if (sector_mask(t) == 0xf) {
            std::memcpy(to, p.data.data(), line_bytes);
            return;
        }
        for (auto m = sector_mask(t); m; m &= m - 1, to += sector_bytes)
            std::memcpy(to, p.data.data() + sector_bytes * static_cast<unsigned>(__builtin_ctz(m)), sector_bytes);
        return;
    }
    switch (t) {
        case wire_type::write_line: std::memcpy(to, p.data.data(), line_bytes); break;
        case wire_type::write_16: store_little_u64(to + 8, p.compare); [[fallthrough]];
        case wire_type::write_8:
        case wire_type::value_response: store_little_u64(to, p.operand); break;
        case wire_type::page_table_response:
        case wire_type::critical_page_table_response:
            std::memcpy(to, p.data.data() + (p.offset & low_bits & ~7u), 8);
            break;
        default: break;
    }
}

bool address_makes_sense(wire_type t, const std::uint8_t* bytes) {
    if (!has_address(t)) return true;
    const auto low = static_cast<unsigned>(bytes[header_bytes] & low_bits);
    switch (t) {
        case wire_type::read_request:
            if (low & one_sector) return (low & 0xe) == 0;
            return low & some_sectors ? low >> 2 != 0 : low == 0;
        case wire_type::write_line:
        case wire_type::write_bare: return low == 0;
        case wire_type::page_table_request: return (low & 7 & ~critical) == 0;
        default: return true;
    }
}

void restore(packet& p, const packet_format& f, const wire_header& h, const std::uint8_t* bytes) {
    const auto t = h.type;
    p.set_type(f, class_of(t));
    p.destination = h.destination;
    p.set_bytes(f, length_of(t));
    bytes += header_bytes;
    if (has_address(t)) {
        restore_address(p, t, load_little_u64(bytes));
        bytes += address_bytes;
    }
    if (has_sectors(t)) {
        p.valid_sectors = static_cast<std::uint8_t>(sector_mask(t));
        if (p.valid_sectors == 0xf) {
            std::memcpy(p.data.data(), bytes, line_bytes);
            return;
        }
        p.data.fill(0);
        for (unsigned m = p.valid_sectors; m; m &= m - 1, bytes += sector_bytes)
            std::memcpy(p.data.data() + sector_bytes * static_cast<unsigned>(__builtin_ctz(m)), bytes, sector_bytes);
        return;
    }
    switch (t) {
        case wire_type::write_line: std::memcpy(p.data.data(), bytes, line_bytes); break;
        case wire_type::write_16: p.compare = load_little_u64(bytes + 8); [[fallthrough]];
        case wire_type::write_8:
        case wire_type::value_response: p.operand = load_little_u64(bytes); break;
        case wire_type::page_table_response:
        case wire_type::critical_page_table_response:
            p.read_critical = t == wire_type::critical_page_table_response;
            p.data.fill(0);
            std::memcpy(p.data.data() + (p.offset & low_bits & ~7u), bytes, 8);
            p.valid_sectors = static_cast<std::uint8_t>(1u << (p.offset & low_bits) / sector_bytes);
            break;
        default: break;
    }
}

bool flip(packet& p, const packet_format& f, std::size_t at, std::uint8_t bits) {
    if (at < header_bytes || f.header.bytes != header_bytes || f.address.bytes != address_bytes) return false;
    const wire_header h{type_of(p), follower::padding, p.destination, 0};
    std::array<std::uint8_t, max_packet_bytes> bytes{};
    serialise(p, h, bytes.data());
    bytes[at] ^= bits;
    if (!address_makes_sense(h.type, bytes.data())) return false;
    restore(p, f, h, bytes.data());
    return true;
}

}  // namespace fabricvp::fabric
