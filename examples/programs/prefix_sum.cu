/* SPDX-License-Identifier: Apache-2.0 */
/* Inclusive prefix sums of SIZE numbers, at most 65,536, by three kernels. */
#include "../kernels/prefix_sum.cu"

#include "program.h"

int main(int argc, char** argv) {
    const unsigned block = 256, n = size_of_problem(argc, argv, block * block), blocks = (n + block - 1) / block;
    if (blocks > block) return fprintf(stderr, "prefix_sum: SIZE is at most %u\n", block * block), 2;
    const size_t space = 2 * block * sizeof(int);
    std::vector<int> x(n);
    for (int& value : x) value = (int)(next_random() % 200) - 100;
    device_array<int> device_x(x), totals(zeros<int>(block)), total(zeros<int>(1));
    scan<<<blocks, block, space>>>(device_x, totals, n);
    scan<<<1, block, space>>>(totals, total, blocks);
    add_totals<<<blocks, block>>>(device_x, totals, n);
    CHECK(cudaGetLastError());
    const std::vector<int> found = device_x.to_host();
    unsigned wrong = 0;
    for (int i = 0, sum = 0; i < (int)n; ++i) wrong += found[(unsigned)i] != (sum += x[(unsigned)i]);
    return finish("prefix_sum", found, wrong);
}
