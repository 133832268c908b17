/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of vectors that lie in the GPUs of all ranks, by MPI_Sendrecv between two and an addition by a kernel; their
 * number is a power of two. MPI gets pointers to the GPU's memory where the adapter reaches it and messages are large
 * enough for RDMA, else, or with the argument "pinned", pinned memory.
 *   fabricvp cc mpi_allreduce.hip -o mpi_allreduce --target linux -l mpi -l ibverbs
 *   fabricvp run linux_cluster --peer-memory --program mpi_allreduce -- 65536 */
#include <hip/hip_runtime.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "verbs_link.h"

#define CHECK(call)                                                       \
    do {                                                                  \
        hipError_t error = (call);                                        \
        if (error != hipSuccess) {                                        \
            fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error)); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                 \
        }                                                                 \
    } while (0)

__global__ void add(int n, float* sum, const float* other) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] += other[i];
}

/* UCX copies small messages by the host, which must not read memory of the GPU at any address. */
enum { RDMA_BYTES = 256 << 10 };

/* Numbers whose sums are exact in any order. */
static float element(int rank, int i) { return float((i * 7 + rank * 13) % 1000) / 8; }

/* The sum over all ranks, in each of them. `pinned` has as many bytes as both, or is null. */
static void allreduce(int n, float* sum, float* other, float* pinned, int rank, int ranks) {
    const size_t bytes = n * sizeof(float);
    for (int distance = 1; distance < ranks; distance *= 2) {
        float *const out = pinned ? pinned : sum, *const in = pinned ? pinned + n : other;
        if (pinned) CHECK(hipMemcpy(out, sum, bytes, hipMemcpyDeviceToHost));
        MPI_Sendrecv(out, n, MPI_FLOAT, rank ^ distance, 0, in, n, MPI_FLOAT, rank ^ distance, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (pinned) CHECK(hipMemcpy(other, in, bytes, hipMemcpyHostToDevice));
        add<<<(n + 255) / 256, 256>>>(n, sum, other);
        CHECK(hipGetLastError());
        CHECK(hipDeviceSynchronize());
    }
}

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool by_pinned = argc == 3 && !strcmp(argv[2], "pinned");
    const int n = argc == 2 || by_pinned ? atoi(argv[1]) : 0;
    if (n < 1 || ranks & (ranks - 1)) {
        if (rank == 0) fprintf(stderr, "usage: mpi_allreduce ELEMENTS [pinned], with a power of two of ranks\n");
        MPI_Finalize();
        return 2;
    }
    const size_t bytes = n * sizeof(float);
    std::vector<float> own(n);
    float *sum, *pinned; /* each with space for what arrives */
    CHECK(hipMalloc(&sum, 2 * bytes));
    CHECK(hipHostMalloc(&pinned, 2 * bytes, 0));
    const bool direct = !by_pinned && bytes >= RDMA_BYTES && VerbsLink::reaches(sum, 2 * bytes);
    double took = 0;
    for (int time = 0; time < 2; ++time) { /* the second time, connections and registrations are there */
        for (int i = 0; i < n; ++i) own[i] = element(rank, i);
        CHECK(hipMemcpy(sum, own.data(), bytes, hipMemcpyHostToDevice));
        MPI_Barrier(MPI_COMM_WORLD);
        took = MPI_Wtime();
        allreduce(n, sum, sum + n, direct ? nullptr : pinned, rank, ranks);
        took = (MPI_Wtime() - took) * 1e6;
    }
    CHECK(hipMemcpy(own.data(), sum, bytes, hipMemcpyDeviceToHost));
    int wrong = 0, all_wrong = 0;
    for (int i = 0; i < n; ++i) {
        float right = 0;
        for (int k = 0; k < ranks; ++k) right += element(k, i);
        wrong += own[i] != right;
    }
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d elements on %d ranks %s: %d wrong, %.1f us, %.2f GB/s\n", n, ranks,
               direct ? "directly" : "by pinned memory", all_wrong, took, bytes / took / 1000);
    MPI_Finalize();
    return all_wrong != 0;
}
