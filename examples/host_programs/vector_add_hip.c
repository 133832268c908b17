/* SPDX-License-Identifier: Apache-2.0 */
/* Adds two vectors on the first GPU, with HIP's module API: plain host code, linked for bare metal. */
#include <hip/hip_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        const hipError_t error = (call);                                                             \
        if (error != hipSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(error)); \
            exit(EXIT_FAILURE);                                                                      \
        }                                                                                            \
    } while (0)

int main(void) {
    int n = 100000;
    const unsigned threads = 256, blocks = ((unsigned)n + threads - 1) / threads;
    const size_t bytes = (size_t)n * sizeof(float);
    float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
    for (int i = 0; i < n; ++i) {
        a[i] = sinf((float)i);
        b[i] = (float)i / 3;
    }

    hipDeviceProp_t properties;
    CHECK(hipGetDeviceProperties(&properties, 0));
    printf("%s with %d compute units\n", properties.name, properties.multiProcessorCount);

    float *device_a, *device_b, *device_c;
    CHECK(hipMalloc((void**)&device_a, bytes));
    CHECK(hipMalloc((void**)&device_b, bytes));
    CHECK(hipMalloc((void**)&device_c, bytes));

    hipModule_t module;
    hipFunction_t vector_add;
    CHECK(hipModuleLoad(&module, "vector_add.elf"));
    CHECK(hipModuleGetFunction(&vector_add, module, "vector_add"));

    hipStream_t stream;
    hipEvent_t start, stop;
    CHECK(hipStreamCreate(&stream));
    CHECK(hipEventCreate(&start));
    CHECK(hipEventCreate(&stop));

    void* arguments[] = {&device_a, &device_b, &device_c, &n};
    CHECK(hipMemcpyAsync(device_a, a, bytes, hipMemcpyHostToDevice, stream));
    CHECK(hipMemcpyAsync(device_b, b, bytes, hipMemcpyHostToDevice, stream));
    CHECK(hipEventRecord(start, stream));
    CHECK(hipModuleLaunchKernel(vector_add, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, NULL));
    CHECK(hipEventRecord(stop, stream));
    CHECK(hipMemcpyAsync(c, device_c, bytes, hipMemcpyDeviceToHost, stream));
    CHECK(hipStreamSynchronize(stream));

    float milliseconds;
    CHECK(hipEventElapsedTime(&milliseconds, start, stop));
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += c[i] != a[i] + b[i];
    printf("%d elements in %.1f us\n", n, 1000 * (double)milliseconds);
    printf("the result is %s\n", wrong ? "WRONG" : "right");

    CHECK(hipEventDestroy(start));
    CHECK(hipEventDestroy(stop));
    CHECK(hipStreamDestroy(stream));
    CHECK(hipModuleUnload(module));
    CHECK(hipFree(device_a));
    CHECK(hipFree(device_b));
    CHECK(hipFree(device_c));
    free(a);
    free(b);
    free(c);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
