/* SPDX-License-Identifier: Apache-2.0 */
/* Networking from inside of kernels, by whoever the options say: the command processor, harts of the host, or the lanes. All else
 * is the same. Options stand as `key=number` on the kernel command line of node 0. Lines that begin with "# "
 * have measured figures; all others depend on nothing but whether everything is right. */
#include "host/compnet/echo.h"
#include "host/compnet/jacobi.h"
#include "host/compnet/load.h"
#include "host/compnet/reduce.h"
#include "host/console.h"
#include "host/csr.h"
#include "host/machine.h"
#include "host/rdma/options.h"

enum { NODES, WORK, SCHEME, THREADS, GROUPS, ENTRIES, LEAST, MOST, ROUNDS, INLINE, ASTRAY, ROWS, COLUMNS, ITERATIONS, CORES, DRIVER, REFERENCE, BYTES, WAY, LOCK, LOAD, CRASH, OPTIONS };
enum { ECHO, JACOBI, REDUCE };
static struct option options[OPTIONS] = {
    [NODES] = {"nodes", 2, 2, NETWORK_MOST_PEERS},
    [WORK] = {"work", ECHO, ECHO, REDUCE},              /* 0: messages there and back; 1: Jacobi's method; 2: all-reduces */
    [SCHEME] = {"scheme", SCHEME_PROCESSOR, SCHEME_PROCESSOR, SCHEME_ASYNC}, /* who performs: 0 the command processor, 1 harts of the host, 2 each work-group itself;
                                                           of work 1 and 2 also 3 the host between kernels, 4 the CPUs alone; of work 0 and 1 also 5 the GPU's queue between kernels */
    [THREADS] = {"threads", 1, 1, SCHEME_MOST_THREADS}, /* of a service */
    [GROUPS] = {"groups", 1, 1, NETWORK_MOST_QUEUES},   /* work-groups */
    [ENTRIES] = {"entries", 4, 1, NETWORK_MOST_LOG_ENTRIES}, /* of a queue, a power of two: its logarithm */
    [LEAST] = {"least", 8, 8, 1 << 20},                 /* bytes of a message, by powers of two */
    [MOST] = {"most", 64 << 10, 8, 1 << 20},
    [ROUNDS] = {"rounds", 10, 1, 1000},                 /* of each size */
    [INLINE] = {"inline", 1, 0, 1},                     /* 1: 8 bytes travel in the queue's entry */
    [ASTRAY] = {"astray", 0, 0, 1},                     /* 1: node 0 puts where nothing is, and hears of it */
    [ROWS] = {"rows", 64, 1, 1 << 14},                  /* of each node's part of the grid */
    [COLUMNS] = {"columns", 64, 16, 1 << 14},
    [ITERATIONS] = {"iterations", 10, 1, 500},
    [CORES] = {"cores", 8, 1, 64},                      /* of the CPU that compute */
    [DRIVER] = {"driver", 0, 0, 1000},                  /* microseconds that a driver takes to launch a kernel, beyond what is simulated */
    [REFERENCE] = {"reference", 1, 0, 1},               /* 1: the CPUs solve as well, and must find the same */
    [BYTES] = {"bytes", 1 << 20, 4, 64 << 20},          /* of the vector of an all-reduce */
    [WAY] = {"way", COLLECTIVE_RING, COLLECTIVE_RING, COLLECTIVE_TREE}, /* of an all-reduce: 0 a ring, 1 a tree */
    [LOCK] = {"lock", 0, 0, 1},                         /* 1: the GPU's L2 locks lines of queues while there are requests in them */
    [LOAD] = {"load", 0, 0, LOAD_MOST},                 /* work-groups beside them that read memory as fast as they can */
    [CRASH] = {"crash", 0, 0, 1},                       /* 1: the command processor of node 0 is spoilt while it serves */
};

static struct party party;
static struct gpu_node node;
static struct gpu_queue_handle queue;

static void check_options(void) {
    const enum scheme_kind kind = (enum scheme_kind)options[SCHEME].value;
    if (options[WORK].value == ECHO && (kind == SCHEME_DRIVEN || kind == SCHEME_CPU)) panic("scheme=%u: messages there and back take 0, 1, 2 or 5", kind);
    if (options[WORK].value == REDUCE && kind == SCHEME_ASYNC) panic("scheme=%u: all-reduces take 0 to 4", kind);
    if (options[WORK].value == ECHO && kind == SCHEME_ASYNC && options[GROUPS].value > 1 << (SCHEME_LOG_SENDS - 1)) panic("scheme=%u: groups=%lu: %u at most", kind, options[GROUPS].value, 1 << (SCHEME_LOG_SENDS - 1));
    if (options[WORK].value != REDUCE && options[NODES].value % 2) panic("nodes=%lu: an even number", options[NODES].value);
    if (options[BYTES].value % 4) panic("bytes=%lu: whole floats, a multiple of 4", options[BYTES].value);
    for (unsigned i = LEAST; i <= MOST; ++i)
        if (options[i].value & (options[i].value - 1)) panic("%s=%lu: a power of two", options[i].key, options[i].value);
}

static struct scheme chosen(void) {
    return (struct scheme){.kind = (enum scheme_kind)options[SCHEME].value, .party = &party, .node = &node, .threads = (unsigned)options[THREADS].value,
                           .groups = (unsigned)options[GROUPS].value, .log_entries = (unsigned)options[ENTRIES].value, .lock = options[LOCK].value};
}

static bool echo(void) {
    const struct echo_options o = {options[LEAST].value, options[MOST].value, options[ROUNDS].value, options[INLINE].value, options[ASTRAY].value, options[CRASH].value};
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

static bool jacobi(void) {
    const struct jacobi_options o = {options[ROWS].value, options[COLUMNS].value, options[ITERATIONS].value, options[GROUPS].value, options[CORES].value, options[DRIVER].value, options[REFERENCE].value};
    return jacobi_run(&party, &node, &queue, (enum scheme_kind)options[SCHEME].value, (unsigned)options[THREADS].value, &o);
}

static bool reduce(void) {
    const struct reduce_options o = {options[BYTES].value, options[ROUNDS].value, (enum collective_way)options[WAY].value, options[CORES].value, options[DRIVER].value};
    const struct scheme like = chosen();
    return reduce_run(&like, &queue, &o);
}

int main(void) {
    csr_set(mstatus, MSTATUS_FLOATS);
    options_read(options, OPTIONS);
    party_join(&party, (unsigned)options[NODES].value);
    options_share(&party, options, OPTIONS);
    check_options();
    if (!gpu_start(&node, &party.pci) || !node.count) panic("there is no GPU");
    gpu_print(&node);
    gpu_create_queue(&queue, &node, 0, 4, 0, 1); /* kernels whose work-groups wait for each other need room for all */
    const bool right = options[WORK].value == ECHO ? echo() : options[WORK].value == JACOBI ? jacobi() : reduce();
    console_printf("%s\n", right ? "all ok, powering off" : "FAILED");
    return right ? 0 : 1;
}
