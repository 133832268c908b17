/* SPDX-License-Identifier: Apache-2.0 */
/* Queues in which a work-group leaves requests for the network, for a thread that drives an RDMA adapter: a hart of the
 * command processor, or of the host. One producer and one consumer a queue. Plain C99.
 *
 * The producer writes an entry and then its status, with release. The consumer looks at the status of the next entry,
 * with acquire; performs what stands there; sets the status to what came of it, with release; and counts entries that
 * can be written again in `read_index`. So three things are shared: entries, their status, read_index; each side keeps
 * an index of its own, and the producer a copy of read_index. The consumer publishes read_index after the status, and
 * only up to the first request that has not ended. A producer that begins takes it for its own index, so the one before
 * it, a kernel as a rule, waits at its end until read_index has come to its own.
 *
 * A consumer of many queues looks at the next entry of each, or at its doorbells: one line of memory with a bit for
 * each queue, which the producer sets behind the status. */
#ifndef FABRICVP_ABI_NETWORK_QUEUE_H
#define FABRICVP_ABI_NETWORK_QUEUE_H

#include <stdint.h>

enum network_operation {
    NETWORK_PUT = 1,         /* `bytes` from local to the peer's memory */
    NETWORK_PUT_DATA = 2,    /* up to NETWORK_MAX_INLINE bytes that stand in the entry itself */
    NETWORK_GET = 3,         /* `bytes` from the peer's memory to local */
    NETWORK_ADD = 4,         /* data[0] to 8 bytes of the peer's memory; what stood there comes to local */
    NETWORK_COMPARE_SWAP = 5 /* where data[1] stands there, data[0] takes its place; what stood there comes to local */
};
enum { NETWORK_MAX_INLINE = 8, NETWORK_MAX_BYTES = 0x7fffffff };

/* Of an entry. An error is NETWORK_FAILED | enum hca_syndrome, or NETWORK_FAILED alone if the request made no sense. */
enum network_status { NETWORK_DONE = 0, NETWORK_PENDING = 1, NETWORK_FAILED = 0x100 };

struct network_queue_entry {
    uint32_t status;
    uint16_t operation; /* enum network_operation */
    uint16_t peer;      /* index among those that the consumer knows */
    uint32_t bytes;
    uint32_t reserved;
    uint64_t local, remote; /* addresses in the regions of whose keys the consumer knows */
    uint64_t data[2];
    uint64_t reserved2[2];
};

enum { NETWORK_LINE = 64, NETWORK_MAX_LOG_ENTRIES = 6 };
struct network_queue {
    uint64_t read_index; /* entries ever that can be written again */
    uint64_t failed;     /* status of the first that failed, 0: none */
    uint64_t closed;     /* status of all that have none yet, once the service has ended; 0: it runs */
    uint64_t reserved[5];
    struct network_queue_entry entry[]; /* a power of two of them */
};
static inline uint64_t network_queue_bytes(unsigned log_entries) {
    return NETWORK_LINE + ((uint64_t)sizeof(struct network_queue_entry) << log_entries);
}

/* Of a consumer, whose first 64 queues have a bit each. It takes the bits by exchanging them for 0, and looks at a
 * queue once for its bit of `posted`. A producer that finds its bit of `posted` still set has written more than one
 * entry for it, and sets the one of `several`: the consumer then looks until it finds nothing. */
struct network_doorbells {
    uint64_t posted, several;
    uint64_t reserved[6];
};

/* The service descriptor of a consumer. Addresses are in its own space: a hart of the command processor has lanes'. */
enum { NETWORK_MAX_PEERS = 16, NETWORK_MAX_QUEUES = 64, NETWORK_MAX_LOG_SQ_SIZE = 6 };
struct network_peer {
    uint64_t qp, cq; /* struct rdma_qp and struct rdma_cq (gpu/verbs/queues.h); no pair: none of its peers */
    uint32_t lkey, rkey;
};
struct network_service_descriptor {
    uint32_t queues, log_entries, peers, reserved;
    uint64_t first_queue, pitch; /* of its queues, and from one to the next */
    struct network_peer peer[NETWORK_MAX_PEERS];
    uint64_t doorbells; /* struct network_doorbells; 0: it looks at all queues */
};

/* The network as a work-group needs it: the backend of its requests. Addresses are in the lanes' space. */
enum network_backend {
    NETWORK_BY_SERVICE_THREAD = 1, /* a thread that looks at the work-group's queue */
    NETWORK_GPU_NATIVE = 2         /* the work-group itself: it has queue pairs of its own */
};
struct network_progress { /* native, by peer: counters from one kernel to the next */
    uint32_t posted, retired, consumer, failed;
};
struct network_access {
    uint32_t backend, peers;
    uint32_t log_entries, doorbell;              /* served: its bit */
    uint64_t queue;                              /* served: struct network_queue */
    struct network_peer peer[NETWORK_MAX_PEERS]; /* native */
    struct network_progress progress[NETWORK_MAX_PEERS];
    uint64_t doorbells; /* served: struct network_doorbells; 0: its service looks at the queue */
};

/* In the command processor's memory, behind the tables of abi/gpu.h, by hart. The host writes `state` last, and then
 * GPU_HOST_REQUEST; the firmware answers in `taken`. */
#define GPU_SRAM_NETWORK 0x3c00
struct gpu_network {
    uint32_t state, acknowledged; /* enum gpu_queue_state */
    uint32_t address_space;
    uint32_t lock;       /* 1: L2 locks lines of queues while there are requests in them */
    uint64_t descriptor; /* where struct network_service_descriptor lies */
    uint64_t lines,
        lines_bytes; /* of the queues of all harts: physical address (abi/gpu_queue_lines.h); 0 bytes: L2 is not told */
    uint64_t reserved[3];
};

#endif
