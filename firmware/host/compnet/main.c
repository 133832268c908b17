/* SPDX-License-Identifier: Apache-2.0 */
/* Networking from inside of kernels, by whoever the options say: the command processor, harts of the host, or the
 * lanes. All else is the same. Options stand as `key=number` on the kernel command line of node 0. Lines that begin
 * with "# " have measured figures; all others depend on nothing but whether everything is right. */
#include "host/compnet/echo.h"
#include "host/compnet/jacobi.h"
#include "host/compnet/load.h"
#include "host/compnet/rate.h"
#include "host/compnet/reduce.h"
#include "host/compnet/slots.h"
#include "host/console.h"
#include "host/machine.h"
#include "host/rdma/options.h"

enum {
    NODES,
    WORK,
    BACKEND,
    THREADS,
    GROUPS,
    ENTRIES,
    MIN_BYTES,
    MAX_BYTES,
    ROUNDS,
    MESSAGES,
    INLINE,
    BAD_ADDRESS,
    ROWS,
    COLUMNS,
    ITERATIONS,
    CORES,
    DRIVER,
    REFERENCE,
    BYTES,
    ALGORITHM,
    LOCK,
    LOAD,
    CRASH,
    OPTIONS
};
enum { ECHO, JACOBI, REDUCE, RATE };
static struct option options[OPTIONS] = {
    [NODES] = {"nodes", 2, 2, NETWORK_MAX_PEERS},
    [WORK] = {"work", ECHO, ECHO,
              RATE}, /* 0: messages there and back; 1: Jacobi's method; 2: all-reduces; 3: messages without answers */
    [BACKEND] = {"scheme", BACKEND_COMPNET, BACKEND_COMPNET,
                 BACKEND_GDS}, /* who performs: 0 the command processor, 1 harts of the host, 2 each work-group itself;
              5 the GPU's queue between kernels; of work 1 and 2 also 3 the host between kernels, 4 the CPUs alone */
    [THREADS] = {"threads", 1, 1, BACKEND_MAX_THREADS},     /* of a service */
    [GROUPS] = {"groups", 1, 1, NETWORK_MAX_QUEUES},        /* work-groups */
    [ENTRIES] = {"entries", 4, 1, NETWORK_MAX_LOG_ENTRIES}, /* of a queue, a power of two: its logarithm */
    [MIN_BYTES] = {"least", 8, 8, 1 << 20},                 /* bytes of a message, by powers of two */
    [MAX_BYTES] = {"most", 64 << 10, 8, 1 << 20},
    [ROUNDS] = {"rounds", 10, 1, 1000},        /* of each size */
    [MESSAGES] = {"messages", 64, 1, 1 << 16}, /* of each work-group and size, without answers */
    [INLINE] = {"inline", 1, 0, 1},            /* 1: 8 bytes travel in the queue's entry */
    [BAD_ADDRESS] = {"astray", 0, 0, 1},       /* 1: node 0 puts where nothing is, and hears of it */
    [ROWS] = {"rows", 64, 1, 1 << 14},         /* of each node's part of the grid */
    [COLUMNS] = {"columns", 64, 16, 1 << 14},
    [ITERATIONS] = {"iterations", 10, 1, 500},
    [CORES] = {"cores", 8, 1, 64}, /* of the CPU that compute */
    [DRIVER] = {"driver", 0, 0,
                1000}, /* microseconds that a driver takes to launch a kernel, beyond what is simulated */
    [REFERENCE] = {"reference", 1, 0, 1},      /* 1: the CPUs solve as well, and must find the same */
    [BYTES] = {"bytes", 1 << 20, 4, 64 << 20}, /* of the vector of an all-reduce */
    [ALGORITHM] = {"way", COLLECTIVE_RING, COLLECTIVE_RING, COLLECTIVE_TREE}, /* of an all-reduce: 0 a ring, 1 a tree */
    [LOCK] = {"lock", 0, 0, 1}, /* 1: the GPU's L2 locks lines of queues while there are requests in them */
    [LOAD] = {"load", 0, 0, LOAD_MAX_GROUPS}, /* work-groups beside them that read memory as fast as they can */
    [CRASH] = {"crash", 0, 0, 1},             /* 1: the command processor of node 0 stops serving */
};

static struct communicator comm;
static struct gpu_node node;
static struct gpu_queue_handle queue;

static struct jacobi_options jacobi_options(void) {
    return (struct jacobi_options){options[ROWS].value,     options[COLUMNS].value, options[ITERATIONS].value,
                                   options[GROUPS].value,   options[CORES].value,   options[DRIVER].value,
                                   options[REFERENCE].value};
}

