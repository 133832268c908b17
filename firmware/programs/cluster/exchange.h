/* SPDX-License-Identifier: Apache-2.0 */
/* Every GPU of a node sends a message to every other one over PCI Express, by its copy engine, in a given order. A
 * sender's k-th message starts in step k, and a step ends with its last message. */
#ifndef FABRICVP_PROGRAMS_CLUSTER_EXCHANGE_H
#define FABRICVP_PROGRAMS_CLUSTER_EXCHANGE_H

#include "drivers/gpu/gpu.h"

struct exchange {
    uint64_t bytes;    /* of a message */
    uint64_t order[2]; /* besides the natural one; 0: none. Decimal digits: the destinations of GPU 0 in sequence, those
                          of GPU 1, … */
    const char* name[2];
};
/* Refuses if the GPUs of this node cannot do it. To be called by all nodes before one of them begins. */
void exchange_check(const struct gpu_node* node, const struct exchange* options);
/* \returns whether every byte has arrived, in every order */
bool exchange_run(struct gpu_node* node, const struct exchange* options);

#endif
