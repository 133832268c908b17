/* SPDX-License-Identifier: Apache-2.0 */
/* Applications in a partitioned global address space of all nodes, by kernels that own their queue pairs or by harts,
 * from the same source. Options stand as `key=value` on the kernel command line of node 0, which tells the others.
 * Lines that begin with "# " have measured figures; all others depend on nothing but whether everything is right. */
#include "drivers/bootstrap/options.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "lib/traps.h"
#include "programs/pgas/workloads.h"

enum {
    NODES,
    WORK,
    HART,
    GROUPS,
    ITEMS,
    COUNT,
    ROUNDS,
    TREE,
    BUCKETS,
    UNIVERSE,
    DIVISOR,
    ACK_TIMEOUT,
    WAIT_TIMEOUT,
    REVOKE,
    OPTIONS
};
enum { REDUCE, HASH, SPMV, FIND };
/* All-reduce; hash table; sparse matrix; finding numbers. */
static const char* const work_names[] = {"reduce", "hash", "spmv", "find", NULL};
static const char* const algorithm_names[] = {"ring", "tree", NULL};
static struct option options[OPTIONS] = {
    [NODES] = {"nodes", 2, 2, PGAS_MAX_RANKS},
    [WORK] = {"work", REDUCE, .names = work_names},
    [HART] = {"hart", 0, 0, 1}, /* 1: the host's hart does it, not a kernel */
    [GROUPS] = {"groups", 2, 1,
                PGAS_MAX_CALLERS}, /* work-groups, each with queue pairs to all nodes (find: one for all) */
    [ITEMS] = {"items", 64, 1, PGAS_MAX_ITEMS}, /* work-items of each */
    [COUNT] = {"count", 1024, 1, 1 << 16},      /* of each work-group: floats, keys, numbers; of a node: rows */
    [ROUNDS] = {"rounds", 4, 1, 1000},          /* of an all-reduce, of products */
    [TREE] = {"algorithm", 0, .names = algorithm_names, .old = "tree"}, /* of an all-reduce */
    [BUCKETS] = {"buckets", 11, 4, 16},          /* of each node, a power of two: its logarithm */
    [UNIVERSE] = {"universe", 2000, 1, 1 << 18}, /* keys that there are */
    [DIVISOR] = {"divisor", 2, 1, 1 << 30},      /* whose multiples are found */
    [ACK_TIMEOUT] = {"ack_timeout", 8, 1, 20,
                     .old = "timeout"}, /* 4.096 µs << this until a request without answer is sent again */
    [WAIT_TIMEOUT] = {"wait_timeout_us", 50000, 1, 900000,
                      .old = "patience"}, /* microseconds of a wait until the kernel aborts */
    [REVOKE] =
        {"revoke", 0, 0,
         100000}, /* microseconds after which the last node takes its segment from the others; 0: never; of kernels */
};

static struct bootstrap bootstrap;
static struct gpu_node node;
static struct gpu_queue_handle queue;
static struct pgas_runtime runtime;

static void check_options(void) {
    if (options[WORK].value == HASH)
        option_max(&options[UNIVERSE], options[NODES].value << options[BUCKETS].value >> 1, "half of all buckets");
}

static bool work(void) {
    const uint32_t count = (uint32_t)options[COUNT].value, rounds = (uint32_t)options[ROUNDS].value;
    switch (options[WORK].value) {
        case HASH:
            return hash_run(&runtime, (unsigned)options[BUCKETS].value, count, (uint32_t)options[UNIVERSE].value);
        case SPMV: return spmv_run(&runtime, count, rounds);
        case FIND: return find_run(&runtime, count, (uint32_t)options[DIVISOR].value);
        default: return reduce_run(&runtime, count, rounds, options[TREE].value);
    }
}

int main(void) {
    program_begin(&bootstrap, options, OPTIONS, check_options);
    gpu_require(&node, &bootstrap.pci);
    gpu_print(&node);
    gpu_use_interrupts(&node.gpu[0], PCI_MSIX);
    interrupts_on();
    gpu_create_queue(&queue, &node, 0, 4, 0, 1); /* kernels whose work-groups wait for each other need room for all */
    runtime = (struct pgas_runtime){.bootstrap = &bootstrap,
                                    .node = &node,
                                    .queue = &queue,
                                    .lanes = !options[HART].value,
                                    .callers = options[HART].value ? 1 : (unsigned)options[GROUPS].value,
                                    .items = options[HART].value ? 1 : (unsigned)options[ITEMS].value,
                                    .ack_timeout = (unsigned)options[ACK_TIMEOUT].value,
                                    .timeout_us = options[WAIT_TIMEOUT].value,
                                    .revoke_us = options[REVOKE].value};
    const bool ok = work();
    console_printf("%-10s %s\n", option_name(&options[WORK]), ok ? "ok" : "FAILED");
    bootstrap_finalize(&bootstrap);
    return program_end(ok);
}
