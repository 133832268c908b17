/* SPDX-License-Identifier: Apache-2.0 */
#include "gemm_tiles.h"

KERNEL(gemm, struct gemm_arguments) {
    if (args->transpose == GEMM_TRANSPOSE_A)
        multiply(args, 0, 0, true, false);
    else if (args->transpose == GEMM_TRANSPOSE_B)
        multiply(args, 0, 0, false, true);
    else
        multiply(args, 0, 0, false, false);
}
