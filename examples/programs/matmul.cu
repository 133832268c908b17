/* SPDX-License-Identifier: Apache-2.0 */
/* C = A * B for matrices of SIZE rows, a multiple of 16. */
#include "../kernels/matmul.cu"

#include "program.h"

int main(int argc, char** argv) {
    const unsigned n = (size_of_problem(argc, argv, 128) + 15) / 16 * 16;
    std::vector<float> a(n * n), b(n * n);
    for (float& x : a) x = next_float();
    for (float& x : b) x = next_float();
    device_array<float> device_a(a), device_b(b), device_c(n * n);
    matmul<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(device_a, device_b, device_c, n);
    CHECK(cudaGetLastError());
    const std::vector<float> c = device_c.to_host();
    unsigned wrong = 0;
    for (unsigned row = 0; row < n; row += 17) /* some rows */
        for (unsigned column = 0; column < n; ++column) {
            double sum = 0;
            for (unsigned k = 0; k < n; ++k) sum += (double)a[row * n + k] * b[k * n + column];
            wrong += !is_near(c[row * n + column], sum, 1e-5);
        }
    return finish("matmul", c, wrong);
}
