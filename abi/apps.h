/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU applications: A(name, default size, what the size counts, bytes of device memory for size n and its options,
 * what it does).
 * Plain C99. */
#ifndef FABRICVP_ABI_APPS_H
#define FABRICVP_ABI_APPS_H

/* No application takes a larger size: a grid's items are counted in 32 bits. */
#define GPU_APP_MAX 0xffffff00u

/* clang-format off */
#define GPU_APPS(A)                                                                                                    \
    A(vectoradd, 1048576, "elements", 12.0 * n, "adds two vectors of floats")                                          \
    A(transpose, 2048, "rows", 8.0 * n * n, "transposes a square matrix of words through the local data share")        \
    A(fir, 1048576, "samples", 8.0 * n, "16-tap filter")                                                               \
    A(spmv, 16384, "rows", 8 * density * n * n + 12 * n, "sparse matrix times vector; Matrix Market file: --initrd")   \
    A(reduction, 8388608, "elements", 4.0 * n, "sums words in two stages")                                             \
    A(histogram, 8388608, "samples", 1.0 * n, "counts bytes with atomics in the local data share and in memory")       \
    A(stencil, 1024, "rows", 8.0 * n * n, "four steps of a five-point stencil")                                        \
    A(mm, 384, "rows", 12.0 * n * n, "multiplies square matrices in tiles of 16 by 16")                                \
    A(gups, 4194304, "entries", 8.0 * n, "random updates of a table")                                                  \
    A(bitonicsort, 524288, "keys", 4.0 * n, "sorts words")                                                             \
    A(atax, 2048, "rows", 4.0 * n * n + 12.0 * n, "y = transposed A times (A times x)")                                \
    A(mvt, 2048, "rows", 4.0 * n * n + 16.0 * n, "x1 += A y1 and x2 += transposed A y2")                               \
    A(mm2, 256, "rows", 20.0 * n * n, "two multiplications of square matrices, chained")                               \
    A(syr2k, 256, "rows", 12.0 * n * n, "symmetric rank-2k update")                                                    \
    A(im2col, 64, "images", 491520.0 * n, "unfolds images of 64x64 pixels for 3x3 convolutions")                       \
    A(jacobi2d, 2048, "rows", 8.0 * n * n, "two steps of a five-point Jacobi iteration")                               \
    A(hpgmg_like, 128, "cells a side", 27.5 * n * n * n, "a V-cycle of multigrid on a cube, doubles")                  \
    A(sp_like, 32768, "variables", 212.0 * n, "survey propagation on a random 3-SAT formula")                          \
    A(euler3d_like, 262144, "cells", 132.0 * n, "a time step of a gas on an unstructured mesh")                        \
    A(amg_like, 32, "cells a side", 434.0 * n * n * n, "a V-cycle of algebraic multigrid, doubles")                    \
    A(lulesh_like, 32, "elements a side", 350.0 * n * n * n, "steps of a gas in moving hexahedra, doubles")            \
    A(comd_like, 16, "cells a side", 5300.0 * n * n * n, "molecular dynamics in link cells, doubles")                  \
    A(pagerank, 32768, "vertices", 8 * density * n * n + 12 * n, "two steps of PageRank, a wavefront a row of matrix") \
    A(mis, 524288, "vertices", 40.0 * n, "maximal independent set of an R-MAT graph with shuffled labels")             \
    A(lenet, 32, "images", 353000.0 * n + 4.2e6, "two training steps of LeNet-5")                                      \
    A(vgg16, 4, "images", 1.76e7 * width * n + 2.7e8 * width * width, "two training steps of a VGG-16")               \
    A(resnet18, 2, "images", 4.78e7 * width * n + 2.7e8 * width * width, "two training steps of a ResNet-18")         \
    A(atax_wavefronts, 4096, "rows", 4.0 * n * n + 12.0 * n, "atax with a wavefront a row of A")                       \
    A(mvt_wavefronts, 4096, "rows", 4.0 * n * n + 16.0 * n, "mvt with a wavefront a row of A")                         \
    A(mm2_tiled, 512, "rows", 20.0 * n * n, "mm2 in tiles through the local data share")                               \
    A(syr2k_tiled, 512, "rows", 12.0 * n * n, "syr2k in tiles through the local data share, lower half")               \
    A(locks, 256, "lanes", 72.0 * n / 64, "spin locks and mailboxes between lanes of one wavefront")
/* clang-format on */

/* Applications over all GPUs of all nodes of a machine, with the same columns; `bytes` counts those of each GPU. */
/* clang-format off */
#define GPU_DISTRIBUTED_APPS(A)                                                                                        \
    A(allreduce, 65536, "elements", 8.0 * n + 128, "sums a vector of floats over all GPUs of all nodes, in a ring")    \
    A(mm_ring, 128, "rows", 12.0 * n * n + 192, "multiplies square matrices over all GPUs of all nodes, in a ring")    \
    A(halo, 64, "rows a GPU", 8 * columns * (n + 2) + 128, "steps of a five-point Jacobi on all GPUs of all nodes")
#define GPU_DISTRIBUTED_APP_OPTIONS(O)                                     \
    O(halo, steps, 1, 1000, 4, "steps of the iteration")                   \
    O(halo, columns, 16, 4096, 256, "cells of a row")
/* clang-format on */

/* What some of them can be told beside the size: O(application, key, least, most, default, what it does). Values are
 * numbers with at most nine digits behind the point. */
/* clang-format off */
#define GPU_APP_OPTIONS(O)                                                             \
    O(gups, atomics, 0, 1, 0, "1: atomic exclusive-ors; 0: load, exclusive-or, store") \
    O(spmv, density, 1e-6, 1, 0.01, "part of the generated matrix that is not zero")   \
    O(pagerank, density, 1e-6, 1, 0.001, "part of the matrix of transitions that is not zero") \
    O(euler3d_like, block, 64, 4194304, 4096, "cells that lie together and are numbered at random among themselves") \
    O(vgg16, width, 0.0625, 1, 0.125, "part of the published network's channels")          \
    O(resnet18, width, 0.0625, 1, 0.125, "part of the published network's channels")      \
    O(lenet, data_parallel, 0, 1, 0, "1: each GPU trains a copy with a share of the images, gradients in a ring") \
    O(vgg16, data_parallel, 0, 1, 0, "as of lenet") \
    O(resnet18, data_parallel, 0, 1, 0, "as of lenet") \
    O(lenet, split_k, 0, 1, 0, "1: products of few tiles are split along their depth, to occupy all compute units") \
    O(vgg16, split_k, 0, 1, 0, "as of lenet") \
    O(resnet18, split_k, 0, 1, 0, "as of lenet")
/* clang-format on */

#endif
