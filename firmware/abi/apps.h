/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU applications: A(name, default size, what the size counts, bytes of device memory for size n, what it does).
 * Plain C99. */
#ifndef FABRICVP_ABI_APPS_H
#define FABRICVP_ABI_APPS_H

/* No application takes a larger size: a grid's items are counted in 32 bits. */
#define GPU_APP_MOST 0xffffff00u

#define GPU_APPS(A)                                                                                                        \
    A(vectoradd, 1048576, "elements", 12.0 * n, "adds two vectors of floats")                                              \
    A(transpose, 3072, "rows", 8.0 * n * n, "transposes a square matrix of words through the local data share")            \
    A(fir, 1048576, "samples", 8.0 * n, "16-tap filter")                                                                   \
    A(spmv, 524288, "rows", 126.0 * n, "sparse matrix times vector, doubles; a Matrix Market file with --initrd")          \
    A(reduction, 16777216, "elements", 4.0 * n, "sums words in two stages")                                                \
    A(histogram, 8388608, "samples", 1.0 * n, "counts bytes with atomics in the local data share and in memory")           \
    A(stencil, 1024, "rows", 8.0 * n * n, "four steps of a five-point stencil")                                            \
    A(mm, 384, "rows", 12.0 * n * n, "multiplies square matrices in tiles of 16 by 16")                                    \
    A(gups, 8388608, "entries", 8.0 * n, "random atomic updates of a table")                                               \
    A(bitonicsort, 262144, "keys", 4.0 * n, "sorts words")                                                                 \
    A(atax, 4096, "rows", 4.0 * n * n + 12.0 * n, "y = transposed A times (A times x)")                                    \
    A(mvt, 4096, "rows", 4.0 * n * n + 16.0 * n, "x1 += A y1 and x2 += transposed A y2")                                   \
    A(mm2, 512, "rows", 20.0 * n * n, "two multiplications of square matrices, chained")                                   \
    A(syr2k, 640, "rows", 12.0 * n * n, "symmetric rank-2k update")                                                        \
    A(im2col, 144, "images", 491520.0 * n, "unfolds images of 64x64 pixels for 3x3 convolutions")                          \
    A(jacobi2d, 2896, "rows", 8.0 * n * n, "two steps of a five-point Jacobi iteration")                                   \
    A(hpgmg_like, 128, "cells a side", 27.5 * n * n * n, "a V-cycle of multigrid on a cube, doubles")                      \
    A(pagerank, 1048576, "vertices", 32.0 * n, "page ranks of an R-MAT graph, fixed point")                                \
    A(mis, 1048576, "vertices", 28.0 * n, "maximal independent set of an R-MAT graph")                                     \
    A(lenet, 32, "images", 353000.0 * n + 4.2e6, "two training steps of LeNet-5")                                          \
    A(vgg16, 4, "images", 2.2e6 * n + 4.2e6, "two training steps of a VGG-16 with an eighth of the channels")              \
    A(resnet18, 4, "images", 5.98e6 * n + 4.2e6, "two training steps of a ResNet-18 with an eighth of the channels")       \
    A(locks, 256, "lanes", 72.0 * n / 64, "spin locks and mailboxes between lanes of one wavefront")

#endif
