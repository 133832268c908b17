/* SPDX-License-Identifier: Apache-2.0 */
/* Intra-kernel networking, by the backend that the options name: the command processor, harts of the host, or the
 * lanes. All else is the same. Options stand as `key=value` on the kernel command line of node 0. Lines that begin
 * with "# " have measured figures; all others depend on nothing but whether everything is right. */
#include "drivers/bootstrap/options.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "programs/compnet/echo.h"
#include "programs/compnet/jacobi.h"
#include "programs/compnet/load.h"
#include "programs/compnet/rate.h"
#include "programs/compnet/reduce.h"
#include "programs/compnet/slots.h"

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
    QUEUES,
    DOORBELLS,
    WAIT,
    CRASH,
    OPTIONS
};
enum { ECHO, JACOBI, REDUCE, RATE };
enum { SLEEP, POLL };
static const char* const wait_names[] = {"sleep", "poll", NULL};
/* Messages there and back; Jacobi's method; all-reduces; messages without responses. */
static const char* const work_names[] = {"echo", "jacobi", "reduce", "rate", NULL};
static struct option options[OPTIONS] = {
    [NODES] = {"nodes", 2, 2, NETWORK_MAX_PEERS},
    [WORK] = {"work", ECHO, .names = work_names},
    [BACKEND] = {"scheme", BACKEND_COMPNET, .names = backend_names}, /* hdn and cpu: with jacobi and reduce only */
    [THREADS] = {"threads", 1, 1, BACKEND_MAX_THREADS},              /* of a service */
    [GROUPS] = {"groups", 1, 1, NETWORK_MAX_QUEUES},                 /* work-groups */
    [ENTRIES] = {"log_entries", 4, 1, NETWORK_MAX_LOG_ENTRIES,
                 .old = "entries"},                       /* of a queue, a power of two: its logarithm */
    [MIN_BYTES] = {"min", 8, 8, 1 << 20, .old = "least"}, /* bytes of a message, by powers of two */
    [MAX_BYTES] = {"max", 64 << 10, 8, 1 << 20, .old = "most"},
    [ROUNDS] = {"rounds", 10, 1, 1000},                     /* of each size */
    [MESSAGES] = {"messages", 64, 1, 1 << 16},              /* of each work-group and size, without answers */
    [INLINE] = {"inline", 1, 0, 1},                         /* 1: 8 bytes travel in the queue's entry */
    [BAD_ADDRESS] = {"astray", 0, 0, 1, .is_hidden = true}, /* 1: node 0 puts where nothing is, and hears of it */
    [ROWS] = {"rows", 64, 1, 1 << 14},                      /* of each node's part of the grid */
    [COLUMNS] = {"columns", 64, 16, 1 << 14},
    [ITERATIONS] = {"iterations", 10, 1, 500},
    [CORES] = {"cores", 8, 1, 64}, /* of the CPU that compute */
    [DRIVER] = {"driver_us", 0, 0, 1000,
                .old = "driver"}, /* microseconds that a driver takes to launch a kernel, beyond what is simulated */
    [REFERENCE] = {"reference", 1, 0, 1},      /* 1: the CPUs solve as well, and must find the same */
    [BYTES] = {"bytes", 1 << 20, 4, 64 << 20}, /* of the vector of an all-reduce */
    [ALGORITHM] = {"algorithm", COLLECTIVE_RING, .names = reduce_algorithm_names, .old = "way"}, /* of an all-reduce */
    [LOCK] = {"lock", 0, 0, 1}, /* 1: the GPU's L2 locks lines of queues while there are requests in them */
    [LOAD] = {"load", 0, 0, LOAD_MAX_GROUPS}, /* work-groups beside them that read memory as fast as they can */
    [QUEUES] = {"queues", BACKEND_REQUESTS_IN_HOST, .names = backend_request_names}, /* of requests, with ghn */
    [DOORBELLS] = {"doorbells", 0, 0, 1}, /* 1: a bit for each queue says whether the command processor looks at it */
    [WAIT] = {"wait", SLEEP, .names = wait_names},   /* how the host's program waits for kernels */
    [CRASH] = {"crash", 0, 0, 1, .is_hidden = true}, /* 1: the command processor of node 0 traps while it serves */
};

static struct bootstrap bootstrap;
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
        usage_error("scheme=%s: work=echo takes compnet, ghn, gpu_native or gds", backend_name(kind));
    if (rate && kind > BACKEND_GPU_NATIVE)
        usage_error("scheme=%s: work=rate takes compnet, ghn or gpu_native", backend_name(kind));
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
                "with scheme=compnet and work=echo, reduce or rate: queues of work-groups in the GPU's memory");
    option_only(&options[CRASH], kind == BACKEND_COMPNET && (echo || rate),
                "with scheme=compnet and work=echo or rate");
    option_only(&options[QUEUES], kind == BACKEND_GHN, "with scheme=ghn: the command processor's lie there");
    option_only(&options[DOORBELLS], kind == BACKEND_COMPNET, "with scheme=compnet: harts that lanes' atomics reach");
    option_only(&options[WAIT], kind != BACKEND_CPU, "with kernels to wait for: scheme=cpu has none");
    option_only(&options[LOAD], echo, "with work=echo");
    option_only(&options[BAD_ADDRESS], echo, "with work=echo");
    option_multiple(&options[BYTES], 4, "whole floats");
    option_power(&options[MIN_BYTES]);
    option_power(&options[MAX_BYTES]);
    if (jacobi) jacobi_check(&of_jacobi, (unsigned)options[NODES].value);
}

static struct backend selected_backend(void) {
    return (struct backend){.kind = (enum backend_kind)options[BACKEND].value,
                            .bootstrap = &bootstrap,
                            .node = &node,
                            .threads = (unsigned)options[THREADS].value,
                            .groups = (unsigned)options[GROUPS].value,
                            .log_entries = (unsigned)options[ENTRIES].value,
                            .lock = options[LOCK].value,
                            .requests_in_gpu = options[QUEUES].value == BACKEND_REQUESTS_IN_GPU,
                            .rings = options[DOORBELLS].value};
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
    const struct backend base = selected_backend();
    return jacobi_run(&base, &queue, &o);
}

static bool reduce(void) {
    const struct reduce_options o = {options[BYTES].value, options[ROUNDS].value,
                                     (enum collective_algorithm)options[ALGORITHM].value, options[CORES].value,
                                     options[DRIVER].value};
    const struct backend base = selected_backend();
    return reduce_run(&base, &queue, &o);
}

int main(void) {
    program_begin(&bootstrap, options, OPTIONS, check_options);
    gpu_require(&node, &bootstrap.pci);
    gpu_print(&node);
    if (options[WAIT].value == SLEEP) gpu_use_interrupts(&node.gpu[0], PCI_MSIX);
    gpu_create_queue(&queue, &node, 0, 4, 0, 1); /* kernels whose work-groups wait for each other need room for all */
    static bool (*const works[])(void) = {[ECHO] = echo, [JACOBI] = jacobi, [REDUCE] = reduce, [RATE] = rate};
    return program_end(works[options[WORK].value]());
}
