/* SPDX-License-Identifier: Apache-2.0 */
/* Vendor packets by which a queue talks to devices between kernels, without the host: it writes words (a doorbell, and
 * the record beside it), and waits for words of memory and for completions of an RDMA adapter (as the stream operations
 * of GPUDirect Async do). They behave as all vendor packets (abi/aql.h): in order, with AQL_HEADER_BARRIER after all
 * kernels before them. What cannot be done stops the queue with a record. Plain C99. */
#ifndef FABRICVP_ABI_STREAM_PACKET_H
#define FABRICVP_ABI_STREAM_PACKET_H

#include <stdint.h>

/* `operation`, beside those of struct aql_vendor. */
enum { AQL_STREAM_WRITE = 16, AQL_STREAM_WAIT = 17, AQL_STREAM_COMPLETION = 18 };

/* Stores 8 bytes `count` times; each where others find it before the next one. */
enum { AQL_STREAM_MAX_WRITES = 3 };
struct aql_stream_write {
    uint16_t header;
    uint16_t operation;
    uint32_t count; /* 1 to AQL_STREAM_MAX_WRITES */
    struct {
        uint64_t to, value;
    } write[AQL_STREAM_MAX_WRITES];
    uint64_t completion_signal;
};

/* Waits until 8 bytes under `mask` are `value`, or have reached it: their difference, as a signed number, is not
 * negative. */
enum { AQL_STREAM_EQUAL = 0, AQL_STREAM_GEQ = 1 };
struct aql_stream_wait {
    uint16_t header;
    uint16_t operation;
    uint32_t condition;
    uint64_t at;
    uint64_t mask, value;
    uint64_t timeout; /* nanoseconds until the packet fails (GPU_FAULT_DEPENDENCY); 0: for ever */
    uint64_t reserved[2];
    uint64_t completion_signal;
};

/* Waits for a completion (abi/hca_queues.h), gives its entry back and says so in the completion queue's doorbell
 * record. A completion with an error stays in place, so that the program can read it, and the packet fails:
 * GPU_FAULT_DEPENDENCY with its address. */
struct aql_stream_completion {
    uint16_t header;
    uint16_t operation;
    uint32_t consumer; /* completions taken, this one included */
    uint64_t at;       /* the entry */
    uint64_t record;   /* 0: none */
    uint64_t reserved0;
    uint64_t timeout;
    uint64_t reserved1[2];
    uint64_t completion_signal;
};

#endif
