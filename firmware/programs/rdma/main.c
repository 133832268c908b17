/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA between nodes: finds the HCA, brings it up, tells the other nodes where its queue pairs are, and checks or
 * measures what verbs do, as `options` say. Lines that begin with "# " have measured figures; all others depend on
 * nothing but whether everything is right. */
#include "drivers/bootstrap/measure.h"
#include "drivers/bootstrap/options.h"
#include "lib/console.h"
#include "lib/machine.h"
#include "programs/rdma/check.h"

enum {
    NODES,
    CHECK,
    EXCHANGE,
    MULTICAST,
    LATENCY,
    BANDWIDTH,
    RATE,
    MIN_BYTES,
    MAX_BYTES,
    INLINE,
    SIZE,
    BATCH,
    SIGNAL,
    WINDOW,
    QPS,
    GPU_QUEUES,
    GPU_CQS,
    GPU_RECORDS,
    GPU_PAYLOAD,
    OPTIONS
};
static struct option options[OPTIONS] = {
    [NODES] = {"nodes", 2, 2, BOOTSTRAP_MAX_RANKS}, /* that take part */
    [CHECK] = {"check", 1},                         /* every verb */
    [EXCHANGE] = {"exchange", 1},                   /* all nodes at once */
    [MULTICAST] = {"multicast", 1},                 /* a group of all nodes, with the exchange */
    [LATENCY] = {"latency", 20, 0,
                 MEASURED_TIMES},      /* how often, of each verb and size; 0: not at all, as with the following */
    [BANDWIDTH] = {"bandwidth", 1000}, /* messages, of each verb and size; fewer of large ones */
    [RATE] = {"rate", 4096},           /* messages of one size, of each queue pair */
    [MIN_BYTES] = {"min", 2, 1, MEASURED_BYTES, .old = "least"}, /* sizes of latency and bandwidth, by powers of two */
    [MAX_BYTES] = {"max", MEASURED_BYTES, 0, MEASURED_BYTES, .old = "most"},
    [INLINE] = {"inline", 188},                               /* bytes that are posted inline, but for bandwidth */
    [SIZE] = {"size", 8, 1, MEASURED_BYTES},                  /* of messages of the rate */
    [BATCH] = {"batch", 16, 1, MEASURED_BATCH},               /* of them for one doorbell */
    [SIGNAL] = {"signal", 16, 1, 1 << MEASURED_LOG_SQ_SIZE},  /* of them for one completion */
    [WINDOW] = {"window", 128, 1, 1 << MEASURED_LOG_SQ_SIZE}, /* of them under way */
    [QPS] = {"qps", 1, 1, MEASURED_QPS, .old = "pairs"},      /* queue pairs */
    [GPU_QUEUES] = {"gpu_queues", 0},                         /* 1: in the memory of the node's first GPU; likewise: */
    [GPU_CQS] = {"gpu_cqs", 0},
    [GPU_RECORDS] = {"gpu_records", 0}, /* doorbell records */
    [GPU_PAYLOAD] = {"gpu_payload", 0},
};

static struct bootstrap bootstrap;
static struct verbs_uar uar;

static void check_options(void) {
    option_max(&options[BATCH], options[WINDOW].value, "since as many are under way");
    option_max(&options[SIGNAL], options[WINDOW].value, "since as many are under way");
}

static bool measure_all(unsigned with) {
    struct measure m = {.bootstrap = &bootstrap,
                        .with = with,
                        .iterations = options[LATENCY].value,
                        .messages = options[BANDWIDTH].value,
                        .min = options[MIN_BYTES].value,
                        .max = options[MAX_BYTES].value,
                        .inline_bytes = options[INLINE].value,
                        .size = options[SIZE].value,
                        .batch = options[BATCH].value,
                        .signal_every = options[SIGNAL].value,
                        .window = options[WINDOW].value,
                        .qps = options[QPS].value,
                        .gpu_queues = options[GPU_QUEUES].value,
                        .gpu_cqs = options[GPU_CQS].value,
                        .gpu_payload = options[GPU_PAYLOAD].value};
    bool ok = true;
    if (options[GPU_RECORDS].value) {
        const struct verbs_memory records = gpu_memory(&bootstrap, HCA_PAGE);
        if (!verbs_open_uar(&uar, &bootstrap.hca, &records)) panic("no doorbell records in a GPU's memory");
        m.uar = &uar;
    }
    if (options[EXCHANGE].value) ok = exchange_all(&m);
    if (options[EXCHANGE].value && options[MULTICAST].value) ok = exchange_group(&m) && ok;
    clock_start();
    if (options[LATENCY].value) ok = measure_latency(&m) && ok;
    if (options[BANDWIDTH].value) ok = measure_bandwidth(&m) && ok;
    m.messages = options[RATE].value;
    if (options[RATE].value) ok = measure_rate(&m) && ok;
    return ok;
}

int main(void) {
    program_begin(&bootstrap, options, OPTIONS, check_options);
    console_printf("node %u of %u, MTU %u\n", bootstrap.comm.rank, bootstrap.comm.size, 1u << bootstrap.log_mtu);
    const unsigned with = bootstrap.comm.rank ^ 1; /* checks and measurements are between neighbours */
    unsigned wrong = 0;
    if (with >= bootstrap.comm.size)
        options[CHECK].value = options[LATENCY].value = options[BANDWIDTH].value = options[RATE].value = 0;
    if (options[CHECK].value)
        wrong = check_connections(&bootstrap, with) + check_datagrams(&bootstrap, with) +
                check_queues(&bootstrap, with) + check_states(&bootstrap, with) + check_parallel(&bootstrap, with) +
                check_errors(&bootstrap, with);
    wrong += !measure_all(with);
    return program_end(!wrong);
}
