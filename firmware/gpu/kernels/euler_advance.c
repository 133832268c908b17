/* SPDX-License-Identifier: Apache-2.0 */
#include "euler.h"
#include "gpu.h"

KERNEL(euler_advance, struct euler_arguments) {
    const size_t cells = args->cells, cell = global_id(0);
    if (cell >= cells) return;
    const float step = args->factor[cell] * args->share;
    for (unsigned i = 0; i < EULER_VALUES; ++i)
        args->value[i * cells + cell] = args->old[i * cells + cell] + step * args->flux[i * cells + cell];
}
