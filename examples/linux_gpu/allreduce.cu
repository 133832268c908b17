/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of vectors that lie in the GPUs of several nodes, whose number is a power of two; afterwards each GPU has it.
 * In each round a node swaps all it has with another one, by pinned memory and RDMA, and adds.
 *   fabricvp cc allreduce.cu -o allreduce --target linux -l ibverbs
 *   fabricvp run linux_cluster --program allreduce -- 65536 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "verbs_link.h"

#define CHECK(call)                                                        \
    do {                                                                   \
        cudaError_t error = (call);                                        \
        if (error != cudaSuccess) {                                        \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

__global__ void add(int n, float* sum, const float* other) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] += other[i];
}

/* Numbers whose sums are exact in any order. */
static float element(int node, int i) { return float((i * 7 + node * 13) % 1000) / 8; }

int main(int argc, char** argv) {
    const int n = argc == 2 ? atoi(argv[1]) : 0;
    if (n < 1) {
        fprintf(stderr, "usage: allreduce ELEMENTS\n");
        return 2;
    }
    const int node = atoi(getenv("FABRICVP_NODE")), nodes = atoi(getenv("FABRICVP_NODES"));
    if (nodes & (nodes - 1)) {
        fprintf(stderr, "allreduce: %d nodes: must be a power of two\n", nodes);
        return 2;
    }
    const size_t bytes = n * sizeof(float);
    std::vector<float> own(n);
    for (int i = 0; i < n; ++i) own[i] = element(node, i);
    float *sum, *other;
    CHECK(cudaMalloc(&sum, bytes));
    CHECK(cudaMalloc(&other, bytes));
    CHECK(cudaMemcpy(sum, own.data(), bytes, cudaMemcpyHostToDevice));

    for (int distance = 1; distance < nodes; distance *= 2) {
        char* pinned; /* what is sent, and what arrives */
        CHECK(cudaMallocHost(&pinned, 2 * bytes));
        VerbsLink link(node, node ^ distance, pinned, 2 * bytes);
        const auto start = std::chrono::steady_clock::now();
        CHECK(cudaMemcpy(pinned, sum, bytes, cudaMemcpyDeviceToHost));
        link.write(0, bytes, bytes);
        link.wait_sent();
        link.wait_arrived();
        CHECK(cudaMemcpy(other, pinned + bytes, bytes, cudaMemcpyHostToDevice));
        add<<<(n + 255) / 256, 256>>>(n, sum, other);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
        printf("with node %d: %.1f us, %.2f GB/s\n", node ^ distance, took.count(), bytes / took.count() / 1000);
    }

    CHECK(cudaMemcpy(own.data(), sum, bytes, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        float right = 0;
        for (int k = 0; k < nodes; ++k) right += element(k, i);
        wrong += own[i] != right;
    }
    printf("%d elements, %d wrong\n", n, wrong);
    return wrong != 0;
}
