// SPDX-License-Identifier: Apache-2.0
#include "hca/transport/packet_headers.h"

#include <cstring>

#include "abi/hca_fields.h"

namespace fabricvp::hca {

network::gid gid_of(const port_attributes& port, unsigned index) {
    network::gid g{};
    hca_put64(g.data(), port.gid_prefix);
    hca_put64(g.data() + 8, index < port.guids.size() ? port.guids[index] : 0);
    return g;
}

network::packet_ptr make_connected_packet(const queue_pair_attributes& a, const network::port& link,
                                          const port_attributes& port) {
    auto p = network::make_packet();
    p->lrh.sl = static_cast<std::uint8_t>(a.service_level);
    p->lrh.dlid = a.remote_lid;
    p->lrh.slid = static_cast<std::uint16_t>(link.lid() | (a.source_bits & ((1u << link.lmc()) - 1)));
    p->bth.pkey = a.pkey_index < port.pkeys.size() ? port.pkeys[a.pkey_index] : 0;
    p->bth.destination_qp = a.remote;
    if (!a.global) return p;
    p->lrh.global = true;
    p->grh.traffic_class = static_cast<std::uint8_t>(a.path(HCA_PATH_TRAFFIC_CLASS));
    p->grh.flow_label = a.path(HCA_PATH_FLOW_LABEL);
    p->grh.hop_limit = static_cast<std::uint8_t>(a.path(HCA_PATH_HOP_LIMIT));
    p->grh.source = gid_of(port, a.path(HCA_PATH_GID_INDEX));
    std::memcpy(p->grh.destination.data(), a.context.data() + HCA_QPC_PATH + HCA_PATH_GID, 16);
    return p;
}

network::packet_ptr make_datagram(const queue_pair_attributes& a, const datagram_address& to, const network::port& link,
                                  const port_attributes& port) {
    auto p = network::make_packet();
    p->lrh.sl = to.service_level;
    p->lrh.dlid = to.lid;
    p->lrh.slid = static_cast<std::uint16_t>(link.lid() | (to.source_bits & ((1u << link.lmc()) - 1)));
    p->bth.pkey = a.pkey_index < port.pkeys.size() ? port.pkeys[a.pkey_index] : 0;
    p->bth.destination_qp = to.qpn;
    p->deth.qkey = to.qkey >> 31 ? a.qkey : to.qkey;
    p->deth.source_qp = a.number;
    if (!to.global) return p;
    p->lrh.global = true;
    p->grh.traffic_class = to.traffic_class;
    p->grh.flow_label = to.flow_label;
    p->grh.hop_limit = to.hop_limit;
    p->grh.source = gid_of(port, to.gid_index);
    p->grh.destination = to.gid;
    return p;
}

void write_grh(const network::packet& p, std::uint8_t* to) {
    hca_put32(to, std::uint32_t{p.grh.version} << 28 | std::uint32_t{p.grh.traffic_class} << 20 | p.grh.flow_label);
    hca_put32(to + 4, (p.packet_bytes() - 48) << 16 | std::uint32_t{p.grh.next_header} << 8 | p.grh.hop_limit);
    std::memcpy(to + 8, p.grh.source.data(), 16);
    std::memcpy(to + 24, p.grh.destination.data(), 16);
}

}  // namespace fabricvp::hca
