// SPDX-License-Identifier: Apache-2.0
// C = A * B for square matrices whose size is a multiple of TILE, a tile of C for each block.
template <int TILE>
__global__ void __launch_bounds__(1024) matmul(const float* a, const float* b, float* c, unsigned n) {
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const unsigned x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (unsigned k = 0; k < n; k += TILE) {
        tile_a[y][x] = a[row * n + k + x];
        tile_b[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (unsigned i = 0; i < TILE; ++i) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
template __global__ void matmul<16>(const float*, const float*, float*, unsigned);
