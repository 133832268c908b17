/* SPDX-License-Identifier: Apache-2.0 */
#include <cuda_runtime.h>
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

#include "several.h"

int main() {
    int* numbers;
    std::vector<int> host(256, 2);
    if (hipMalloc(&numbers, 1024) || hipMemcpy(numbers, host.data(), 1024, hipMemcpyHostToDevice)) return 1;
    if (scale(numbers, 256, 20 * count_devices()) || shift(numbers, 256)) return 2;
    if (cudaMemcpy(host.data(), numbers, 1024, cudaMemcpyDeviceToHost)) return 3;
    std::printf("%d %d, %d blocks, %u\n", host[0], host[255], scaled_blocks(), dim3(4).y);
    return 0;
}
