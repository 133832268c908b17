/* SPDX-License-Identifier: Apache-2.0 */
/* What processes and the broker of GPUs say to each other: messages of a Unix socket (SOCK_SEQPACKET), each followed by
 * a reply. Both ends are of one build, which the first message makes sure of. */
#ifndef FABRICVP_LINUX_PROTOCOL_H
#define FABRICVP_LINUX_PROTOCOL_H

#include "drivers/gpu/gpu.h"

/* In the abstract namespace, so that it ends with the broker. */
#define BROKER_SOCKET "fabricvp-broker"
enum { BROKER_VERSION = 2, BROKER_MAX_RANGES = 64, HOST_PAGE = 2 << 20, HOST_MAX_PAGES = 512 };

enum broker_request {
    BROKER_OPEN,         /* value: BROKER_VERSION. -> struct broker_opened, with files */
    BROKER_HOST_PAGES,   /* value: huge pages behind each other. -> range 0: number of the first, physical address */
    BROKER_PAGES,        /* gpu, value: large pages, flag: behind each other. -> ranges: offsets in its memory, bytes */
    BROKER_RETURN_PAGES, /* gpu, ranges as above */
    BROKER_FREE_BYTES,   /* gpu -> value */
    BROKER_QUEUE,        /* gpu -> value: a queue */
    BROKER_RETURN_QUEUE, /* gpu, value: one that the command processor has given back */
    BROKER_STATUS,       /* -> messages of text, the last one empty; for programs that have not opened */
    BROKER_RESET         /* gpu; as above */
};

struct broker_range {
    uint64_t at, bytes;
};
struct broker_message {
    uint32_t kind; /* enum broker_request; of a reply: 0, or 1 if it cannot be */
    uint32_t gpu;
    uint32_t flag;
    uint32_t count; /* ranges that follow */
    uint64_t value;
    struct broker_range range[BROKER_MAX_RANGES];
};
static inline size_t broker_message_bytes(const struct broker_message* m) {
    return offsetof(struct broker_message, range) + m->count * sizeof m->range[0];
}

/* Files come in this order: huge pages, struct broker_shared, and BARs 0, 2 and 4 of each GPU. */
enum { BROKER_BARS = 3, BROKER_MAX_FILES = 2 + BROKER_BARS * MAX_GPUS };
struct broker_opened {
    uint32_t kind;
    uint32_t count; /* GPUs, in the order of the bus */
    uint32_t space; /* address space of the process, on all of them */
    uint32_t reserved;
    uint64_t root; /* offset of the root of its page tables in a GPU's memory */
    struct {
        uint32_t bus, device;
        uint32_t resets, reserved; /* of struct broker_shared, now */
        uint64_t bar[PCI_BARS];    /* bus addresses */
    } gpu[MAX_GPUS];
};

/* A page that all processes map. */
struct broker_shared {
    uint32_t copies;                        /* who has the copy engines: address space + 1, 0: none */
    uint32_t last[MAX_GPUS];                /* who has used a GPU's last, the same */
    uint32_t resets[MAX_GPUS];              /* of a GPU since the broker began */
    uint32_t timed_out[GPU_ADDRESS_SPACES]; /* kernels that the broker has ended */
    uint32_t has_interrupts;                /* of all GPUs: those who wait for a signal may sleep */
    uint32_t interrupts;                    /* taken, of any GPU: a futex, on which they sleep */
    uint16_t host_page[HOST_MAX_PAGES];     /* huge pages in the order of physical addresses: where in the file */
};
enum { BROKER_SHARED_BYTES = 4096 };

#endif
