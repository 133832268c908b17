/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual I/O Device (VIRTIO) Version 1.2: what all devices share, over PCI (section 4.1), with split virtqueues (2.7).
 * Little-endian throughout. */
#ifndef FABRICVP_ABI_VIRTIO_H
#define FABRICVP_ABI_VIRTIO_H

#include "abi/registers.h"

enum { VIRTIO_VENDOR = 0x1af4, VIRTIO_DEVICE_BASE = 0x1040 /* + device type */ };

/* cfg_type of the vendor-specific capabilities. */
enum {
    VIRTIO_CAP_COMMON = 1,
    VIRTIO_CAP_NOTIFY = 2,
    VIRTIO_CAP_ISR = 3,
    VIRTIO_CAP_DEVICE = 4,
    VIRTIO_CAP_PCI = 5 /* a window on the BARs in configuration space */
};

/* Common configuration. Registers from QUEUE_SIZE on are those of the queue selected. */
/* clang-format off */
#define VIRTIO_COMMON_REGISTERS(R)                                                         \
    R(VIRTIO_DEVICE_FEATURE_SELECT, 0x00, 4, 1, 4)                                         \
    R(VIRTIO_DEVICE_FEATURE, 0x04, 4, 1, 4)        /* read-only: 32 bits of the offered */ \
    R(VIRTIO_DRIVER_FEATURE_SELECT, 0x08, 4, 1, 4)                                         \
    R(VIRTIO_DRIVER_FEATURE, 0x0c, 4, 1, 4)        /* 32 bits of the accepted */           \
    R(VIRTIO_CONFIG_VECTOR, 0x10, 2, 1, 2)                                                 \
    R(VIRTIO_NUM_QUEUES, 0x12, 2, 1, 2)            /* read-only */                         \
    R(VIRTIO_DEVICE_STATUS, 0x14, 1, 1, 1)         /* writing 0 resets */                  \
    R(VIRTIO_CONFIG_GENERATION, 0x15, 1, 1, 1)     /* read-only */                         \
    R(VIRTIO_QUEUE_SELECT, 0x16, 2, 1, 2)                                                  \
    R(VIRTIO_QUEUE_SIZE, 0x18, 2, 1, 2)                                                    \
    R(VIRTIO_QUEUE_VECTOR, 0x1a, 2, 1, 2)                                                  \
    R(VIRTIO_QUEUE_ENABLE, 0x1c, 2, 1, 2)                                                  \
    R(VIRTIO_QUEUE_NOTIFY_OFF, 0x1e, 2, 1, 2)      /* read-only */                         \
    R(VIRTIO_QUEUE_DESCRIPTORS, 0x20, 8, 1, 8)                                             \
    R(VIRTIO_QUEUE_DRIVER, 0x28, 8, 1, 8)          /* available ring */                    \
    R(VIRTIO_QUEUE_DEVICE, 0x30, 8, 1, 8)          /* used ring */
/* clang-format on */

enum { VIRTIO_COMMON_REGISTERS(ABI_OFFSET) VIRTIO_COMMON_SIZE = 0x38 };

enum { VIRTIO_NO_VECTOR = 0xffff };

enum {
    VIRTIO_STATUS_ACKNOWLEDGE = 0x01,
    VIRTIO_STATUS_DRIVER = 0x02,
    VIRTIO_STATUS_DRIVER_OK = 0x04,
    VIRTIO_STATUS_FEATURES_OK = 0x08,
    VIRTIO_STATUS_NEEDS_RESET = 0x40,
    VIRTIO_STATUS_FAILED = 0x80
};

enum { VIRTIO_ISR_QUEUE = 0x1, VIRTIO_ISR_CONFIG = 0x2 };

#define VIRTIO_F_INDIRECT_DESC UINT64_C(0x10000000)
#define VIRTIO_F_VERSION_1 UINT64_C(0x100000000)

struct virtio_descriptor {
    uint64_t address;
    uint32_t length;
    uint16_t flags;
    uint16_t next;
};

enum { VIRTIO_DESC_NEXT = 0x1, VIRTIO_DESC_WRITE = 0x2, VIRTIO_DESC_INDIRECT = 0x4 };
enum { VIRTIO_AVAIL_NO_INTERRUPT = 0x1 };

struct virtio_used_element {
    uint32_t id;
    uint32_t length;
};

#endif
