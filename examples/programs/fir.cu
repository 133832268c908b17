/* SPDX-License-Identifier: Apache-2.0 */
/* A filter of 16 taps over SIZE samples. */
#include "program.h"

enum { TAPS = 16 };

__global__ void fir(const float* x, const float* h, float* y, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (unsigned k = 0; k < TAPS; ++k) sum += x[i + k] * h[k];
    y[i] = sum;
}

/* Samples and taps are such that every sum is exact. */
int main(int argc, char** argv) {
    const unsigned n = size_of_problem(argc, argv, 1 << 18);
    std::vector<float> x(n + TAPS - 1), h(TAPS);
    for (float& value : x) value = (float)((int)(next_random() % 2048) - 1024) / 64;
    for (float& value : h) value = (float)((int)(next_random() % 64) - 32) / 16;
    device_array<float> device_x(x), device_h(h), device_y(n);
    fir<<<(n + 255) / 256, 256>>>(device_x, device_h, device_y, n);
    CHECK(cudaGetLastError());
    const std::vector<float> y = device_y.to_host();
    unsigned wrong = 0;
    for (unsigned i = 0; i < n; ++i) {
        float sum = 0;
        for (unsigned k = 0; k < TAPS; ++k) sum += x[i + k] * h[k];
        wrong += y[i] != sum;
    }
    return finish("fir", y, wrong);
}
