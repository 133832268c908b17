/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over a tile. */
#ifndef FABRICVP_GPU_COOPERATIVE_GROUPS_REDUCE_H
#define FABRICVP_GPU_COOPERATIVE_GROUPS_REDUCE_H

#include <cooperative_groups.h>

namespace cooperative_groups {

#define FABRICVP_OPERATION(name, expression)                                                                          \
    template <class T>                                                                                                \
    struct name {                                                                                                     \
        __device__ inline __attribute__((nodebug, always_inline)) T operator()(T a, T b) const { return expression; } \
    };
FABRICVP_OPERATION(plus, a + b)
FABRICVP_OPERATION(less, b < a ? b : a)
FABRICVP_OPERATION(greater, a < b ? b : a)
FABRICVP_OPERATION(bit_and, a& b)
FABRICVP_OPERATION(bit_or, a | b)
FABRICVP_OPERATION(bit_xor, a ^ b)
#undef FABRICVP_OPERATION

template <unsigned Size, class Parent, class T, class Operation>
__device__ inline __attribute__((nodebug, always_inline)) T reduce(const thread_block_tile<Size, Parent>& tile, T value,
                                                                   Operation&& operation) {
    for (unsigned distance = Size / 2; distance; distance /= 2)
        value = operation(value, tile.shfl_xor(value, distance));
    return value;
}

}  // namespace cooperative_groups

#endif
