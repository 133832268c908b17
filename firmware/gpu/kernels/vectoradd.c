/* SPDX-License-Identifier: Apache-2.0 */
#include "vectoradd.h"
#include "gpu.h"

KERNEL(vectoradd, struct vectoradd_arguments) {
    const size_t i = global_id(0);
    if (i < args->n) args->c[i] = args->a[i] + args->b[i];
}
