// SPDX-License-Identifier: Apache-2.0
// Accelerations of n bodies (x, y, z, mass), which a work-group reads tile by tile.
#include "gpu.h"

struct body {
    float x, y, z, mass;
};

struct arguments {
    const struct body* bodies;
    struct body* result;
    uint32_t n;
    float softening;
};

LDS struct body tile[64];

KERNEL(accelerations, struct arguments) {
    const struct body* bodies = args->bodies;
    const struct body own = bodies[global_id(0)];
    const float softening = args->softening;
    const uint32_t size = (uint32_t)group_size(0);
    float x = 0, y = 0, z = 0;
    for (uint32_t first = 0; first < args->n; first += size) {
        tile[local_id(0)] = bodies[first + local_id(0)];
        barrier();
        for (uint32_t i = 0; i < size; ++i) {
            const struct body other = tile[i];
            const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            const float inverse = 1 / __builtin_sqrtf(dx * dx + dy * dy + dz * dz + softening);
            const float weight = other.mass * inverse * inverse * inverse;
            x += weight * dx, y += weight * dy, z += weight * dz;
        }
        barrier();
    }
    args->result[global_id(0)] = (struct body){x, y, z, 0};
}
