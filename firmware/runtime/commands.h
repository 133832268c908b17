/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FABRICVP_RUNTIME_COMMANDS_H
#define FABRICVP_RUNTIME_COMMANDS_H

#include "runtime/compute.h"

enum compute_kind {
    COMPUTE_KERNEL,
    COMPUTE_MARK,
    COMPUTE_WRITE,
    COMPUTE_READ,
    COMPUTE_COPY,
    COMPUTE_FILL,
    COMPUTE_CALL
};

struct compute_command {
    enum compute_kind kind;
    bool strict; /* fails where what it waited for has failed */
    struct compute_stream* stream;
    struct compute_event* event;
    struct compute_command* next;
    struct compute_event** after;
    unsigned after_count;
    uint64_t packet; /* once it has been submitted */
    bool notifies;   /* then: its signal asks for an interrupt */
    /* Of a kernel. */
    struct gpu_kernel kernel;
    struct gpu_grid grid;
    uint8_t* arguments;
    uint32_t argument_bytes;
    /* Of a transfer: addresses of devices, or of the host where it writes from there or reads to there. */
    uint64_t to, from, bytes;
    struct compute_memory *to_memory, *from_memory;
    uint8_t pattern[COMPUTE_MAX_PATTERN];
    uint64_t pattern_bytes;
    /* Of a call of the host. */
    void (*function)(void* context, unsigned fault);
    void* context;
};

/* The queue of a stream has stopped: what it has, and what waits behind that, is lost. */
void compute_fail(struct compute_stream* stream, unsigned fault);
/* Takes a command, to which memory for `after` was given, into its stream. */
struct compute_event* compute_add(struct compute_command* command, struct compute_after after);

#endif
