/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels/pgas_reduce.h"
#include "lib/console.h"
#include "lib/heap.h"
#include "lib/machine.h"
#include "programs/pgas/workloads.h"

static void on_hart(const void* arguments) {
    static struct pgas_context context;
    pgas_reduce_run(arguments, &context);
}

/* What all nodes must have in the end. */
static float expected(unsigned ranks, uint32_t index, uint32_t rounds) {
    float sum = 0;
    for (uint32_t round = 0; round < rounds; ++round) {
        float next = 0;
        for (unsigned rank = 0; rank < ranks; ++rank) next += reduce_contribution(index, rank, round, sum);
        sum = next;
    }
    return sum;
}

bool reduce_run(struct pgas_runtime* w, uint32_t count, uint32_t rounds, bool tree) {
    const uint64_t values = 4 * (uint64_t)w->callers * count;
    pgas_runtime_open(w, values + w->callers * pgas_staging_bytes(count, w->bootstrap->comm.size));
    const struct rdma_buffer cycles = pgas_runtime_allocate(w, 8 * w->callers);
    const struct pgas_reduce_arguments a = {.contexts = pgas_runtime_address(w, &w->contexts),
                                            .cycles = pgas_runtime_address(w, &cycles),
                                            .values = 0,
                                            .staging = values,
                                            .count = count,
                                            .rounds = rounds,
                                            .tree = tree};
    const struct pgas_workload work = {"pgas_reduce", on_hart, &a, sizeof a};
    float* got = heap_allocate(values);
    if (!got) panic("reduce: out of memory");
    bool ok = pgas_runtime_run(w, &work);
    rdma_buffer_read(w->node, got, &w->segment, 0, values);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < w->callers * count; ++i) wrong += got[i] != expected(w->bootstrap->comm.size, i, rounds);
    if (ok && wrong) console_printf("%u of %u sums are wrong\n", wrong, w->callers * count);
    pgas_runtime_report(w, "reduce", tree ? "tree" : "ring", &cycles, 0, 1, w->callers);
    heap_free(got);
    return ok && !wrong;
}
