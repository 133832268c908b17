/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of an all-reduce, when the same work-group (or program) of every node takes part in it: kernels and
 * the host follow it alike. Plain C99.
 *
 * The vector has parts. In each step a node sends one part of what it has to one other node, takes one from one, or
 * does both; what it takes is added to its own, or stands in for it. Sums are the same on all nodes to the bit, and
 * their order is: ring: part p is ((x[p] + x[p + 1]) + x[p + 2]) + …, nodes modulo their number; tree: with s(r, 0) =
 * x[r], s(r, k + 1) = s(r, k) + s(r + 2^k, k) where that node exists, the sum is s(0, log2 of all). */
#ifndef FABRICVP_NETWORK_SCHEDULE_H
#define FABRICVP_NETWORK_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/network_queue.h"
#include "lib/communicator.h"

enum collective_algorithm { COLLECTIVE_RING = 0, COLLECTIVE_TREE = 1 };
enum { COLLECTIVE_MAX_STEPS = 4 }; /* a power of two of nodes: log2 of NETWORK_MAX_PEERS */

/* Memory that every node has at the same offsets. */
struct network_segments {
    struct communicator comm;
    uint64_t memory[NETWORK_MAX_PEERS]; /* where that of each begins, as its own lanes see it: what keys name */
};

/* Words that other nodes write, with a number in their upper half that rises from step to step, and 32 bits of data
 * below. */
struct collective_flags {
    uint64_t arrived[COLLECTIVE_MAX_STEPS + 1];   /* a part has come: by the node that sends it */
    uint64_t barrier_flags[COLLECTIVE_MAX_STEPS]; /* of a barrier */
    uint64_t max_flags[COLLECTIVE_MAX_STEPS][2];  /* of words that all exchange; by parity of their number */
};
#define COLLECTIVE_NUMBER(number) ((uint64_t)(number) << 32)

struct collective_step {
    bool sends, receives, adds; /* adds: what comes goes to the place for what is to be added */
    uint8_t to, from;           /* nodes */
    uint8_t send_chunk, receive_chunk;
    uint8_t staging_slot;            /* which of the places, at the node that adds */
    uint8_t send_flag, receive_flag; /* of `arrived`, at the node that takes */
};

static inline unsigned collective_levels(unsigned nodes) {
    unsigned levels = 0;
    while (1u << levels < nodes) ++levels;
    return levels;
}
static inline unsigned collective_chunks(enum collective_algorithm algorithm, unsigned nodes) {
    return algorithm == COLLECTIVE_RING ? nodes : 1;
}
/* Places of a whole vector's size for what is to be added. */
static inline unsigned collective_staging_slots(enum collective_algorithm algorithm, unsigned nodes) {
    return algorithm == COLLECTIVE_RING ? 1 : collective_levels(nodes);
}
static inline unsigned collective_steps(enum collective_algorithm algorithm, unsigned nodes) {
    return algorithm == COLLECTIVE_RING ? 2 * (nodes - 1) : 2 * collective_levels(nodes);
}
/* Where part `part` of `parts` of a vector of floats begins: at a line of 64 bytes of the vector, so that no two nodes,
 * and no two instructions of a wavefront, write to one line. */
static inline uint64_t collective_chunk_begin(uint64_t elements, unsigned chunks, unsigned chunk) {
    return chunk == chunks ? elements : elements * chunk / chunks & ~(uint64_t)15;
}

/* First around until each node has the sum of one part, then once more to give it to all. */
static inline struct collective_step collective_ring(unsigned rank, unsigned nodes, unsigned step) {
    const bool adds = step < nodes - 1;
    const unsigned sent = (adds ? rank + nodes - step : rank + 1 + nodes - (step - (nodes - 1))) % nodes;
    return (struct collective_step){.sends = true,
                                    .receives = true,
                                    .adds = adds,
                                    .to = (uint8_t)((rank + 1) % nodes),
                                    .from = (uint8_t)((rank + nodes - 1) % nodes),
                                    .send_chunk = (uint8_t)sent,
                                    .receive_chunk = (uint8_t)((sent + nodes - 1) % nodes)};
}
/* Up to node 0, by one level a step, and down again. */
static inline struct collective_step collective_tree(unsigned rank, unsigned nodes, unsigned step) {
    const unsigned levels = collective_levels(nodes), level = step < levels ? step : 2 * levels - 1 - step,
                   distance = 1u << level;
    const bool up = step < levels, parent = !(rank & (2 * distance - 1)) && rank + distance < nodes,
               child = (rank & (2 * distance - 1)) == distance;
    const unsigned flag = up ? level : levels;
    return (struct collective_step){.sends = up ? child : parent,
                                    .receives = up ? parent : child,
                                    .adds = up,
                                    .to = (uint8_t)(up ? rank - distance : rank + distance),
                                    .from = (uint8_t)(up ? rank + distance : rank - distance),
                                    .staging_slot = (uint8_t)level,
                                    .send_flag = (uint8_t)flag,
                                    .receive_flag = (uint8_t)flag};
}
static inline struct collective_step collective_step(enum collective_algorithm algorithm, unsigned rank, unsigned nodes,
                                                     unsigned step) {
    return algorithm == COLLECTIVE_RING ? collective_ring(rank, nodes, step) : collective_tree(rank, nodes, step);
}

/* The nodes that a node exchanges with: bit n for node n. */
static inline uint32_t collective_peers(enum collective_algorithm algorithm, unsigned rank, unsigned nodes) {
    uint32_t peers = 0;
    for (unsigned i = 0; i < collective_steps(algorithm, nodes); ++i) {
        const struct collective_step s = collective_step(algorithm, rank, nodes, i);
        if (s.sends) peers |= 1u << s.to;
        if (s.receives) peers |= 1u << s.from;
    }
    return peers;
}

#endif
