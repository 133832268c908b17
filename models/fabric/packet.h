// SPDX-License-Identifier: Apache-2.0
// Packets between GPUs (Fatima et al., ISCA 2025): a header of 4 bytes, an address of 8, data of up to a line
// of 64; links carry them in flits of 16 bytes, the last one padded. A packet is a pooled struct that carries its data,
// and travels over TLM-2.0 sockets with the protocol traits below. A request comes back as its own response.
#pragma once

#include <array>
#include <cstdint>

#include <tlm>

#include "base/large_pages.h"
#include "base/line_operation.h"
#include "base/parameters.h"
#include "base/pool.h"
#include "base/spans.h"
#include "base/time.h"
#include "link/phase.h"

namespace fabricvp::fabric {

inline constexpr unsigned line_bytes = 64;
inline constexpr unsigned max_terminals = 4096;
inline constexpr unsigned max_devices = 64;  ///< GPUs of a node; further terminals are generators
inline constexpr unsigned max_switch_ports = 255;

/// The six classes of packets.
enum class packet_class : std::uint8_t {
    read_request,
    write_request,
    page_table_request,
    read_response,
    write_response,
    page_table_response
};
inline constexpr unsigned packet_classes = 6;
const char* name_of(packet_class c);
constexpr bool is_response(packet_class c) { return c >= packet_class::read_response; }
/// The class of the response.
constexpr packet_class response_to(packet_class c) {
    return is_response(c) ? c : static_cast<packet_class>(static_cast<unsigned>(c) + 3);
}

/// Virtual channels, each with buffers and credits of its own. Responses never wait for requests. Page-table packets go
/// by those of data unless packet_format::page_table_channels gives them their own.
enum class virtual_channel : std::uint8_t { request, response, page_table_request, page_table_response };
inline constexpr unsigned virtual_channels = 4, data_channels = 2;
constexpr bool is_data(virtual_channel c) { return c <= virtual_channel::response; }
/// \param separate page-table packets have channels of their own
constexpr virtual_channel channel_of(packet_class c, bool separate) {
    const bool walk = c == packet_class::page_table_request || c == packet_class::page_table_response;
    return static_cast<virtual_channel>((is_response(c) ? 1 : 0) + (separate && walk ? 2 : 0));
}

enum class access_status : std::uint8_t { ok, refused, poisoned, unreachable };

/// Sizes of what packets are made of.
struct packet_format {
    byte_size flit{16};
    byte_size header{4};
    byte_size address{8};
    byte_size crc{0};
    bool page_table_channels = false;
    void describe(parameter_visitor& v);
    /// Bytes of a flit that carry packets.
    std::uint32_t payload() const { return static_cast<std::uint32_t>(flit.bytes - crc.bytes); }
    /// Bytes of the flits that carry a packet of `bytes`.
    std::uint32_t wire_bytes(std::uint32_t bytes) const {
        return flits(bytes) * static_cast<std::uint32_t>(flit.bytes);
    }
    std::uint32_t flits(std::uint32_t bytes) const { return (bytes + payload() - 1) / payload(); }
};

/// What every block on the way looks at comes first, down to `due`: in one cache line with packet_cargo.
struct packet_transit {
    packet_class type = packet_class::read_request;
    access_status status = access_status::ok;
    virtual_channel vc = virtual_channel::request;  ///< follows from the type
    std::uint8_t route = 0;                         ///< in the switch it is in: the port by which it leaves
    std::uint16_t source = 0, destination = 0;      ///< terminals
    std::uint16_t bytes = 0;                        ///< header, address and data
    std::uint16_t flits = 0;
    std::uint16_t wire_bytes = 0;   ///< with the padding of the last flit
    std::uint8_t hops = 0;          ///< links crossed
    bool crossed_clusters = false;  ///< it has gone over a link between clusters
    ticks head = 0, tail = 0;       ///< on the link it is on: arrival of its first flit and of its last byte
    ticks due = 0;                  ///< when the block it is in may pass it on

    ticks injected_at = 0;           ///< when its access was handed to the fabric
    std::uint32_t tag = 0;           ///< the requester's own: the ID of the header
    bool succeeded = false;          ///< store_conditional, lock, unlock
    std::uint8_t valid_sectors = 0;  ///< read responses: sectors that are carried
    std::uint64_t epoch = 0;         ///< the requester's own: which of its lives between resets
};

/// All of a packet but its data. It goes in the class that is nearest to its `kind`: see set_request().
struct packet_fields : packet_transit, line_operation {};

struct packet;
using packet_ptr = pooled_ptr<packet>;

class stage_data;

struct packet_cargo {
    /// Not null: this is no packet of its own but what a stage sends over a link as one. The packet holds a reference.
    stage_data* carried = nullptr;
};

struct alignas(64) packet : pooled<packet>, packet_cargo, packet_fields, on_large_pages {
    alignas(16) std::array<std::uint8_t, line_bytes> data;
    span_trail spans;

    virtual_channel channel() const { return vc; }
    /// Class and size of a request by its `kind`. Plain reads and writes are read and write requests, walks' reads
    /// page-table requests. Load-reserved goes as a read; atomics and store-conditional as writes that carry their
    /// operands instead of a line: 8 bytes, 16 for compare and swap, a line where there are several. These come back as
    /// the sectors that hold the old values. Locks go as writes without data. \param data_bytes what atomics and
    /// store-conditional carry
    void set_request(const packet_format& f, bool page_table, std::uint32_t data_bytes);
    /// Turns it round: it becomes its response.
    void make_response(const packet_format& f);
    void set_size(const packet_format& f, std::uint32_t data_bytes, bool with_address);
    void set_bytes(const packet_format& f, std::uint32_t all_bytes);
    void set_type(const packet_format& f, packet_class c);

    void pass(const span_stage& stage, span_kind kind, ticks until) { spans.pass(stage, kind, until); }
    void recycle();
};

/// A packet from the pool, with default values.
packet_ptr make_packet();

using link_phase = link::phase;

struct link_protocol {
    using tlm_payload_type = packet;
    using tlm_phase_type = link_phase;
};

}  // namespace fabricvp::fabric