static void check_options(void) {
    const enum backend_kind kind = (enum backend_kind)options[BACKEND].value;
    const struct jacobi_options of_jacobi = jacobi_options();
    const uint64_t work = options[WORK].value;
    const bool echo = work == ECHO, jacobi = work == JACOBI, rate = work == RATE,
               by_service_thread = kind == BACKEND_COMPNET || kind == BACKEND_GHN;
    if (echo && (kind == BACKEND_HDN || kind == BACKEND_CPU))
        usage_error("scheme=%u: messages there and back take 0, 1, 2 or 5", kind);
    if (rate && kind > BACKEND_GPU_NATIVE) usage_error("scheme=%u: messages without answers take 0, 1 or 2", kind);
    if (rate)
        option_max(&options[MESSAGES],
                   RATE_MAX_BYTES / slots_bytes((unsigned)options[GROUPS].value, options[MAX_BYTES].value),
                   "since all of them lie in memory");
    if (echo && kind == BACKEND_GDS)
        option_max(&options[GROUPS], 1 << (BACKEND_LOG_SQ_SIZE - 1), "since the queue pair has room for no more");
    if (work != REDUCE) option_multiple(&options[NODES], 2, "since neighbours have to do with each other");
    if (by_service_thread)
        option_max(&options[THREADS], jacobi ? JACOBI_QUEUES : options[GROUPS].value, "since each serves a queue");
    option_only(&options[LOCK], kind == BACKEND_COMPNET && !jacobi,
                "with scheme=0 and work=0, 2 or 3: queues of work-groups in the GPU's memory");
    option_only(&options[CRASH], kind == BACKEND_COMPNET && (echo || rate), "with scheme=0 and work=0 or 3");
    option_only(&options[LOAD], echo, "with work=0");
    option_only(&options[BAD_ADDRESS], echo, "with work=0");
    option_multiple(&options[BYTES], 4, "whole floats");
    option_power(&options[MIN_BYTES]);
    option_power(&options[MAX_BYTES]);
    if (jacobi) jacobi_check(&of_jacobi, (unsigned)options[NODES].value);
}

static struct backend selected_backend(void) {
    return (struct backend){.kind = (enum backend_kind)options[BACKEND].value,
                            .comm = &comm,
                            .node = &node,
                            .threads = (unsigned)options[THREADS].value,
                            .groups = (unsigned)options[GROUPS].value,
                            .log_entries = (unsigned)options[ENTRIES].value,
                            .lock = options[LOCK].value};
}

static bool echo(void) {
    const struct echo_options o = {options[MIN_BYTES].value, options[MAX_BYTES].value,   options[ROUNDS].value,
                                   options[INLINE].value,    options[BAD_ADDRESS].value, options[CRASH].value};
    struct backend backend = selected_backend();
    backend.payload_bytes = echo_payload(backend.groups, &o);
    backend_open(&backend);
    struct load load;
    load_begin(&load, &node, (unsigned)options[LOAD].value);
    bool ok = echo_run(&backend, &queue, &o);
    ok = load_end(&load) && ok;
    backend_close(&backend);
    return ok;
}

static bool rate(void) {
    const struct rate_options o = {options[MIN_BYTES].value, options[MAX_BYTES].value, options[MESSAGES].value,
                                   options[INLINE].value, options[CRASH].value};
    struct backend backend = selected_backend();
    backend.payload_bytes = rate_payload(backend.groups, &o);
    backend_open(&backend);
    const bool ok = rate_run(&backend, &queue, &o);
    backend_close(&backend);
    return ok;
}

static bool jacobi(void) {
    const struct jacobi_options o = jacobi_options();
    return jacobi_run(&comm, &node, &queue, (enum backend_kind)options[BACKEND].value, (unsigned)options[THREADS].value,
                      &o);
}

static bool reduce(void) {
    const struct reduce_options o = {options[BYTES].value, options[ROUNDS].value,
                                     (enum collective_algorithm)options[ALGORITHM].value, options[CORES].value,
                                     options[DRIVER].value};
    const struct backend like = selected_backend();
    return reduce_run(&like, &queue, &o);
}

int main(void) {
    program_begin(&comm, options, OPTIONS, check_options);
    gpu_require(&node, &comm.pci);
    gpu_print(&node);
    gpu_create_queue(&queue, &node, 0, 4, 0, 1); /* kernels whose work-groups wait for each other need room for all */
    static bool (*const works[])(void) = {[ECHO] = echo, [JACOBI] = jacobi, [REDUCE] = reduce, [RATE] = rate};
    return program_end(works[options[WORK].value]());
}
