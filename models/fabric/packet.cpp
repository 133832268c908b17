// SPDX-License-Identifier: Apache-2.0
#include "fabric/packet.h"

#include <utility>

#include "fabric/stage_data.h"

namespace fabricvp::fabric {

const char* name_of(packet_class c) {
    static constexpr const char* names[] = {"read_request",  "write_request",  "page_table_request",
                                            "read_response", "write_response", "page_table_response"};
    return names[static_cast<unsigned>(c)];
}

void packet_format::describe(parameter_visitor& v) {
    v.field("flit", flit, between{1, 256}, "what links carry at a time; the last flit of a packet is padded");
    v.field("header", header, between{1, 64}, "of every packet: type, destination, identifier");
    v.field("address", address, between{0, 64}, "of requests and page-table responses");
    v.field("page_table_channels", page_table_channels,
            "page-table packets have virtual channels with buffers and credits of their own from GPU to GPU");
    v.field("crc", crc, between{0, 64}, "bytes of every flit that a CRC takes; 0 B: it has wires of its own");
}

void packet::set_size(const packet_format& f, std::uint32_t data_bytes, bool with_address) {
    set_bytes(f, static_cast<std::uint32_t>(f.header.bytes + (with_address ? f.address.bytes : 0)) + data_bytes);
}

void packet::set_bytes(const packet_format& f, std::uint32_t all_bytes) {
    bytes = static_cast<std::uint16_t>(all_bytes);
    flits = static_cast<std::uint16_t>(f.flits(bytes));
    wire_bytes = static_cast<std::uint16_t>(f.wire_bytes(bytes));
}

void packet::set_type(const packet_format& f, packet_class c) {
    type = c;
    vc = channel_of(c, f.page_table_channels);
}

void packet::set_request(const packet_format& f, bool page_table, std::uint32_t operand_bytes) {
    const bool reads = kind == access_kind::read || kind == access_kind::load_reserved;
    set_type(f, page_table ? packet_class::page_table_request
                : reads    ? packet_class::read_request
                           : packet_class::write_request);
    set_size(f, kind == access_kind::write ? line_bytes : operand_bytes, true);
}

void packet::make_response(const packet_format& f) {
    auto response_class = response_to(type);
    std::swap(source, destination);
    switch (kind) {
        case access_kind::atomic:
        case access_kind::load_reserved:
            response_class = packet_class::read_response;
            break;  // they bring a value back
        default: break;
    }
    set_type(f, response_class);
    // A page-table response carries an entry, as long as an address.
    const bool entry = type == packet_class::page_table_response;
    std::uint32_t data_bytes = 0;
    if (type == packet_class::read_response && status == access_status::ok)
        data_bytes = kind == access_kind::read || operands
                         ? 16 * static_cast<std::uint32_t>(__builtin_popcount(valid_sectors & 0xf))
                         : 8;
    set_size(f, data_bytes, entry);
}

void packet::recycle() {
    static_cast<packet_fields&>(*this) = {};
    spans.clear();
    if (carried) std::exchange(carried, nullptr)->release();
}

packet_ptr make_packet() {
    static pool<packet> packets;
    return packets.make();
}

}  // namespace fabricvp::fabric
