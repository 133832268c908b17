/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on graphs. Plain C99. */
#ifndef FABRICVP_GPU_KERNELS_GRAPH_H
#define FABRICVP_GPU_KERNELS_GRAPH_H

#include "gpu/kernels/arguments.h"
#include "gpu/kernels/random.h"

/* Luby's algorithm as in Pannotia, a lane a vertex: mis_lowest finds the lowest value among a vertex's open neighbours,
 * mis_join takes those below it into the set and notes their neighbours, mis_leave closes what was noted. */
enum mis_status { MIS_OPEN = -1, MIS_CLOSED = -2 };
enum { MIS_MEMBER = 2, MIS_NO_VALUE = 0x7fffffff };
struct mis_arguments {
    POINTER(const uint32_t) row_start; /* vertices + 1 */
    POINTER(const uint32_t) neighbour; /* of the graph, which has every edge both ways */
    POINTER(const int32_t) value;      /* of a vertex, no two alike: the lower one goes first */
    POINTER(int32_t) member;           /* MIS_MEMBER or 0 */
    POINTER(int32_t) status;           /* enum mis_status */
    POINTER(int32_t) next_status;
    POINTER(int32_t) lowest; /* value among open neighbours */
    POINTER(uint32_t) open;  /* 1: a vertex was open */
    uint32_t vertices;
};

#endif
