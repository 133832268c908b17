/* SPDX-License-Identifier: Apache-2.0 */
/* The block device of VIRTIO 1.2 (section 5.2). Little-endian throughout. */
#ifndef FABRICVP_ABI_VIRTIO_BLK_H
#define FABRICVP_ABI_VIRTIO_BLK_H

#include "abi/virtio.h"

enum { VIRTIO_BLK_TYPE = 2, VIRTIO_BLK_CLASS = 0x010000, VIRTIO_BLK_SECTOR = 512, VIRTIO_BLK_ID_BYTES = 20 };

#define VIRTIO_BLK_F_SEG_MAX UINT64_C(0x4)
#define VIRTIO_BLK_F_RO UINT64_C(0x20)
#define VIRTIO_BLK_F_BLK_SIZE UINT64_C(0x40)
#define VIRTIO_BLK_F_FLUSH UINT64_C(0x200)
#define VIRTIO_BLK_F_MQ UINT64_C(0x1000)

/* Device configuration. */
struct virtio_blk_config {
    uint64_t capacity; /* sectors of 512 bytes */
    uint32_t size_max;
    uint32_t seg_max;
    uint16_t cylinders;
    uint8_t heads;
    uint8_t sectors;
    uint32_t blk_size;
    uint8_t physical_block_exponent;
    uint8_t alignment_offset;
    uint16_t min_io_size;
    uint32_t opt_io_size;
    uint8_t writeback;
    uint8_t unused;
    uint16_t num_queues;
};

/* A request: this, then data, then one byte of status. */
struct virtio_blk_request {
    uint32_t type;
    uint32_t reserved;
    uint64_t sector;
};

enum { VIRTIO_BLK_IN = 0, VIRTIO_BLK_OUT = 1, VIRTIO_BLK_FLUSH = 4, VIRTIO_BLK_GET_ID = 8 };
enum { VIRTIO_BLK_OK = 0, VIRTIO_BLK_IO_ERROR = 1, VIRTIO_BLK_UNSUPPORTED = 2 };

#endif
