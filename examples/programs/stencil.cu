/* SPDX-License-Identifier: Apache-2.0 */
/* Four steps of Jacobi's method on a grid of SIZE rows and columns. */
#include "../kernels/stencil.cu"

#include "program.h"

int main(int argc, char** argv) {
    const unsigned n = size_of_problem(argc, argv, 256);
    const dim3 block(64, 4), blocks((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    std::vector<float> grid(n * n), next;
    for (float& value : grid) value = next_float();
    device_array<float> one(grid), two(grid.size());
    for (unsigned step = 0; step < 4; ++step) {
        stencil<<<blocks, block>>>(step % 2 ? two : one, step % 2 ? one : two, n);
        next = grid;
        for (unsigned y = 1; y + 1 < n; ++y)
            for (unsigned x = 1; x + 1 < n; ++x) {
                const float* at = &grid[y * n + x];
                next[y * n + x] = 0.25f * ((at[-1] + at[1]) + (at[-(int)n] + at[n]));
            }
        grid = next;
    }
    CHECK(cudaGetLastError());
    const std::vector<float> found = one.to_host();
    unsigned wrong = 0;
    for (unsigned i = 0; i < n * n; ++i) wrong += found[i] != grid[i];
    return finish("stencil", found, wrong);
}
