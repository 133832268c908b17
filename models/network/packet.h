// SPDX-License-Identifier: Apache-2.0
// An InfiniBand packet: a pooled struct whose headers are plain fields and whose payload is a slice of a buffer. It
// travels over TLM-2.0 sockets with the protocol traits below. Wire bytes (wire.h) exist only for readers of
// them.
//
//     auto p = network::make_packet();
//     p->lrh.dlid = …; p->lrh.sl = …;
//     p->bth.opcode = opcode_of(transport::rc, operation::write_only);
//     p->reth = {address, rkey, bytes};
//     p->payload = slice;
//     if (port.has_room(port.lane_of(*p))) port.send(p);   // sizes, pad count and virtual lane follow from the rest
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <tlm>

#include "base/buffer.h"
#include "base/pool.h"
#include "base/spans.h"
#include "base/time.h"
#include "link/phase.h"
#include "network/opcode.h"

namespace fabricvp::network {

inline constexpr unsigned virtual_lanes = 16, management_lane = 15;
inline constexpr std::uint16_t permissive_lid = 0xffff, first_multicast_lid = 0xc000;
inline constexpr std::uint32_t multicast_qp = 0xffffff;
inline constexpr bool is_multicast(std::uint16_t lid) { return lid >= first_multicast_lid && lid != permissive_lid; }
inline constexpr std::uint32_t psn_mask = 0xffffff;

using gid = std::array<std::uint8_t, 16>;

/// Local route header. The packet length follows from the rest.
struct local_route_header {
    std::uint8_t vl = 0;  ///< on the link that it is on
    std::uint8_t version = 0;
    std::uint8_t sl = 0;
    bool global = false;  ///< LNH 3: a global route header follows; else LNH 2
    std::uint16_t dlid = 0, slid = 0;
};

struct global_route_header {
    std::uint8_t version = 6, traffic_class = 0, next_header = 0x1b, hop_limit = 0;
    std::uint32_t flow_label = 0;
    gid source{}, destination{};
};

struct base_transport_header {
    std::uint8_t opcode = 0;
    bool solicited = false;
    bool migrated = true;  ///< MigReq
    std::uint8_t pad = 0;  ///< bytes behind the payload
    std::uint8_t version = 0;
    std::uint16_t pkey = 0xffff;
    bool fecn = false, becn = false;
    std::uint32_t destination_qp = 0;
    bool ack_request = false;
    std::uint32_t psn = 0;
};

struct rdma_header {  ///< RETH
    std::uint64_t address = 0;
    std::uint32_t rkey = 0, length = 0;
};

struct acknowledge_header {  ///< AETH
    std::uint8_t syndrome = 0;
    std::uint32_t msn = 0;
};

struct atomic_header {  ///< AtomicETH
    std::uint64_t address = 0;
    std::uint32_t rkey = 0;
    std::uint64_t swap_or_add = 0, compare = 0;
};

struct datagram_header {  ///< DETH
    std::uint32_t qkey = 0, source_qp = 0;
};

/// What is wrong with the bits of a packet.
enum class corruption : std::uint8_t {
    none,
    link,    ///< its VCRC is wrong, or it ends with EBP: the end that has the whole of it drops it
    payload  ///< its ICRC is wrong: the channel adapter at the end drops it
};

/// What every block on the way looks at, in one cache line.
struct packet_transit {
    std::uint16_t wire_bytes = 0;  ///< LRH to VCRC, and the symbols around it
    std::uint16_t blocks = 0;      ///< credits that it takes, of 64 bytes
    std::uint8_t hops = 0;         ///< links crossed, 255 or more are 255
    std::uint8_t route = 0;        ///< in the switch it is in: the port by which it leaves
    corruption corrupted = corruption::none;
    bool bad_end = false;  ///< a port has seen that its VCRC is wrong, and passed it on, marked, before it knew
    local_route_header lrh;
    ticks head = 0, tail = 0;      ///< on the link it is on: arrival of the local route header, and of its last byte
    std::uint32_t link_epoch = 0;  ///< of the port whose buffer it is in
};

/// What stands behind the local route header.
struct packet_headers {
    base_transport_header bth;
    datagram_header deth;
    rdma_header reth;
    acknowledge_header aeth;
    std::uint32_t immediate = 0;         ///< as a number: the first byte on the wire is its highest
    std::uint32_t invalidated_rkey = 0;  ///< IETH
    atomic_header atomic;
    std::uint64_t atomic_original = 0;  ///< AtomicAckETH
    global_route_header grh;
};

struct packet_fields : packet_transit, packet_headers {};

struct packet : pooled<packet>, packet_fields {
    buffer_slice payload;  ///< without the pad bytes; shared, and so never changed
    span_trail spans;

    unsigned extensions() const { return extensions_of(bth.opcode); }
    /// Bytes of the headers, without CRCs.
    unsigned header_bytes() const { return 8 + (lrh.global ? 40 : 0) + 12 + extension_bytes(extensions()); }
    /// Bytes from LRH to ICRC: four times the packet length of the LRH.
    unsigned packet_bytes() const { return header_bytes() + static_cast<unsigned>(payload.length) + bth.pad + 4; }
    /// Sets pad count, `wire_bytes` and `blocks` by headers and payload; the first port that sends it does.
    void measure();

    void pass(const span_stage& stage, span_kind kind, ticks until) { spans.pass(stage, kind, until); }
    void recycle();
};

using packet_ptr = pooled_ptr<packet>;

/// A packet from the pool, with default values.
packet_ptr make_packet();
/// The same headers and the same payload bytes, which are not copied.
packet_ptr copy_packet(const packet& p);
/// The `link_epoch` of a copy, which is in no buffer.
inline constexpr std::uint32_t no_epoch = ~std::uint32_t{0};

struct link_protocol {
    using tlm_payload_type = packet;
    using tlm_phase_type = link::phase;
};

}  // namespace fabricvp::network
