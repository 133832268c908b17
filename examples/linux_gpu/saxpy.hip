/* SPDX-License-Identifier: Apache-2.0 */
/* y = a * x + y in HIP, host and device in one source. */
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                       \
    do {                                                                  \
        hipError_t error = (call);                                        \
        if (error != hipSuccess) {                                        \
            fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error)); \
            return 1;                                                     \
        }                                                                 \
    } while (0)

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

int main(int argc, char** argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: saxpy N A\n");
        return 2;
    }
    int n = atoi(argv[1]);
    float a = atof(argv[2]);
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) x[i] = i, y[i] = 2 * i;
    float *dx, *dy;
    CHECK(hipMalloc(&dx, n * sizeof(float)));
    CHECK(hipMalloc(&dy, n * sizeof(float)));
    CHECK(hipMemcpy(dx, x.data(), n * sizeof(float), hipMemcpyHostToDevice));
    CHECK(hipMemcpy(dy, y.data(), n * sizeof(float), hipMemcpyHostToDevice));
    hipEvent_t start, stop;
    CHECK(hipEventCreate(&start));
    CHECK(hipEventCreate(&stop));
    CHECK(hipEventRecord(start));
    saxpy<<<(n + 255) / 256, 256>>>(n, a, dx, dy);
    CHECK(hipGetLastError());
    CHECK(hipEventRecord(stop));
    CHECK(hipDeviceSynchronize());
    float ms;
    CHECK(hipEventElapsedTime(&ms, start, stop));
    CHECK(hipMemcpy(y.data(), dy, n * sizeof(float), hipMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += y[i] != a * i + 2 * i;
    printf("%d elements, %d wrong, y[%d] = %g, %.1f us\n", n, wrong, n - 1, y[n - 1], ms * 1000);
    CHECK(hipFree(dx));
    CHECK(hipFree(dy));
    return wrong != 0;
}
