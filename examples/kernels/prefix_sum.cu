// SPDX-License-Identifier: Apache-2.0
// Inclusive prefix sums: of blocks (scan), of the blocks' totals (scan again), and the totals of earlier blocks added.
__global__ void scan(int* x, int* totals, unsigned n) {
    extern __shared__ int space[];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x;
    int *a = space, *b = space + blockDim.x;
    a[l] = i < n ? x[i] : 0;
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        __syncthreads();
        b[l] = l >= step ? a[l] + a[l - step] : a[l];
        int* const swapped = a;
        a = b;
        b = swapped;
    }
    if (i < n) x[i] = a[l];
    if (l == blockDim.x - 1) totals[blockIdx.x] = a[l];
}

__global__ void add_totals(int* x, const int* totals, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x && i < n) x[i] += totals[blockIdx.x - 1];
}
