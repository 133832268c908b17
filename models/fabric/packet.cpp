// SPDX-License-Identifier: Apache-2.0
#include "fabric/packet.h"

#include <utility>

namespace fabricvp::fabric {

const char* name_of(packet_class c) {
    static constexpr const char* names[] = {"read_request", "write_request", "page_table_request",
                                            "read_response", "write_response", "page_table_response"};
    return names[static_cast<unsigned>(c)];
}

const char* name_of(virtual_channel c) { return c == virtual_channel::request ? "request" : "response"; }

void packet_format::describe(parameter_visitor& v) {
    v.field("flit", flit, between{1, 256}, "what links carry at a time; the last flit of a packet is padded");
    v.field("header", header, between{1, 64}, "of every packet: type, destination, identifier");
    v.field("address", address, between{0, 64}, "of requests and page-table responses");
}

void packet::set_size(const packet_format& f, std::uint32_t data_bytes, bool with_address) {
    bytes = static_cast<std::uint16_t>(f.header.bytes + (with_address ? f.address.bytes : 0) + data_bytes);
    flits = static_cast<std::uint16_t>(f.flits(bytes));
    wire_bytes = static_cast<std::uint16_t>(f.wire_bytes(bytes));
}

void packet::set_request(const packet_format& f, bool page_table, std::uint32_t operands) {
    const bool reads = kind == access_kind::read || kind == access_kind::load_reserved;
    type = page_table ? packet_class::page_table_request : reads ? packet_class::read_request : packet_class::write_request;
    set_size(f, kind == access_kind::write ? line_bytes : operands, true);
}

void packet::turn(const packet_format& f) {
    type = response_to(type);
    std::swap(source, destination);
    switch (kind) {
        case access_kind::atomic:
        case access_kind::load_reserved: type = packet_class::read_response; break;  // they bring a value back
        default: break;
    }
    // A page-table response carries an entry, as long as an address.
    const bool entry = type == packet_class::page_table_response;
    set_size(f, type != packet_class::read_response || status != access_status::ok ? 0 : kind == access_kind::read ? line_bytes : 8, entry);
}

void packet::recycle() {
    static_cast<packet_fields&>(*this) = packet_fields{};
    spans.clear();
}

packet_ptr make_packet() {
    static pool<packet> packets;
    return packets.make();
}

}  // namespace fabricvp::fabric
