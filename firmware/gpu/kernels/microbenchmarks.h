/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of all microbenchmarks, and what each wavefront reports. */
#ifndef FABRICVP_MICROBENCHMARKS_H
#define FABRICVP_MICROBENCHMARKS_H

#include <stdint.h>

struct microbenchmark_arguments {
    uint8_t* data;   /* what is read or written */
    uint64_t* times; /* first and last cycle of each wavefront, by its number in the grid */
    uint64_t* sum;   /* what kernels have read, so that nothing is left out */
    uint64_t bytes;  /* of data */
    uint64_t stride; /* bytes between neighbouring lanes, or lines of a chase */
    uint64_t warm;   /* rounds before the clock starts */
    uint64_t rounds; /* rounds that are timed */
};

/* Instructions that one round of an arithmetic or LDS kernel repeats. */
#define MICROBENCHMARK_REPEATS 64
/* Loads of a lane in one round of a stream. */
#define MICROBENCHMARK_UNROLL 8
/* Bytes that a wavefront reads or writes at once in a stream: 8 words of 8 bytes a lane. */
#define MICROBENCHMARK_CHUNK (MICROBENCHMARK_UNROLL * 8 * 64)

#endif
