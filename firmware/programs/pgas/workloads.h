/* SPDX-License-Identifier: Apache-2.0 */
/* What callers of all nodes do together. All nodes call each; panics if options make no sense. \returns whether all was
 * right */
#ifndef FABRICVP_PROGRAMS_PGAS_WORKLOADS_H
#define FABRICVP_PROGRAMS_PGAS_WORKLOADS_H

#include "programs/pgas/runtime.h"

/* All-reduce of `count` floats of each caller, `rounds` times, round a ring or up and down a tree. */
bool reduce_run(struct pgas_runtime* runtime, uint32_t count, uint32_t rounds, bool tree);
/* A distributed hash table with 2^log_buckets buckets a node: each caller counts `keys` keys out of `universe`, and
 * looks up as many. */
bool hash_run(struct pgas_runtime* runtime, unsigned log_buckets, uint32_t keys, uint32_t universe);
/* A sparse matrix with `rows` rows of each node times a vector, `iterations` times. */
bool spmv_run(struct pgas_runtime* runtime, uint32_t rows, uint32_t iterations);
/* Callers of all nodes but the first find multiples of `divisor` among `count` numbers each, and send them there. */
bool find_run(struct pgas_runtime* runtime, uint32_t count, uint32_t divisor);

#endif
