/* SPDX-License-Identifier: Apache-2.0 */
/* The network device of VIRTIO 1.2 (section 5.1), with one pair of queues. Little-endian throughout. */
#ifndef FABRICVP_ABI_VIRTIO_NET_H
#define FABRICVP_ABI_VIRTIO_NET_H

#include "abi/virtio.h"

enum { VIRTIO_NET_TYPE = 1, VIRTIO_NET_CLASS = 0x020000, VIRTIO_NET_ADDRESS_BYTES = 6 };

enum { VIRTIO_NET_RECEIVE_QUEUE = 0, VIRTIO_NET_TRANSMIT_QUEUE = 1, VIRTIO_NET_QUEUES = 2 };

#define VIRTIO_NET_F_MTU UINT64_C(0x8)
#define VIRTIO_NET_F_MAC UINT64_C(0x20)
#define VIRTIO_NET_F_STATUS UINT64_C(0x10000)

enum { VIRTIO_NET_LINK_UP = 0x1 };

/* Device configuration. */
struct virtio_net_config {
    uint8_t address[VIRTIO_NET_ADDRESS_BYTES];
    uint16_t status;
    uint16_t pairs; /* of queues, at most; with VIRTIO_NET_F_MQ */
    uint16_t mtu;
};

/* Before each frame, in both directions. */
struct virtio_net_header {
    uint8_t flags;
    uint8_t segmentation;
    uint16_t header_length;
    uint16_t segment_size;
    uint16_t checksum_start;
    uint16_t checksum_offset;
    uint16_t buffers; /* that a received frame takes */
};

#endif
