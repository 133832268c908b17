/* SPDX-License-Identifier: Apache-2.0 */
#include "gemm_tiles.h"

/* Work-groups that follow each other in the third dimension take a slice of the depth each. */
KERNEL(gemm_split, struct gemm_split_arguments) {
    const struct gemm_arguments* whole = &args->whole;
    if (whole->transpose == GEMM_TRANSPOSE_A)
        multiply(whole, group_id(2), args->slice, true, false);
    else if (whole->transpose == GEMM_TRANSPOSE_B)
        multiply(whole, group_id(2), args->slice, false, true);
    else
        multiply(whole, group_id(2), args->slice, false, false);
}
