/* SPDX-License-Identifier: Apache-2.0 */
/* Latency, bandwidth and message rate between two nodes, by one queue pair or several. The node with the lower index
 * prints. */
#ifndef FABRICVP_DRIVERS_BOOTSTRAP_MEASURE_H
#define FABRICVP_DRIVERS_BOOTSTRAP_MEASURE_H

#include "drivers/bootstrap/bootstrap.h"

struct measure {
    struct bootstrap* bootstrap;
    unsigned with;
    uint64_t iterations;   /* of a latency */
    uint64_t messages;     /* of a rate, and at most of a bandwidth */
    uint64_t min, max;     /* sizes, by powers of two */
    uint64_t inline_bytes; /* messages up to this size are posted inline */
    uint64_t size, batch, signal_every, window,
        qps; /* of a rate: entries a doorbell, of which one completes, under way; queue pairs */
    bool gpu_queues, gpu_cqs, gpu_payload; /* in memory of the node's first GPU */
    struct verbs_uar* uar;                 /* whose doorbell records may be there, too; NULL: the adapter's own */
};

bool measure_latency(const struct measure* m);
bool measure_bandwidth(const struct measure* m);
bool measure_rate(const struct measure* m);
/* Among all nodes, not only two. */
bool exchange_group(const struct measure* measure);
bool exchange_all(const struct measure* m);

/* ---- what they have in common ---- */

/* Time, to a cycle of the hart. */
void clock_start(void);
uint64_t clock_cycles(void);
uint64_t clock_picoseconds(uint64_t cycles);

/* Bounds of what is asked for: bytes of a message; times of a latency; of a rate, queue pairs and entries a doorbell.
 */
enum {
    MEASURED_LOG_SQ_SIZE = 7,
    MEASURED_LOG_RQ_SIZE = 9,
    MEASURED_BYTES = 1 << 20,
    MEASURED_TIMES = 200,
    MEASURED_QPS = 16,
    MEASURED_BATCH = 64
};
/* A channel whose memory lies where `m` says. */
void measured_channel(struct channel* channel, const struct measure* m, uint64_t bytes);
/* Memory of a GPU for exclusive use, by its BAR. Panics if there is no GPU. */
struct verbs_memory gpu_memory(struct bootstrap* bootstrap, uint64_t bytes);

#endif
