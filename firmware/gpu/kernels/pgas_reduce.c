/* SPDX-License-Identifier: Apache-2.0 */
#include "pgas_reduce.h"
#include "gpu.h"

LDS struct pgas_context context;

KERNEL(pgas_reduce, struct pgas_reduce_arguments) { pgas_reduce_run(args, &context); }
