/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "rdma_writer.h"

LDS struct rdma_board boards[RDMA_MOST_TEAMS];

/* Teams of lanes post, ring and poll, without the host. */
KERNEL(rdma_writes, struct rdma_writes_arguments) {
    struct rdma_writer w;
    const unsigned teams = group_size(0) / args->lanes, team = local_id(0) / args->lanes;
    const bool alone = args->lanes == 1;
    if (!alone && local_id(0) < teams) boards[local_id(0)] = (struct rdma_board){0, 0, 0, 0};
    if (!alone) barrier();
    rdma_writer_begin(&w, args, group_id(0) * teams + team, local_id(0) % args->lanes, alone ? 0 : &boards[team]);
    rdma_write_all(&w);
}
