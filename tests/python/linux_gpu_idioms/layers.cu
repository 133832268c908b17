/* SPDX-License-Identifier: Apache-2.0 */
/* A layer of a network by sums in shared memory, and a table that is filled along its diagonals: layers INPUTS. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>
#include <device_launch_parameters.h>

#define WIDTH 16
#define HEIGHT 16
#define PENALTY 10

__device__ __host__ int maximum(int a, int b, int c) {
    int k;
    if (a <= b)
        k = b;
    else
        k = a;
    if (k <= c)
        return (c);
    else
        return (k);
}

__global__ void layerforward(float* input, float* hidden_weights, float* partial, int in, int hid) {
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    int index_in = HEIGHT * by + ty + 1;
    __shared__ float input_node[HEIGHT];
    __shared__ float weight_matrix[HEIGHT][WIDTH];
    if (tx == 0) input_node[ty] = input[index_in];
    __syncthreads();
    weight_matrix[ty][tx] = hidden_weights[index];
    __syncthreads();
    weight_matrix[ty][tx] = weight_matrix[ty][tx] * input_node[ty];
    __syncthreads();
    for (int i = 1; i <= __log2f(HEIGHT); i++) {
        int power_two = __powf(2, i);
        if (ty % power_two == 0) weight_matrix[ty][tx] = weight_matrix[ty][tx] + weight_matrix[ty + power_two / 2][tx];
        __syncthreads();
    }
    if (tx == 0) partial[by * hid + ty] = weight_matrix[tx][ty];
}

__global__ void diagonal(int* reference, int* matrix, int cols, int i, int block_width) {
    extern __shared__ int temp[];
    int bx = blockIdx.x, tx = threadIdx.x, side = WIDTH + 1;
    int b_index_x = bx + (i > block_width ? i - block_width : 0), b_index_y = i - 1 - b_index_x;
    int index = cols * WIDTH * b_index_y + WIDTH * b_index_x + tx + (cols + 1);
    int index_n = cols * WIDTH * b_index_y + WIDTH * b_index_x + tx + 1;
    int index_w = cols * WIDTH * b_index_y + WIDTH * b_index_x + cols;
    if (tx == 0) temp[0] = matrix[index_w - cols];
    temp[(tx + 1) * side] = matrix[index_w + cols * tx];
    temp[tx + 1] = matrix[index_n];
    __syncthreads();
    for (int m = 0; m < 2 * WIDTH - 1; m++) {
        int x = m < WIDTH ? tx + 1 : tx + m - WIDTH + 2, y = m < WIDTH ? m - tx + 1 : WIDTH - tx;
        if (tx <= (m < WIDTH ? m : 2 * WIDTH - 2 - m))
            temp[y * side + x] =
                maximum(temp[(y - 1) * side + x - 1] + reference[cols * (WIDTH * b_index_y + y) + WIDTH * b_index_x + x],
                        temp[y * side + x - 1] - PENALTY, temp[(y - 1) * side + x] - PENALTY);
        __syncthreads();
    }
    for (int ty = 0; ty < WIDTH; ty++) matrix[index + ty * cols] = temp[(ty + 1) * side + tx + 1];
}

static int forward(int in) {
    int hid = WIDTH, blocks = in / HEIGHT, wrong = 0;
    float *input, *weights, *input_cuda, *weights_cuda, *partial_cuda;
    float* partial = (float*)malloc(blocks * WIDTH * sizeof(float));
    cudaMallocHost((void**)&input, (in + 1) * sizeof(float));
    cudaMallocHost((void**)&weights, (in + 1) * (hid + 1) * sizeof(float));
    for (int i = 0; i <= in; i++) input[i] = (float)(i % 7) / 7;
    for (int i = 0; i < (in + 1) * (hid + 1); i++) weights[i] = (float)(i % 13) / 13;
    cudaMalloc((void**)&input_cuda, (in + 1) * sizeof(float));
    cudaMalloc((void**)&weights_cuda, (in + 1) * (hid + 1) * sizeof(float));
    cudaMalloc((void**)&partial_cuda, blocks * WIDTH * sizeof(float));
    cudaMemcpy(input_cuda, input, (in + 1) * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(weights_cuda, weights, (in + 1) * (hid + 1) * sizeof(float), cudaMemcpyHostToDevice);
    layerforward<<<dim3(1, blocks), dim3(16, 16)>>>(input_cuda, weights_cuda, partial_cuda, in, hid);
    cudaThreadSynchronize();
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        printf("bpnn kernel error: %s\n", cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
    cudaMemcpy(partial, partial_cuda, blocks * WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
    for (int j = 1; j <= hid; j++) {
        double sum = 0, reference = 0;
        for (int k = 0; k < blocks; k++) sum += partial[k * hid + j - 1];
        for (int k = 1; k <= in; k++) reference += (double)weights[k * (hid + 1) + j] * input[k];
        wrong += fabs(sum - reference) > 1e-5 * fabs(reference);
    }
    cudaFreeHost(input);
    cudaFreeHost(weights);
    cudaFree(input_cuda);
    cudaFree(weights_cuda);
    cudaFree(partial_cuda);
    free(partial);
    return wrong;
}

static int align(int n) {
    int cols = n + 1, block_width = n / WIDTH;
    size_t bytes = sizeof(int) * cols * cols;
    int *reference = (int*)malloc(bytes), *matrix = (int*)calloc(cols * cols, sizeof(int)), *out = (int*)malloc(bytes);
    int *reference_cuda, *matrix_cuda;
    for (int i = 0; i < cols * cols; i++) reference[i] = i * 7919 % 21 - 10;
    for (int i = 1; i < cols; i++) matrix[i * cols] = matrix[i] = -i * PENALTY;
    cudaMalloc((void**)&reference_cuda, bytes);
    cudaMalloc((void**)&matrix_cuda, bytes);
    cudaMemcpy(reference_cuda, reference, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(matrix_cuda, matrix, bytes, cudaMemcpyHostToDevice);
    for (int i = 1; i < 2 * block_width; i++) {
        dim3 dimGrid;
        dimGrid.x = i <= block_width ? i : 2 * block_width - i;
        dimGrid.y = 1;
        diagonal<<<dimGrid, WIDTH, (WIDTH + 1) * (WIDTH + 1) * sizeof(int)>>>(reference_cuda, matrix_cuda, cols, i,
                                                                              block_width);
    }
    cudaMemcpy(out, matrix_cuda, bytes, cudaMemcpyDeviceToHost);
    for (int y = 1; y < cols; y++)
        for (int x = 1; x < cols; x++)
            matrix[y * cols + x] = maximum(matrix[(y - 1) * cols + x - 1] + reference[y * cols + x],
                                           matrix[y * cols + x - 1] - PENALTY, matrix[(y - 1) * cols + x] - PENALTY);
    int wrong = memcmp(out, matrix, bytes) != 0;
    cudaFree(reference_cuda);
    cudaFree(matrix_cuda);
    return wrong;
}

int main(int argc, char** argv) {
    int devices = 0;
    struct cudaDeviceProp properties;
    size_t available, all;
    cudaGetDeviceCount(&devices);
    cudaSetDevice(0);
    cudaGetDeviceProperties(&properties, 0);
    cudaMemGetInfo(&available, &all);
    if (devices < 1 || properties.warpSize != 32 || available > all) return 1;
    int wrong = forward(atoi(argv[1])) + align(atoi(argv[1]));
    printf("%s\n", wrong ? "wrong" : "right");
    return wrong;
}
