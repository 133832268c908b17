/* SPDX-License-Identifier: Apache-2.0 */
#include "pgas_find.h"
#include "gpu.h"

LDS volatile uint32_t found;

KERNEL(pgas_find, struct pgas_find_arguments) { pgas_find_run(args, &found); }
