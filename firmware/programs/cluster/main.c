/* SPDX-License-Identifier: Apache-2.0 */
/* Several nodes with several GPUs each at work together: random updates of a table and a sparse matrix times a vector
 * over a node's GPUs, with NetCrafter and reversible lanes off and on; messages between a node's GPUs over PCI Express
 * in an order that was worked out before; messages that kernels of one node write into the GPU of another by
 * themselves; and Jacobi's method over all nodes, whose halos go from GPU to GPU. Options stand as `key=value` on the
 * kernel command line of node 0, which tells the others. Lines that begin with "# " have measured figures; all others
 * depend on nothing but the machine and whether everything is right, save the number of random updates that are lost.
 */
#include "drivers/bootstrap/measure.h"
#include "drivers/bootstrap/options.h"
#include "drivers/gpu/links.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "programs/cluster/exchange.h"
#include "programs/cluster/iterate.h"
#include "programs/cluster/link_modes.h"
#include "programs/compnet/jacobi.h"
#include "programs/gpurdma/writes.h"

bool app_gups(struct app* app);
bool app_spmv(struct app* app);

enum {
    NODES,
    ENTRIES,
    SIZE,
    FEATURES,
    POLICY,
    LINK_MODES,
    BYTES,
    BEST,
    WORST,
    MESSAGES,
    ROWS,
    COLUMNS,
    ITERATIONS,
    GROUPS,
    BACKEND,
    THREADS,
    WORK,
    PLACEMENT,
    STEPS,
    PCIE_ERRORS,
    OPTIONS
};
enum {
    ALL_FEATURES = GPU_LINK_STITCHING | GPU_LINK_TRIMMING | GPU_LINK_SELECTIVE_POOLING | GPU_LINK_SEQUENCING,
    QUEUE_PACKETS = 64
};
static const char* const error_names[] = {"ignored", "reported", NULL};
static struct option options[OPTIONS] = {
    [NODES] = {"nodes", 2, 2, NETWORK_MAX_PEERS},
    [ENTRIES] = {"entries", 1 << 18, 0, 1 << 22}, /* of the table with random updates; 0: none is updated */
    [SIZE] = {"size", 4096, 0, 1 << 20},          /* rows of the sparse matrix; 0: none is multiplied */
    [FEATURES] = {"netcrafter", ALL_FEATURES, .names = gpu_link_feature_names, .is_set = true,
                  .old = "parts"}, /* where it is on */
    [POLICY] = {"policy", GPU_LINK_MILIC2017,
                .names = gpu_link_policy_names}, /* of reversible lanes where they are on */
    [LINK_MODES] = {"link_modes", 15, 1, .names = link_mode_names, .is_set = true, .old = "settings"},
    [BYTES] = {"bytes", 128 << 10, 0, 512 << 10}, /* of a message between a node's GPUs; 0: none is sent */
    [BEST] = {"best", 0, 0, 0},                   /* orders of the messages besides the natural one, see exchange.h */
    [WORST] = {"worst", 0, 0, 0},
    [MESSAGES] = {"messages", 256, 0, 1 << 16}, /* that a kernel writes into another node's GPU; 0: none */
    [ROWS] = {"rows", 64, 1, 1 << 14},          /* of each node's part of the grid */
    [COLUMNS] = {"columns", 64, 16, 1 << 14},
    [ITERATIONS] = {"iterations", 10, 0, 500}, /* 0: nothing is solved */
    [GROUPS] = {"groups", 4, 1, 64},           /* work-groups of a node that solve */
    [BACKEND] = {"scheme", BACKEND_COMPNET, 0, BACKEND_HDN,
                 .names = backend_names},               /* which agent sends the halos, as in compnet */
    [THREADS] = {"threads", 1, 1, BACKEND_MAX_THREADS}, /* that serve */
    [WORK] = {"work", 0, .names = iterate_work_names},  /* in place of all that, over all GPUs of two nodes */
    [PLACEMENT] = {"placement", 0, .names = backend_queue_placement_names}, /* of queue pairs there */
    [STEPS] = {"steps", 4, 1, ITERATE_MAX_STEPS},
    [PCIE_ERRORS] = {"pcie_errors", 0, .names = error_names}, /* reported: one that a root port hears of is a failure */
};

static struct bootstrap bootstrap;
static struct gpu_node node;
static struct gpu_queue_handle queues[MAX_GPUS];

/* Nodes take turns, so that what one measures is its own. */
static bool run_one_at_a_time(bool (*work)(void)) {
    bool ok = true;
    for (unsigned active_rank = 0; active_rank < bootstrap.comm.size; ++active_rank) {
        if (active_rank == bootstrap.comm.rank) ok = work();
        for (unsigned i = 0; active_rank == bootstrap.comm.rank && i < bootstrap.comm.size; ++i)
            if (i != bootstrap.comm.rank) bootstrap_barrier_with(&bootstrap, i);
        if (active_rank != bootstrap.comm.rank) {
            bootstrap_wait_for(&bootstrap, active_rank);
            bootstrap_barrier_with(&bootstrap, active_rank);
        }
    }
    return ok;
}

static bool in_link_modes(const struct link_workload* workload) {
    const struct link_modes o = {(unsigned)options[FEATURES].value, (enum gpu_link_policy)options[POLICY].value,
                                 (unsigned)options[LINK_MODES].value};
    return link_modes_run(&node, queues, &o, workload);
}

