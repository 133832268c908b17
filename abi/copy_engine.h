/* SPDX-License-Identifier: Apache-2.0 */
/* Copy engines: several DMA channels, each of which moves data along a ring of descriptors of its own while the others
 * do. One is a PCIe function by itself: the link takes a TLP of each busy channel in turn, BAR 0 holds registers and
 * MSI-X table, BAR 2 the engine's own memory. Others are part of a GPU (GPU_SDMA_REGISTERS of abi/gpu.h); what differs
 * there is said below. Little-endian throughout. */
#ifndef FABRICVP_ABI_COPY_ENGINE_H
#define FABRICVP_ABI_COPY_ENGINE_H

#include "abi/registers.h"

enum {
    COPY_ENGINE_VENDOR = 0xfab0,
    COPY_ENGINE_DEVICE = 0x1f00,
    COPY_ENGINE_CLASS = 0x120000, /* processing accelerator */
    COPY_ENGINE_BAR_REGISTERS = 0,
    COPY_ENGINE_BAR_MEMORY = 2,
    COPY_ENGINE_REGISTERS_SIZE = 0x4000,
    COPY_ENGINE_MSIX_TABLE = 0x2000,
    COPY_ENGINE_MAX_CHANNELS = 32,
    COPY_ENGINE_CHANNEL_STRIDE = 0x40 /* bytes from a channel's registers to those of the next */
};

/* Without a MSI-X table: three registers of the whole engine, then a block a channel. Offsets are those of channel
 * 0; only the blocks of the first COPY_ENGINE_CHANNELS channels exist. */
/* clang-format off */
#define COPY_ENGINE_REGISTERS(R)                                                                                       \
    R(COPY_ENGINE_CHANNELS, 0x00, 4, 1, 4)      /* read-only: number of channels */                                    \
    R(COPY_ENGINE_PENDING, 0x04, 4, 1, 4)       /* read-only: bit c is set while channel c has an interrupt cause */   \
    R(COPY_ENGINE_MEMORY_SIZE, 0x08, 8, 1, 8)   /* read-only: bytes behind BAR 2; GPUs: 0 */                           \
    R(COPY_ENGINE_CONTROL, 0x100, 4, 32, 0x40)                                                                         \
    R(COPY_ENGINE_STATUS, 0x104, 4, 32, 0x40)    /* read-only */                                                       \
    R(COPY_ENGINE_RING_BASE, 0x108, 8, 32, 0x40) /* bus address of the ring, 64-byte aligned; write while disabled */ \
    R(COPY_ENGINE_RING_SIZE, 0x110, 4, 32, 0x40) /* number of descriptors, a power of two from 2 to 32768 */           \
    R(COPY_ENGINE_DOORBELL, 0x114, 4, 32, 0x40)  /* count of descriptors ever posted */                                \
    R(COPY_ENGINE_COMPLETED, 0x118, 4, 32, 0x40) /* read-only: count of descriptors ever completed */                  \
    R(COPY_ENGINE_INTERRUPT, 0x11c, 4, 32, 0x40) /* causes, write 1 to clear; INTA while set without MSI-X */
/* clang-format on */

enum { COPY_ENGINE_REGISTERS(ABI_OFFSET) };

enum { COPY_ENGINE_CONTROL_ENABLE = 0x1 };
enum {
    COPY_ENGINE_STATUS_BUSY = 0x1,
    COPY_ENGINE_STATUS_FAILED =
        0x2 /* a descriptor could not be fetched, or the ring registers are wrong; disable to clear */
};
enum { COPY_ENGINE_INTERRUPT_DONE = 0x1, COPY_ENGINE_INTERRUPT_ERROR = 0x2 };

/* MSI-X: so many vectors a channel; channel c has VECTORS * c + these. GPUs: GPU_VECTOR_SDMA for all. */
enum { COPY_ENGINE_VECTOR_DONE = 0, COPY_ENGINE_VECTOR_ERROR = 1, COPY_ENGINE_VECTORS = 2 };

struct copy_engine_descriptor {
    /* Bus addresses; one inside the engine's own BAR 2 does not cross the link. GPUs: physical addresses as page tables
     * have them (abi/gpu_apertures.h; those of the host are bus addresses), or virtual ones. */
    uint64_t source, destination;
    uint32_t length; /* bytes */
    uint32_t flags;
    /* Written by the engine when the last byte has been handed to the link, or has arrived in a GPU's memory. */
    uint32_t status;
    uint32_t space; /* GPUs: address space of the virtual addresses; 0 otherwise */
};

enum { COPY_ENGINE_FLAG_INTERRUPT = 0x1 };
enum { COPY_ENGINE_FLAG_SOURCE_VIRTUAL = 0x2, COPY_ENGINE_FLAG_DESTINATION_VIRTUAL = 0x4 }; /* GPUs only */
enum { COPY_ENGINE_DONE = 0x1, COPY_ENGINE_READ_ERROR = 0x2 };
/* GPUs: with READ_ERROR, whichever side failed, the enum gpu_fault; what had been copied before the failure stays. */
#define COPY_ENGINE_FAULT(status) ((status) >> 8 & 0xff)

#endif
