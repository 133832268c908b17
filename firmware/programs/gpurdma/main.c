/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA that kernels control: makes queue pairs whose queues, completions and doorbell records lie where it is told,
 * hands them to kernels, which write entries, ring the adapter and poll completions, and checks every byte at the far
 * side. What is done, and how, stands as `key=value` on the kernel command line of node 0 (see `options`), which tells
 * the others. Lines that begin with "# " have measured figures; all others depend on nothing but whether everything is
 * right. */
#include "drivers/bootstrap/measure.h"
#include "drivers/bootstrap/options.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "lib/traps.h"
#include "programs/gpurdma/serve.h"
#include "programs/gpurdma/writes.h"

enum {
    NODES,
    SIZE,
    MESSAGES,
    GROUPS,
    POSTER_GROUPS,
    LANES,
    BATCH,
    SIGNAL,
    WINDOW,
    RUNS,
    REUSE,
    INLINE,
    READS,
    TIMED,
    REVOKE,
    FENCE,
    HART,
    LIBRARY,
    QUEUES_IN_GPU,
    CQS_IN_GPU,
    RECORDS_IN_GPU,
    PAYLOAD_IN_GPU,
    TARGET_IN_GPU,
    SERVE,
    ITEMS,
    BYTES,
    ROUNDS,
    REPLIES,
    OWN,
    MULTIPLY,
    STAGED,
    COPY_NS,
    OPTIONS
};
/* As RDMA_FENCES of gpu/verbs/arch.h. */
static const char* const fence_names[] = {"none",           "agent",         "system", "doorbell",
                                          "agent_doorbell", "doorbell_only", NULL};
static struct option options[OPTIONS] = {
    [NODES] = {"nodes", 2, 2, BOOTSTRAP_MAX_RANKS}, /* that take part; neighbours have to do with each other */
    [SIZE] = {"size", 8, 1, 0},                     /* bytes of a message */
    [MESSAGES] = {"messages", 1024, 1, 0},          /* of a poster group */
    [GROUPS] = {"groups", 1, 1, 0},                 /* work-groups */
    [POSTER_GROUPS] = {"poster_groups", 1, 1, 0, .old = "teams"}, /* of a work-group, each with a queue pair */
    [LANES] = {"lanes", 1, 1, 1024},                              /* of a poster group, which post together */
    [BATCH] = {"batch", 1, 1, 0},                                 /* entries a doorbell */
    [SIGNAL] = {"signal", 1, 1, 0},                               /* entries for one completion */
    [WINDOW] = {"window", 1},                                     /* entries under way before completions are polled */
    [RUNS] = {"runs", 3, 1, 0},
    [REUSE] = {"reuse", 0},                       /* 1: entries are written in full once, then only what changes */
    [INLINE] = {"inline", 0},                     /* 1: the payload, at most 8 bytes, stands in the entry */
    [READS] = {"reads", 0},                       /* 1: reads from the other node, not writes */
    [TIMED] = {"timed", 0},                       /* 1: looks at the clock between steps */
    [REVOKE] = {"revoke", 0},                     /* 1: the last run meets a region that has been taken back */
    [FENCE] = {"fence", 2, .names = fence_names}, /* of lanes, in front of records and doorbells */
    [HART] = {"hart", 0},                         /* 1: the host's hart does all this in place of a lane */
    [LIBRARY] = {"library", 0},                   /* 1: … through the verbs library, not by the lane's code */
    [QUEUES_IN_GPU] = {"gpu_queues", 1},          /* 1: in the GPU's memory, 0: in the host's; likewise: */
    [CQS_IN_GPU] = {"gpu_cqs", 1},
    [RECORDS_IN_GPU] = {"gpu_records", 1},                        /* doorbell records */
    [PAYLOAD_IN_GPU] = {"gpu_payload", 1},                        /* what is sent */
    [TARGET_IN_GPU] = {"gpu_target", 0},                          /* where it goes to */
    [SERVE] = {"serve", SERVE_NONE, .names = serve_worker_names}, /* in place of all that, node 0 sends batches, and
                                                                     node 1 works: its hart, or one kernel */
    [ITEMS] = {"items", 64, 1, 1024},                             /* work-items of a work-group */
    [BYTES] = {"bytes", 0},                                       /* of a batch; 0: a notification alone */
    [ROUNDS] = {"rounds", 16, 1, 0},
    [REPLIES] = {"replies", 1},   /* messages in which results come back: 1 or as many as groups */
    [OWN] = {"own", 0},           /* 1: each work-group gets its part with a notification of its own */
    [MULTIPLY] = {"multiply", 0}, /* 1: vectors of 32 floats by a matrix; 0: what came is sent back */
    [STAGED] = {"staged", 0},     /* 1: the hart sends results from its own memory, where the copy engine brings them */
    [COPY_NS] = {"copy_ns", 0},   /* nanoseconds of a run-time for each of these copies */
};

