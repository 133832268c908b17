/* SPDX-License-Identifier: Apache-2.0 */
/* Jacobi's method on the GPUs of several nodes, each with a block of rows of one grid. After each step, edges go to the
 * neighbours by RDMA: from GPU to GPU where the adapter reaches its memory, else, or with the argument "pinned", from the
 * GPU to pinned memory, into that of the neighbour, and from there to its GPU.
 *   fabricvp cc jacobi.hip -o jacobi --target linux -l ibverbs
 *   fabricvp run linux_cluster --peer-memory --program jacobi -- 64 256 20 */
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "verbs_link.h"

#define CHECK(call)                                                       \
    do {                                                                  \
        hipError_t error = (call);                                        \
        if (error != hipSuccess) {                                        \
            fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error)); \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

/* Row 0 and the last one belong to neighbours, or are the grid's border, as the first and the last column are. */
__global__ void step(int rows, int columns, const float* in, float* out) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y + 1;
    if (column >= columns) return;
    int i = row * columns + column;
    bool border = column == 0 || column == columns - 1;
    out[i] = border ? in[i] : 0.25f * ((in[i - columns] + in[i + columns]) + (in[i - 1] + in[i + 1]));
}

static float initial(int row, int column) { return float((row * 37 + column * 11) % 101); }

/* The rows of a node with those around them, on the host: what the GPUs must find. */
static std::vector<float> expected(int rows, int columns, int steps, int nodes, int node) {
    const int all = rows * nodes + 2;
    std::vector<float> a(size_t(all) * columns), b;
    for (int r = 0; r < all; ++r)
        for (int c = 0; c < columns; ++c) a[r * columns + c] = initial(r, c);
    b = a;
    for (int s = 0; s < steps; ++s, a.swap(b))
        for (int i = columns; i < (all - 1) * columns; ++i)
            if (i % columns && i % columns != columns - 1)
                b[i] = 0.25f * ((a[i - columns] + a[i + columns]) + (a[i - 1] + a[i + 1]));
    const auto first = a.begin() + rows * node * columns;
    return {first, first + (rows + 2) * columns};
}

/* Microseconds that pass, by what passes them. */
class Times {
public:
    double kernels = 0, copies = 0, network = 0;
    void add(double& sum) {
        const auto now = std::chrono::steady_clock::now();
        sum += std::chrono::duration<double, std::micro>(now - m_last).count();
        m_last = now;
    }

private:
    std::chrono::steady_clock::time_point m_last = std::chrono::steady_clock::now();
};

/* To a neighbour: which row goes there and which comes from it, and pinned memory with two slots for each, so that one
 * step's does not overwrite what the neighbour still needs of the step before. */
struct Edge {
    int own_row, halo_row;
    char* pinned;
    std::unique_ptr<VerbsLink> link;
};

int main(int argc, char** argv) {
    const bool pinned = argc == 5 && !strcmp(argv[4], "pinned"), complete = argc == 4 || pinned;
    const int rows = complete ? atoi(argv[1]) : 0, columns = complete ? atoi(argv[2]) : 0;
    const int steps = complete ? atoi(argv[3]) : 0;
    if (rows < 1 || columns < 1 || steps < 1) {
        fprintf(stderr, "usage: jacobi ROWS COLUMNS STEPS [pinned]\n");
        return 2;
    }
    const int node = atoi(getenv("FABRICVP_NODE")), nodes = atoi(getenv("FABRICVP_NODES"));
    const size_t row_bytes = columns * sizeof(float), bytes = row_bytes * (rows + 2);
    std::vector<float> grid((rows + 2) * columns);
    for (int r = 0; r < rows + 2; ++r)
        for (int c = 0; c < columns; ++c) grid[r * columns + c] = initial(rows * node + r, c);
    float* in; /* and `out`, in turn */
    CHECK(hipMalloc(&in, 2 * bytes));
    float *const both = in, *out = in + grid.size();
    const bool direct = !pinned && VerbsLink::reaches(both, 2 * bytes);
    CHECK(hipMemcpy(in, grid.data(), bytes, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(out, grid.data(), bytes, hipMemcpyHostToDevice));

    std::vector<Edge> edges;
    if (node > 0) edges.push_back({1, 0, nullptr, nullptr});
    if (node < nodes - 1) edges.push_back({rows, rows + 1, nullptr, nullptr});
    for (Edge& edge : edges) {
        const int neighbour = edge.halo_row ? node + 1 : node - 1;
        CHECK(hipHostMalloc(&edge.pinned, 4 * row_bytes, 0));
        edge.link = direct ? std::make_unique<VerbsLink>(node, neighbour, both, 2 * bytes)
                           : std::make_unique<VerbsLink>(node, neighbour, edge.pinned, 4 * row_bytes);
    }

    Times times;
    for (int s = 0; s < steps; ++s) {
        const size_t sent = s % 2 * row_bytes, arrived = sent + 2 * row_bytes;
        step<<<dim3((columns + 63) / 64, rows), 64>>>(rows, columns, in, out);
        CHECK(hipGetLastError());
        CHECK(hipDeviceSynchronize());
        times.add(times.kernels);
        for (Edge& edge : edges)
            if (!direct)
                CHECK(hipMemcpy(edge.pinned + sent, out + edge.own_row * columns, row_bytes, hipMemcpyDeviceToHost));
        times.add(times.copies);
        const size_t grid_at = (out - both) * sizeof(float);
        for (Edge& edge : edges)
            if (direct)
                edge.link->write(grid_at + edge.own_row * row_bytes, grid_at + (edge.halo_row ? 0 : rows + 1) * row_bytes,
                                 row_bytes);
            else
                edge.link->write(sent, arrived, row_bytes);
        for (Edge& edge : edges) edge.link->wait_sent(), edge.link->wait_arrived();
        times.add(times.network);
        for (Edge& edge : edges)
            if (!direct)
                CHECK(hipMemcpy(out + edge.halo_row * columns, edge.pinned + arrived, row_bytes, hipMemcpyHostToDevice));
        times.add(times.copies);
        std::swap(in, out);
    }
    CHECK(hipMemcpy(grid.data(), in, bytes, hipMemcpyDeviceToHost));

    const std::vector<float> right = expected(rows, columns, steps, nodes, node);
    int wrong = 0;
    for (size_t i = 0; i < grid.size(); ++i) wrong += grid[i] != right[i];
    printf("%d x %d of %d rows, %d steps, %d wrong; a step%s: kernel %.1f us, copies %.1f us, network %.1f us\n", rows, columns,
           rows * nodes, steps, wrong, direct ? " without copies" : "", times.kernels / steps, times.copies / steps, times.network / steps);
    edges.clear();
    return wrong != 0;
}