static bool gups(void) {
    const struct link_workload w = {"gups", "entries", app_gups, options[ENTRIES].value};
    return in_link_modes(&w);
}

static bool spmv(void) {
    const struct link_workload w = {"spmv", "rows", app_spmv, options[SIZE].value};
    return in_link_modes(&w);
}

static struct exchange messages_of_gpus(void) {
    return (struct exchange){options[BYTES].value, {options[BEST].value, options[WORST].value}, {"best", "worst"}};
}

static bool exchange(void) {
    const struct exchange o = messages_of_gpus();
    return exchange_run(&node, &o);
}

static bool messages(void) {
    const struct writes w = {.bootstrap = &bootstrap,
                             .node = &node,
                             .queue = &queues[0],
                             .with = bootstrap.comm.rank ^ 1,
                             .groups = 4,
                             .poster_groups = 1,
                             .lanes = 1,
                             .messages = options[MESSAGES].value,
                             .size = 1024,
                             .batch = 8,
                             .signal_every = 8,
                             .window = 32,
                             .runs = 1,
                             .queues_in_gpu = true,
                             .cqs_in_gpu = true,
                             .records_in_gpu = true,
                             .payload_in_gpu = true,
                             .target_in_gpu = true};
    return writes_run(&w);
}

static struct jacobi_options jacobi_options(void) {
    return (struct jacobi_options){.rows = options[ROWS].value,
                                   .columns = options[COLUMNS].value,
                                   .iterations = options[ITERATIONS].value,
                                   .groups = options[GROUPS].value,
                                   .cores = 1,
                                   .reference = true};
}

static bool solve(void) {
    const struct jacobi_options o = jacobi_options();
    const struct backend base = {.kind = (enum backend_kind)options[BACKEND].value,
                                 .bootstrap = &bootstrap,
                                 .node = &node,
                                 .threads = (unsigned)options[THREADS].value};
    return jacobi_run(&base, &queues[0], &o);
}

static bool iterate(void) {
    const struct iterate o = {.work = (enum iterate_work)options[WORK].value,
                              .backend = (enum backend_kind)options[BACKEND].value,
                              .queues = (enum backend_queue_placement)options[PLACEMENT].value,
                              .threads = (unsigned)options[THREADS].value,
                              .rows = options[ROWS].value,
                              .columns = options[COLUMNS].value,
                              .steps = options[STEPS].value};
    return iterate_run(&bootstrap, &node, queues, &o);
}

static void check_options(void) {
    const struct jacobi_options of_jacobi = jacobi_options();
    const bool by_service_thread = options[BACKEND].value == BACKEND_COMPNET || options[BACKEND].value == BACKEND_GHN,
               steps = options[WORK].value;
    option_multiple(&options[NODES], 2, "since neighbours have to do with each other");
    if (steps && options[NODES].value != 2)
        usage_error("nodes=%lu: 2 with work=%s", options[NODES].value, option_name(&options[WORK]));
    if (by_service_thread) option_max(&options[THREADS], steps ? 1 : JACOBI_QUEUES, "since each serves a queue");
    if (options[WORK].value == ITERATE_TRAIN) {
        option_max(&options[STEPS], ITERATE_MAX_TRAINING_STEPS, "of training");
        option_max(&options[ROWS], ITERATE_MAX_IMAGES, "images of a node");
        option_max(&options[COLUMNS], ITERATE_MAX_NEURONS, "neurons of the hidden layer");
    }
    if (options[WORK].value == ITERATE_SPMV) option_multiple(&options[ROWS], 32, "of a matrix");
    if (!steps && options[ITERATIONS].value) jacobi_check(&of_jacobi, (unsigned)options[NODES].value);
}

/* A part's result counts only if no error was reported meanwhile: a load that is lost gives all ones. */
static bool accepted(bool ok) { return (!options[PCIE_ERRORS].value || pci_no_errors(&bootstrap.pci)) && ok; }

static bool run_all(void) {
    const struct exchange messages_over_pcie = messages_of_gpus();
    bool ok = true;
    if (options[WORK].value) return accepted(iterate());
    if (options[BYTES].value) exchange_check(&node, &messages_over_pcie);
    if (options[ENTRIES].value) ok = accepted(run_one_at_a_time(gups)) && ok;
    if (options[SIZE].value) ok = accepted(run_one_at_a_time(spmv)) && ok;
    if (options[BYTES].value) ok = accepted(run_one_at_a_time(exchange)) && ok;
    if (options[MESSAGES].value) ok = accepted(messages()) && ok;
    if (options[ITERATIONS].value) ok = accepted(solve()) && ok;
    return ok;
}

int main(void) {
    program_begin(&bootstrap, options, OPTIONS, check_options);
    if (options[PCIE_ERRORS].value) pci_report_errors(&bootstrap.pci);
    pci_print(&bootstrap.pci);
    gpu_require(&node, &bootstrap.pci);
    gpu_print(&node);
    if (gpu_connected_count(&node) < node.count)
        usage_error("the fabric does not join all GPUs: this program needs that");
    for (unsigned g = 0; g < node.count; ++g) gpu_create_queue(&queues[g], &node, g, QUEUE_PACKETS, 0, 1);
    clock_start();
    const bool ok = run_all();
    bootstrap_finalize(&bootstrap);
    return program_end(accepted(ok));
}
