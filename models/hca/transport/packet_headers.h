// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hca/queues/queue_pair.h"
#include "hca/transport/management.h"
#include "network/packet.h"
#include "network/port.h"

namespace fabricvp::hca {

/// A packet on the path of a connected queue pair: route headers, P_Key, destination.
network::packet_ptr make_connected_packet(const queue_pair_attributes& a, const network::port& link,
                                          const port_attributes& port);
/// A datagram to an address, without sequence number.
network::packet_ptr make_datagram(const queue_pair_attributes& a, const datagram_address& to, const network::port& link,
                                  const port_attributes& port);
/// The port's GID at an index of its table.
network::gid gid_of(const port_attributes& port, unsigned index);
/// The global route header as receivers of datagrams find it before the payload, 40 bytes.
void write_grh(const network::packet& p, std::uint8_t* to);

}  // namespace fabricvp::hca
