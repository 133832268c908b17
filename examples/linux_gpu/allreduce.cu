/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of vectors that lie in the GPUs of several nodes, whose number is a power of two; afterwards each GPU has it.
 * In each round a node swaps all it has with another one by RDMA, and adds: from GPU to GPU where the adapter reaches its
 * memory, else, or with the argument "pinned", by pinned memory.
 *   fabricvp cc allreduce.cu -o allreduce --target linux -l ibverbs
 *   fabricvp run linux_cluster --peer-memory --program allreduce -- 65536 */
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
    const int n = argc == 2 || (argc == 3 && !strcmp(argv[2], "pinned")) ? atoi(argv[1]) : 0;
    if (n < 1) {
        fprintf(stderr, "usage: allreduce ELEMENTS [pinned]\n");
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
    float* sum; /* and what arrives */
    CHECK(cudaMalloc(&sum, 2 * bytes));
    float* const other = sum + n;
    const bool direct = argc == 2 && VerbsLink::reaches(sum, 2 * bytes);
    CHECK(cudaMemcpy(sum, own.data(), bytes, cudaMemcpyHostToDevice));

    for (int distance = 1; distance < nodes; distance *= 2) {
        char* pinned; /* what is sent, and what arrives */
        CHECK(cudaMallocHost(&pinned, 2 * bytes));
        VerbsLink link(node, node ^ distance, direct ? static_cast<void*>(sum) : pinned, 2 * bytes);
        const auto start = std::chrono::steady_clock::now();
        if (!direct) CHECK(cudaMemcpy(pinned, sum, bytes, cudaMemcpyDeviceToHost));
        link.write(0, bytes, bytes);
        link.wait_sent();
        link.wait_arrived();
        if (!direct) CHECK(cudaMemcpy(other, pinned + bytes, bytes, cudaMemcpyHostToDevice));
        add<<<(n + 255) / 256, 256>>>(n, sum, other);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
        printf("with node %d %s: %.1f us, %.2f GB/s\n", node ^ distance, direct ? "directly" : "by pinned memory",
               took.count(), bytes / took.count() / 1000);
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
