/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder have in common: numbers to work on, memory of the GPU, and the last line. */
#ifndef FABRICVP_EXAMPLES_PROGRAM_H
#define FABRICVP_EXAMPLES_PROGRAM_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                   \
    do {                                                                                              \
        const cudaError_t error = (call);                                                             \
        if (error != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
            exit(1);                                                                                  \
        }                                                                                             \
    } while (0)

/* The first argument, `otherwise` where there is none. */
inline unsigned size_of_problem(int argc, char** argv, unsigned otherwise) {
    const long size = argc > 1 ? atol(argv[1]) : (long)otherwise;
    if (argc <= 2 && size > 0 && size <= 1 << 24) return (unsigned)size;
    fprintf(stderr, "usage: %s [SIZE]\n", argv[0]);
    exit(2);
}

/* The same numbers on every machine. */
inline unsigned next_random() {
    static unsigned long long state = 1;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33);
}
inline float next_float() { return (float)(next_random() & 0xffffff) / (float)(1 << 24); }

template <class T>
std::vector<T> zeros(size_t count) {
    return std::vector<T>(count);
}

/* An array of the GPU. */
template <class T>
class device_array {
public:
    explicit device_array(size_t count) : m_count(count) { CHECK(cudaMalloc((void**)&m_at, count * sizeof(T))); }
    explicit device_array(const std::vector<T>& from) : device_array(from.size()) {
        CHECK(cudaMemcpy(m_at, from.data(), m_count * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~device_array() { cudaFree(m_at); }
    device_array(const device_array&) = delete;
    device_array& operator=(const device_array&) = delete;

    operator T*() const { return m_at; }
    std::vector<T> to_host() const {
        std::vector<T> all(m_count);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(all.data(), m_at, m_count * sizeof(T), cudaMemcpyDeviceToHost));
        return all;
    }

private:
    T* m_at = nullptr;
    size_t m_count;
};

/* Prints how many elements are wrong, and a checksum of all bits, by which runs can be compared. Gives the exit status.
 */
template <class T>
int finish(const char* name, const std::vector<T>& found, unsigned wrong) {
    unsigned long long sum = 14695981039346656037ull;
    const unsigned char* bytes = (const unsigned char*)found.data();
    for (size_t i = 0; i < found.size() * sizeof(T); ++i) sum = (sum ^ bytes[i]) * 1099511628211ull;
    printf("%s: %u wrong, checksum %016llx\n", name, wrong, sum);
    return wrong != 0;
}

inline bool is_near(float found, double expected, double tolerance) {
    return std::fabs((double)found - expected) <= tolerance * (1 + std::fabs(expected));
}

#endif
