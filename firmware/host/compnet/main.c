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
    SCHEME,
    THREADS,
    GROUPS,
    ENTRIES,
    LEAST,
    MOST,
    ROUNDS,
    MESSAGES,
    INLINE,
    ASTRAY,
    ROWS,
    COLUMNS,
    ITERATIONS,
    CORES,
    DRIVER,
    REFERENCE,
    BYTES,
    WAY,
    LOCK,
    LOAD,
    CRASH,
    OPTIONS
};
enum { ECHO, JACOBI, REDUCE, RATE };
static struct option options[OPTIONS] = {
    [NODES] = {"nodes", 2, 2, NETWORK_MOST_PEERS},
    [WORK] = {"work", ECHO, ECHO,
              RATE}, /* 0: messages there and back; 1: Jacobi's method; 2: all-reduces; 3: messages without answers */
    [SCHEME] = {"scheme", SCHEME_PROCESSOR, SCHEME_PROCESSOR,
                SCHEME_ASYNC}, /* who performs: 0 the command processor, 1 harts of the host, 2 each work-group itself;
             5 the GPU's queue between kernels; of work 1 and 2 also 3 the host between kernels, 4 the CPUs alone */
    [THREADS] = {"threads", 1, 1, SCHEME_MOST_THREADS},      /* of a service */
    [GROUPS] = {"groups", 1, 1, NETWORK_MOST_QUEUES},        /* work-groups */
    [ENTRIES] = {"entries", 4, 1, NETWORK_MOST_LOG_ENTRIES}, /* of a queue, a power of two: its logarithm */
    [LEAST] = {"least", 8, 8, 1 << 20},                      /* bytes of a message, by powers of two */
    [MOST] = {"most", 64 << 10, 8, 1 << 20},
    [ROUNDS] = {"rounds", 10, 1, 1000},        /* of each size */
    [MESSAGES] = {"messages", 64, 1, 1 << 16}, /* of each work-group and size, without answers */
    [INLINE] = {"inline", 1, 0, 1},            /* 1: 8 bytes travel in the queue's entry */
    [ASTRAY] = {"astray", 0, 0, 1},            /* 1: node 0 puts where nothing is, and hears of it */
    [ROWS] = {"rows", 64, 1, 1 << 14},         /* of each node's part of the grid */
    [COLUMNS] = {"columns", 64, 16, 1 << 14},
    [ITERATIONS] = {"iterations", 10, 1, 500},
    [CORES] = {"cores", 8, 1, 64}, /* of the CPU that compute */
    [DRIVER] = {"driver", 0, 0,
                1000}, /* microseconds that a driver takes to launch a kernel, beyond what is simulated */
    [REFERENCE] = {"reference", 1, 0, 1},      /* 1: the CPUs solve as well, and must find the same */
    [BYTES] = {"bytes", 1 << 20, 4, 64 << 20}, /* of the vector of an all-reduce */
    [WAY] = {"way", COLLECTIVE_RING, COLLECTIVE_RING, COLLECTIVE_TREE}, /* of an all-reduce: 0 a ring, 1 a tree */
    [LOCK] = {"lock", 0, 0, 1},         /* 1: the GPU's L2 locks lines of queues while there are requests in them */
    [LOAD] = {"load", 0, 0, LOAD_MOST}, /* work-groups beside them that read memory as fast as they can */
    [CRASH] = {"crash", 0, 0, 1},       /* 1: the command processor of node 0 is spoilt while it serves */
};

static struct party party;
static struct gpu_node node;
static struct gpu_queue_handle queue;

static struct jacobi_options jacobi_options(void) {
    return (struct jacobi_options){options[ROWS].value,     options[COLUMNS].value, options[ITERATIONS].value,
                                   options[GROUPS].value,   options[CORES].value,   options[DRIVER].value,
                                   options[REFERENCE].value};
}

