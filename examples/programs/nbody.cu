/* SPDX-License-Identifier: Apache-2.0 */
/* Accelerations of SIZE bodies, a multiple of 64. */
#include "../kernels/nbody.cu"

#include "program.h"

int main(int argc, char** argv) {
    const unsigned n = (size_of_problem(argc, argv, 512) + 63) / 64 * 64;
    const float softening = 0.01f;
    std::vector<float4> bodies(n);
    for (float4& b : bodies) b.x = next_float(), b.y = next_float(), b.z = next_float(), b.w = next_float();
    device_array<float4> device_bodies(bodies), result(n);
    accelerations<<<n / 64, 64, 64 * sizeof(float4)>>>(device_bodies, result, n, softening);
    CHECK(cudaGetLastError());
    const std::vector<float4> found = result.to_host();
    unsigned wrong = 0;
    for (unsigned i = 0; i < n; i += 7) { /* some of them */
        double sum[3] = {0, 0, 0};
        for (const float4& other : bodies) {
            const double x = (double)other.x - bodies[i].x, y = (double)other.y - bodies[i].y;
            const double z = (double)other.z - bodies[i].z, square = x * x + y * y + z * z + softening;
            const double weight = other.w / (square * std::sqrt(square));
            sum[0] += weight * x, sum[1] += weight * y, sum[2] += weight * z;
        }
        wrong += !is_near(found[i].x, sum[0], 1e-3) || !is_near(found[i].y, sum[1], 1e-3) ||
                 !is_near(found[i].z, sum[2], 1e-3);
    }
    return finish("nbody", found, wrong);
}
