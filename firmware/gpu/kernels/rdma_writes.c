/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"
#include "rdma_writer.h"

LDS struct rdma_group_state group_states[RDMA_MAX_POSTER_GROUPS];

/* Teams of lanes post, ring and poll, without the host. */
KERNEL(rdma_writes, struct rdma_writes_arguments) {
    struct rdma_writer w;
    const unsigned poster_groups = group_size(0) / args->lanes, poster_group = local_id(0) / args->lanes;
    const bool single_lane = args->lanes == 1;
    if (!single_lane && local_id(0) < poster_groups) group_states[local_id(0)] = (struct rdma_group_state){0, 0, 0, 0};
    if (!single_lane) barrier();
    rdma_writer_begin(&w, args, group_id(0) * poster_groups + poster_group, local_id(0) % args->lanes,
                      single_lane ? 0 : &group_states[poster_group]);
    rdma_write_all(&w);
}
