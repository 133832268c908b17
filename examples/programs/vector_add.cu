/* SPDX-License-Identifier: Apache-2.0 */
/* c = a + b for vectors of SIZE elements. */
#include "../kernels/vector_add.cu"

#include "program.h"

int main(int argc, char** argv) {
    const unsigned n = size_of_problem(argc, argv, 1 << 18);
    std::vector<float> a(n), b(n);
    for (unsigned i = 0; i < n; ++i) a[i] = next_float(), b[i] = next_float();
    device_array<float> device_a(a), device_b(b), device_c(n);
    vector_add<<<(n + 255) / 256, 256>>>(device_a, device_b, device_c, n);
    CHECK(cudaGetLastError());
    const std::vector<float> c = device_c.to_host();
    unsigned wrong = 0;
    for (unsigned i = 0; i < n; ++i) wrong += c[i] != a[i] + b[i];
    return finish("vector_add", c, wrong);
}
