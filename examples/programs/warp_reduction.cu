/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of SIZE numbers, by shuffles. */
#include "../kernels/warp_reduction.cu"

#include "program.h"

int main(int argc, char** argv) {
    const unsigned n = size_of_problem(argc, argv, 1 << 18);
    std::vector<unsigned> x(n);
    unsigned sum = 0;
    for (unsigned& value : x) sum += value = next_random() % 1000;
    device_array<unsigned> device_x(x), total(zeros<unsigned>(1));
    warp_reduction<<<64, 256>>>(device_x, total, (int)n);
    CHECK(cudaGetLastError());
    const std::vector<unsigned> found = total.to_host();
    return finish("warp_reduction", found, found[0] != sum);
}
