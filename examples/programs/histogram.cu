/* SPDX-License-Identifier: Apache-2.0 */
/* How often each byte occurs among SIZE of them. */
#include "../kernels/histogram.cu"

#include "program.h"

int main(int argc, char** argv) {
    const unsigned n = size_of_problem(argc, argv, 1 << 18);
    std::vector<unsigned char> x(n);
    std::vector<unsigned> expected(256);
    for (unsigned char& value : x) ++expected[value = (unsigned char)(next_random() >> 5)];
    device_array<unsigned char> device_x(x);
    device_array<unsigned> bins(zeros<unsigned>(256));
    histogram<<<64, 256>>>(device_x, bins, n);
    CHECK(cudaGetLastError());
    const std::vector<unsigned> found = bins.to_host();
    unsigned wrong = 0;
    for (unsigned i = 0; i < 256; ++i) wrong += found[i] != expected[i];
    return finish("histogram", found, wrong);
}