static struct bootstrap bootstrap;
static struct gpu_node node;
static struct gpu_queue_handle queue;

static unsigned flag(unsigned option, unsigned bit) { return options[option].value ? bit : 0; }

static struct writes writes(void) {
    return (struct writes){.bootstrap = &bootstrap,
                           .node = &node,
                           .queue = &queue,
                           .with = bootstrap.comm.rank ^ 1,
                           .groups = options[GROUPS].value,
                           .poster_groups = options[POSTER_GROUPS].value,
                           .lanes = options[LANES].value,
                           .messages = options[MESSAGES].value,
                           .size = options[SIZE].value,
                           .batch = options[BATCH].value,
                           .signal_every = options[SIGNAL].value,
                           .window = options[WINDOW].value,
                           .runs = options[RUNS].value,
                           .flags = flag(REUSE, RDMA_REUSE) | flag(INLINE, RDMA_INLINE_DATA) | flag(READS, RDMA_READS) |
                                    flag(TIMED, RDMA_TIMED),
                           .fence = (unsigned)options[FENCE].value,
                           .hart = options[HART].value,
                           .library = options[LIBRARY].value,
                           .revoked = options[REVOKE].value,
                           .queues_in_gpu = options[QUEUES_IN_GPU].value,
                           .cqs_in_gpu = options[CQS_IN_GPU].value,
                           .records_in_gpu = options[RECORDS_IN_GPU].value,
                           .payload_in_gpu = options[PAYLOAD_IN_GPU].value,
                           .target_in_gpu = options[TARGET_IN_GPU].value};
}

static struct serve serve(void) {
    return (struct serve){.bootstrap = &bootstrap,
                          .node = &node,
                          .queue = &queue,
                          .with = bootstrap.comm.rank ^ 1,
                          .worker = options[SERVE].value,
                          .groups = options[GROUPS].value,
                          .items = options[ITEMS].value,
                          .bytes = options[BYTES].value,
                          .rounds = options[ROUNDS].value,
                          .replies = options[REPLIES].value,
                          .own = options[OWN].value,
                          .multiply = options[MULTIPLY].value,
                          .staged = options[STAGED].value,
                          .copy_ns = options[COPY_NS].value};
}

static void check_options(void) {
    const struct writes w = writes();
    const struct serve s = serve();
    option_multiple(&options[NODES], 2, "since neighbours have to do with each other");
    if (options[SERVE].value)
        serve_check(&s);
    else
        writes_check(&w);
}

int main(void) {
    program_begin(&bootstrap, options, OPTIONS, check_options);
    gpu_require(&node, &bootstrap.pci);
    gpu_print(&node);
    for (unsigned i = 0; i < node.count; ++i) gpu_use_interrupts(&node.gpu[i], PCI_MSIX);
    interrupts_on();
    gpu_create_queue(&queue, &node, 0, 4, 0, 1);
    clock_start();
    const struct writes w = writes();
    const struct serve s = serve();
    const bool ok = options[SERVE].value ? serve_run(&s) : writes_run(&w);
    bootstrap_finalize(&bootstrap);
    return program_end(ok);
}
