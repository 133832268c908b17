/* SPDX-License-Identifier: Apache-2.0 */
/* Temperatures of a chip, step by step between two matrices: heat SIZE PYRAMID STEPS POWER_FILE OUTPUT_FILE. The kernel
 * is in a source of its own, which this one includes. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "heat_kernel.cu"

#define STR_SIZE 256

void fatal(const char* s) {
    fprintf(stderr, "error: %s\n", s);
    exit(1);
}

void readinput(float* vect, int grid_rows, int grid_cols, char* file) {
    FILE* fp;
    char str[STR_SIZE];
    float val;
    if ((fp = fopen(file, "r")) == 0) fatal("The file was not opened");
    for (int i = 0; i < grid_rows * grid_cols; i++) {
        if (fgets(str, STR_SIZE, fp) == NULL) fatal("not enough lines in file");
        if (sscanf(str, "%f", &val) != 1) fatal("invalid file format");
        vect[i] = val;
    }
    fclose(fp);
}

int compute_tran_temp(float* MatrixPower, float* MatrixTemp[2], int col, int row, int total_iterations,
                      int num_iterations, int blockCols, int blockRows, int borderCols, int borderRows) {
    dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
    dim3 dimGrid(blockCols, blockRows);
    int src = 1, dst = 0;
    for (int t = 0; t < total_iterations; t += num_iterations) {
        int temp = src;
        src = dst;
        dst = temp;
        calculate_temp<<<dimGrid, dimBlock>>>(MIN(num_iterations, total_iterations - t), MatrixPower, MatrixTemp[src],
                                              MatrixTemp[dst], col, row, borderCols, borderRows);
    }
    return dst;
}

int main(int argc, char** argv) {
    if (argc != 6) fatal("five arguments");
    int size = atoi(argv[1]), pyramid_height = atoi(argv[2]), total_iterations = atoi(argv[3]);
    int borderCols = pyramid_height * EXPAND_RATE / 2, borderRows = borderCols;
    int smallBlock = BLOCK_SIZE - pyramid_height * EXPAND_RATE;
    int blocks = size / smallBlock + ((size % smallBlock == 0) ? 0 : 1);
    size_t bytes = sizeof(float) * size * size;
    float *power = (float*)malloc(bytes), *temp = (float*)malloc(bytes), *out = (float*)malloc(bytes);
    float factors[3] = {0.125f, 0.0625f, 0.5f};
    readinput(power, size, size, argv[4]);
    for (int i = 0; i < size * size; i++) temp[i] = 300.0f + i % 17;

    struct timeval start, end;
    gettimeofday(&start, NULL);
    cudaEvent_t begin, stop;
    float milliseconds = 0;
    cudaEventCreate(&begin);
    cudaEventCreate(&stop);
    float *MatrixTemp[2], *MatrixPower;
    cudaMalloc((void**)&MatrixTemp[0], bytes);
    cudaMalloc((void**)&MatrixTemp[1], bytes);
    cudaMemcpy(MatrixTemp[0], temp, bytes, cudaMemcpyHostToDevice);
    cudaMalloc((void**)&MatrixPower, bytes);
    cudaMemcpy(MatrixPower, power, bytes, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(c_factors, factors, sizeof factors);
    cudaEventRecord(begin, 0);
    int ret = compute_tran_temp(MatrixPower, MatrixTemp, size, size, total_iterations, pyramid_height, blocks, blocks,
                                borderCols, borderRows);
    cudaEventRecord(stop, 0);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&milliseconds, begin, stop);
    if (cudaGetLastError() != cudaSuccess) fatal("a launch");
    cudaMemcpy(out, MatrixTemp[ret], bytes, cudaMemcpyDeviceToHost);
    gettimeofday(&end, NULL);
    assert(milliseconds > 0 && (end.tv_sec - start.tv_sec) * 1000000 + end.tv_usec - start.tv_usec > 0);

    FILE* fp = fopen(argv[5], "w");
    for (int i = 0; i < size * size; i++) fprintf(fp, "%d\t%g\n", i, out[i]);
    fclose(fp);

    float* next = (float*)malloc(bytes);
    for (int t = 0; t < total_iterations; t++) {
        for (int y = 0; y < size; y++)
            for (int x = 0; x < size; x++) {
                float c = temp[y * size + x], n = temp[(y ? y - 1 : y) * size + x];
                float s = temp[(y < size - 1 ? y + 1 : y) * size + x], w = temp[y * size + (x ? x - 1 : x)];
                float e = temp[y * size + (x < size - 1 ? x + 1 : x)];
                next[y * size + x] = c + (factors[0] * (s + n - 2.0f * c) + factors[1] * (e + w - 2.0f * c) +
                                          factors[2] * power[y * size + x]);
            }
        float* swap = temp;
        temp = next;
        next = swap;
    }
    double worst = 0;
    for (int i = 0; i < size * size; i++) worst = fmax(worst, fabs(out[i] - temp[i]) / fabs(temp[i]));
    printf("%s\n", worst < 1e-6 ? "right" : "wrong");
    cudaFree(MatrixPower);
    cudaFree(MatrixTemp[0]);
    cudaFree(MatrixTemp[1]);
    return worst >= 1e-6;
}
