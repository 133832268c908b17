/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU applications: A(name, default size, what the size counts, bytes of device memory for size n, what it does).
 * Plain C99. */
#ifndef FABRICVP_ABI_APPS_H
#define FABRICVP_ABI_APPS_H

#define GPU_APPS(A)                                                                                                        \
    A(vectoradd, 1048576, "elements", 12.0 * n, "adds two vectors of floats")                                              \
    A(transpose, 1024, "rows", 8.0 * n * n, "transposes a square matrix of words through the local data share")            \
    A(fir, 1048576, "samples", 8.0 * n, "16-tap filter")                                                                   \
    A(spmv, 65536, "rows", 126.0 * n, "sparse matrix times vector, doubles; a Matrix Market file with --initrd")           \
    A(reduction, 2097152, "elements", 4.0 * n, "sums words, a work-group at a time")                                       \
    A(histogram, 8388608, "samples", 1.0 * n, "counts bytes with atomics in the local data share and in memory")           \
    A(stencil, 1024, "rows", 8.0 * n * n, "four steps of a five-point stencil")                                            \
    A(mm, 384, "rows", 12.0 * n * n, "multiplies square matrices in tiles of 16 by 16")                                    \
    A(gups, 2097152, "entries", 8.0 * n, "random atomic updates of a table")                                               \
    A(bitonicsort, 262144, "keys", 4.0 * n, "sorts words")                                                                 \
    A(locks, 256, "lanes", 72.0 * n / 64, "spin locks and mailboxes between lanes of one wavefront")

#endif
