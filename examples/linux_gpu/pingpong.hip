/* SPDX-License-Identifier: Apache-2.0 */
/* Data of the GPU of node 0 go to that of node 1 and back: by pinned memory on both sides, and from GPU to GPU where the
 * adapter reaches its memory. Prints half of the time that there and back takes.
 *   fabricvp cc pingpong.hip -o pingpong --target linux -l ibverbs
 *   fabricvp run linux_cluster --peer-memory --program pingpong -- 1048576 10 */
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
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

/* Memory of a GPU, and what the adapter has of it: itself, or pinned memory, in which case both are copied. */
class Buffer {
public:
    Buffer(char* memory, char* pinned, int node, size_t bytes)
        : m_memory(memory), m_pinned(pinned), m_link(node, 1 - node, pinned ? pinned : memory, bytes) {}

    void send(size_t from, size_t to, size_t bytes) {
        if (m_pinned) CHECK(hipMemcpy(m_pinned + from, m_memory + from, bytes, hipMemcpyDeviceToHost));
        m_link.write(from, to, bytes);
    }

    void receive(size_t to, size_t bytes) {
        m_link.wait_arrived();
        if (m_pinned) CHECK(hipMemcpy(m_memory + to, m_pinned + to, bytes, hipMemcpyHostToDevice));
    }

    void wait_sent() { m_link.wait_sent(); }

private:
    char *m_memory, *m_pinned;
    VerbsLink m_link;
};

/* Microseconds of one direction. What node 0 has first arrives behind it. */
static double measure(Buffer& buffer, int node, size_t bytes, int times) {
    std::chrono::steady_clock::time_point start;
    for (int i = -1; i < times; ++i) { /* once for caches and translations */
        if (i == 0) start = std::chrono::steady_clock::now();
        if (node == 0) buffer.send(0, bytes, bytes);
        buffer.receive(bytes, bytes);
        if (node == 1) buffer.send(bytes, bytes, bytes);
        buffer.wait_sent();
    }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    return took.count() / times / 2;
}

int main(int argc, char** argv) {
    const int bytes = argc == 3 ? atoi(argv[1]) : 0, times = argc == 3 ? atoi(argv[2]) : 0;
    if (bytes < 1 || times < 1) {
        fprintf(stderr, "usage: pingpong BYTES TIMES\n");
        return 2;
    }
    const int node = atoi(getenv("FABRICVP_NODE"));
    std::vector<char> data(bytes), back(bytes);
    for (int i = 0; i < bytes; ++i) data[i] = char(i * 7 + i / 251);
    char *memory, *pinned;
    CHECK(hipMalloc(&memory, 2 * size_t(bytes)));
    CHECK(hipHostMalloc(&pinned, 2 * size_t(bytes), 0));
    const bool reached = VerbsLink::reaches(memory, 2 * size_t(bytes));
    bool wrong = false;
    for (const bool direct : {false, true}) {
        if (direct && !reached) break;
        CHECK(hipMemset(memory, 0, 2 * size_t(bytes)));
        if (node == 0) CHECK(hipMemcpy(memory, data.data(), bytes, hipMemcpyHostToDevice));
        Buffer buffer(memory, direct ? nullptr : pinned, node, 2 * size_t(bytes));
        const double time = measure(buffer, node, bytes, times);
        CHECK(hipMemcpy(back.data(), memory + bytes, bytes, hipMemcpyDeviceToHost));
        wrong = wrong || back != data;
        if (node == 0)
            printf("%d bytes %s: %.2f us, %.3f GB/s\n", bytes, direct ? "directly" : "by pinned memory", time,
                   bytes / time / 1000);
    }
    if (node == 0 && !reached) printf("the adapter does not reach the GPU's memory (--peer-memory)\n");
    if (wrong) printf("what came back is wrong\n");
    return wrong;
}