static void check_options(void) {
    const enum scheme_kind kind = (enum scheme_kind)options[SCHEME].value;
    const struct jacobi_options of_jacobi = jacobi_options();
    const uint64_t work = options[WORK].value;
    const bool echo = work == ECHO, jacobi = work == JACOBI, rate = work == RATE,
               served = kind == SCHEME_PROCESSOR || kind == SCHEME_HOST;
    if (echo && (kind == SCHEME_DRIVEN || kind == SCHEME_CPU))
        refuse("scheme=%u: messages there and back take 0, 1, 2 or 5", kind);
    if (rate && kind > SCHEME_NATIVE) refuse("scheme=%u: messages without answers take 0, 1 or 2", kind);
    if (rate)
        option_at_most(&options[MESSAGES],
                       RATE_MOST_BYTES / slots_bytes((unsigned)options[GROUPS].value, options[MOST].value),
                       "since all of them lie in memory");
    if (echo && kind == SCHEME_ASYNC)
        option_at_most(&options[GROUPS], 1 << (SCHEME_LOG_SENDS - 1), "since the queue pair has room for no more");
    if (work != REDUCE) option_multiple(&options[NODES], 2, "since neighbours have to do with each other");
    if (served)
        option_at_most(&options[THREADS], jacobi ? JACOBI_QUEUES : options[GROUPS].value, "since each serves a queue");
    option_only(&options[LOCK], kind == SCHEME_PROCESSOR && !jacobi,
                "with scheme=0 and work=0, 2 or 3: queues of work-groups in the GPU's memory");
    option_only(&options[CRASH], kind == SCHEME_PROCESSOR && (echo || rate), "with scheme=0 and work=0 or 3");
    option_only(&options[LOAD], echo, "with work=0");
    option_only(&options[ASTRAY], echo, "with work=0");
    option_multiple(&options[BYTES], 4, "whole floats");
    option_power(&options[LEAST]);
    option_power(&options[MOST]);
    if (jacobi) jacobi_check(&of_jacobi, (unsigned)options[NODES].value);
}

static struct scheme chosen(void) {
    return (struct scheme){.kind = (enum scheme_kind)options[SCHEME].value,
                           .party = &party,
                           .node = &node,
                           .threads = (unsigned)options[THREADS].value,
                           .groups = (unsigned)options[GROUPS].value,
                           .log_entries = (unsigned)options[ENTRIES].value,
                           .lock = options[LOCK].value};
}

static bool echo(void) {
    const struct echo_options o = {options[LEAST].value,  options[MOST].value,   options[ROUNDS].value,
                                   options[INLINE].value, options[ASTRAY].value, options[CRASH].value};
    struct scheme scheme = chosen();
    scheme.payload_bytes = echo_payload(scheme.groups, &o);
    scheme_open(&scheme);
    struct load load;
    load_begin(&load, &node, (unsigned)options[LOAD].value);
    bool right = echo_run(&scheme, &queue, &o);
    right = load_end(&load) && right;
    scheme_close(&scheme);
    return right;
}

static bool rate(void) {
    const struct rate_options o = {options[LEAST].value, options[MOST].value, options[MESSAGES].value,
                                   options[INLINE].value, options[CRASH].value};
    struct scheme scheme = chosen();
    scheme.payload_bytes = rate_payload(scheme.groups, &o);
    scheme_open(&scheme);
    const bool right = rate_run(&scheme, &queue, &o);
    scheme_close(&scheme);
    return right;
}

static bool jacobi(void) {
    const struct jacobi_options o = jacobi_options();
    return jacobi_run(&party, &node, &queue, (enum scheme_kind)options[SCHEME].value, (unsigned)options[THREADS].value,
                      &o);
}

static bool reduce(void) {
    const struct reduce_options o = {options[BYTES].value, options[ROUNDS].value,
                                     (enum collective_way)options[WAY].value, options[CORES].value,
                                     options[DRIVER].value};
    const struct scheme like = chosen();
    return reduce_run(&like, &queue, &o);
}

int main(void) {
    program_begin(&party, options, OPTIONS, check_options);
    gpu_require(&node, &party.pci);
    gpu_print(&node);
    gpu_create_queue(&queue, &node, 0, 4, 0, 1); /* kernels whose work-groups wait for each other need room for all */
    static bool (*const works[])(void) = {[ECHO] = echo, [JACOBI] = jacobi, [REDUCE] = reduce, [RATE] = rate};
    return program_end(works[options[WORK].value]());
}
