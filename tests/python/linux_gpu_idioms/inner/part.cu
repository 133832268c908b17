/* SPDX-License-Identifier: Apache-2.0 */
#include "sizes.h" /* of this folder, whatever folders are searched */

__global__ void add_one(int* out) { *out = INNER + 1; }

int of_inner() {
    int *out, found = 0;
    cudaMalloc(&out, sizeof found);
    add_one<<<1, 1>>>(out);
    cudaMemcpy(&found, out, sizeof found, cudaMemcpyDeviceToHost);
    return found;
}
