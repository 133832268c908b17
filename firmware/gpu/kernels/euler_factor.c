/* SPDX-License-Identifier: Apache-2.0 */
#include "gas.h"

KERNEL(euler_factor, struct euler_arguments) {
    const size_t cell = global_id(0);
    if (cell >= args->cells) return;
    const struct gas gas = gas_of(load_values(args->value, cell, args->cells));
    args->factor[cell] = 0.5f / (euler_square_root(args->area[cell]) * (gas.speed + gas.sound));
}
